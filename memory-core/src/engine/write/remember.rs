//! Long-term memory: the request to remember something, and its receipt.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::engine::handle::Scoped;
use crate::engine::receipt::Degraded;
use crate::error::Result;
use crate::id::{ItemId, RecordId, SessionId};
use crate::message::Trust;
use crate::novelty::{Gate, Reason};
use crate::record::{Record, Telling};
use crate::screen::{Finding, Screen};
use crate::store::Durability;
use crate::time::Timestamp;

/// A request to remember something. Everything but kind and text has a default.
///
/// ```
/// use memory_core::engine::Remember;
/// use memory_core::message::Trust;
/// use memory_core::{ItemId, MessageId};
///
/// # fn example() -> memory_core::Result<()> {
/// let said = ItemId::Message(MessageId::fresh());
/// let moved = Remember::fact("Ada lives in Porto")
///     .with_source(said) // forgotten with the message
///     .with_trust(Trust::User)
///     .valid(Some("2025-03-01".parse()?), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Remember {
    pub(crate) id: Option<RecordId>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) gate: Option<Gate>,
    pub(crate) screen: Option<Screen>,
    /// The most characters of its text.
    pub(crate) most: Option<usize>,
    pub(crate) record: Record,
}

impl Remember {
    /// Remembers `text` as a record of `kind`.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: None,
            ttl: None,
            gate: None,
            screen: None,
            most: None,
            record: Record::new(kind, text, Timestamp(0)),
        }
    }

    /// Remembers a fact.
    pub fn fact(text: impl Into<String>) -> Self {
        Self::new("fact", text)
    }

    /// Remembers a preference.
    pub fn preference(text: impl Into<String>) -> Self {
        Self::new("preference", text)
    }

    /// Sets the id. By default it is derived from the content, so that the same fact told twice is one record.
    #[must_use]
    pub fn with_id(mut self, id: RecordId) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets how long it is remembered. Default forever.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Remembers it for an hour, and refuses a text of more than 5,000 characters: Kari's short-term memory.
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    ///
    /// ada.remember(Remember::new("context", "Ada is on the train").short_term()).await?;
    /// ada.remember(Remember::new("context", "Ada is in Porto").long_term()).await?; // for a day
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn short_term(self) -> Self {
        self.for_a_while(Duration::from_secs(3_600))
    }

    /// Remembers it for a day, and refuses a text of more than 5,000 characters: Kari's long-term memory.
    #[must_use]
    pub fn long_term(self) -> Self {
        self.for_a_while(Duration::from_secs(86_400))
    }

    fn for_a_while(mut self, ttl: Duration) -> Self {
        self.most = Some(5_000);
        self.with_ttl(ttl)
    }

    /// Compares it with what is known before it becomes a new record: by meaning or, where the memory has no index of vectors, by
    /// words. By words it repeats a record at a novelty below 0.02 only, whatever the threshold: with a slip of the pen, or one other
    /// word among sixty. A text of more than 180 words is not compared, and the receipt says so.
    ///
    /// A statement that is less new than the gate's threshold, and differs in no number, name or negation, repeats a record: it
    /// becomes one more telling of that record, or is dropped, as the gate says. Its own words are not kept then, so choose the
    /// threshold for your embedder: with the built-in table, facts that differ in one word have a novelty of 0.07 or more. By
    /// default only the same words repeat a record. A request with an id, or one that supersedes a record, passes no gate.
    ///
    /// Who tells a record in other words vouches for words that somebody else chose. So a record that is trusted less, or that was
    /// told only in another session, is not repeated by other words than its own; and if what its words were told from is
    /// forgotten, so is that it was told in others.
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    /// use memory_core::novelty::Gate;
    ///
    /// let told = ada.remember(Remember::fact("Ada likes tea very much").gated(Gate::default())).await?;
    /// println!("{:?}, novelty {:?}", told.outcome, told.novelty);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn gated(mut self, gate: Gate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Lets a write gate look at its text first, for what comes from tools, pages and other models ([`Screen`]).
    #[must_use]
    pub fn screened(mut self, screen: Screen) -> Self {
        self.screen = Some(screen);
        self
    }

    /// Sets its importance, 0 to 1.
    #[must_use]
    pub fn with_importance(mut self, importance: f32) -> Self {
        self.record.first.importance = Some(importance);
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.record.first.tags.push(tag.into());
        self
    }

    /// Sets the session it comes from.
    #[must_use]
    pub fn with_session(mut self, session: SessionId) -> Self {
        self.record.first.session = Some(session);
        self
    }

    /// Adds a source: a message, summary or record that it was derived from. Forgetting the source forgets it too.
    #[must_use]
    pub fn with_source(mut self, source: ItemId) -> Self {
        self.record.first.sources.push(source);
        self
    }

    /// Sets the agent that it belongs to. The same text of two agents is two records.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.record.agent = Some(agent.into());
        self
    }

    /// Sets the run in which the agent told it.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.record.first.run = Some(run.into());
        self
    }

    /// Sets how far it may be believed. Default [`Trust::User`].
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.record.first.trust = trust;
        self
    }

    /// Sets who or what wrote it.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.record.first.origin = Some(origin.into());
        self
    }

    /// Sets the time from which, and until which, it is true.
    #[must_use]
    pub fn valid(mut self, from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        (self.record.first.valid_from, self.record.first.valid_to) = (from, to);
        self
    }

    /// Makes it never expire and never be evicted.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.record.first.pinned = true;
        self
    }

    /// Sets one value of the metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.record.first.metadata.insert(key.into(), value.into());
        self
    }
}

/// The outcome of a request to remember. In JSON the `outcome` of its receipt, with the `reason` beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "reason")]
pub enum Remembered {
    /// It is a new record.
    Stored,
    /// It was known. The record that says the same gets one more telling, and counts as accessed.
    Reinforced,
    /// It was known, and the gate drops what is: nothing was stored, for this reason.
    Skipped(Reason),
}

/// The receipt of a request to remember.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RememberReceipt {
    /// The record that holds it, or that it repeats.
    pub id: RecordId,
    /// Whether it is new.
    #[serde(flatten)]
    pub outcome: Remembered,
    /// The record's version.
    pub version: u64,
    /// How durably it is stored.
    pub durability: Durability,
    /// How new it is, 0 to 2: 1 - the similarity of the record that is most like it. Told only by a gate that had a record to
    /// compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub novelty: Option<f32>,
    /// What was told besides the text and does not show in the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<NotTaken>,
    /// What a write gate found in it ([`Remember::screened`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Why a gate could not compare it: it was let through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
}

impl RememberReceipt {
    /// Returns the receipt of what was taken whole, and not compared.
    pub(crate) fn new(id: RecordId, outcome: Remembered, version: u64, durability: Durability) -> Self {
        let (not_taken, findings, degraded) = (Vec::new(), Vec::new(), Vec::new());
        Self { id, outcome, version, durability, novelty: None, not_taken, findings, degraded }
    }
}

/// A part of a telling that does not show in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTaken {
    /// Which part.
    pub what: Addition,
    /// Why.
    pub why: Why,
}

/// What a telling adds to a record's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Addition {
    /// The telling itself: the record does not stand on what it was told in or from.
    Telling,
    /// The metadata value under this key.
    Metadata(String),
    /// A tag.
    Tag(String),
    /// The importance.
    Importance,
    /// The pin, by which it never expires.
    Pin,
    /// The time at which it expires.
    Expiry,
    /// The times from which, and until which, it is true.
    Validity,
    /// The run in which it was told.
    Run,
}

/// Why a part of a telling does not show in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Somebody more trusted told the record too.
    LowerTrust,
    /// Another telling asks for a longer life.
    Outlived,
    /// The record holds as much as a record may hold.
    Full,
}

impl NotTaken {
    /// Returns the parts of `telling` that `record` does not show. The record holds the telling unless `is_full`.
    pub(crate) fn of(telling: &Telling, record: &Record, is_full: bool) -> Vec<Self> {
        let why = match (is_full, telling.trust < record.trust()) {
            (true, _) => Why::Full,
            (false, true) => Why::LowerTrust,
            (false, false) => {
                let is_outlived = telling.expires_at.is_some() && telling.expires_at != record.expires_at();
                let expiry = is_outlived.then_some(Self { what: Addition::Expiry, why: Why::Outlived });
                return expiry.into_iter().collect();
            }
        };
        let mut what: Vec<Addition> = is_full.then_some(Addition::Telling).into_iter().collect();
        what.extend(telling.metadata.keys().cloned().map(Addition::Metadata));
        what.extend(telling.tags.iter().cloned().map(Addition::Tag));
        let validity = telling.valid_from.or(telling.valid_to);
        for (is_told, addition) in [
            (telling.importance.is_some(), Addition::Importance),
            (telling.pinned, Addition::Pin),
            (telling.expires_at.is_some(), Addition::Expiry),
            (validity.is_some(), Addition::Validity),
            (telling.run.is_some(), Addition::Run),
        ] {
            what.extend(is_told.then_some(addition));
        }
        what.into_iter().map(|what| Self { what, why }).collect()
    }
}

impl Scoped {
    /// Stores a record, or adds a telling to the record that says the same.
    ///
    /// Two texts of one kind and agent say the same if they hold the same words in the same order, ignoring case, punctuation,
    /// plurals and articles. Another number, name, sign or negation makes another fact. Nothing is lost silently: the receipt
    /// names the record that holds it, and the parts that do not show. Idempotent; any number of concurrent calls make one
    /// record.
    ///
    /// A record shows the fold of its tellings: only those of the highest trust add tags, metadata, an importance and so on.
    /// Forgetting a source takes back what was told from it. A fact whose record is superseded, or no longer true, becomes a
    /// new record, unless it is told with the same times. A fact whose record has expired begins anew.
    ///
    /// A record is stored only while all its sources are. If a source is forgotten during this call, the record is refused or
    /// forgotten too, even if the call is dropped and reaches the store later.
    ///
    /// # Errors
    /// `Invalid` beyond the limits, or if a source is not stored or was forgotten; `IdConflict` if a given id holds other
    /// content, `Fenced` after an erasure.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::{Remember, Remembered};
    /// let told = ada.remember(Remember::fact("Ada has a cat").with_tag("pets")).await?;
    /// let again = ada.remember(Remember::fact("ada has a cat!")).await?; // says the same
    /// assert_eq!((again.id, again.outcome), (told.id, Remembered::Reinforced));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "ingest")]
    #[doc(alias = "add")]
    #[tracing::instrument(name = "remember", level = "debug", skip_all)]
    pub async fn remember(&self, remember: Remember) -> Result<RememberReceipt> {
        self.tell(&self.inner().defaults.gated(remember)).await
    }

    /// Supersedes the record `old` in one transaction: stores `remember`, or adds a telling to the record that says the same, and
    /// retires `old`. From then on only the new record is current.
    ///
    /// Sources work as in [`Scoped::remember`]. If the new record is refused, or its write gate puts it in quarantine
    /// ([`Remember::screened`]), the old one stays current.
    ///
    /// # Errors
    /// `Invalid` if the record `old` does not exist or is retired already, or if a source is not stored or was forgotten;
    /// `Conflict` if `old` changed meanwhile.
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    /// let told = ada.remember(Remember::fact("Ada lives in Lyon")).await?;
    /// ada.supersede(told.id, Remember::fact("Ada lives in Porto")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn supersede(&self, old: RecordId, remember: Remember) -> Result<RememberReceipt> {
        self.replace(old, &remember).await
    }
}
