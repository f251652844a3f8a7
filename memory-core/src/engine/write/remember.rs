//! Long-term memory: what is to be remembered, and what became of it.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::id::{ItemId, RecordId, SessionId};
use crate::message::Trust;
use crate::record::{Record, Telling};
use crate::time::Timestamp;

/// Something to be remembered. Everything but kind and text has a default.
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
    pub(crate) record: Record,
}

impl Remember {
    /// Remembers `text` as a record of `kind`.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Self { id: None, ttl: None, record: Record::new(kind, text, Timestamp(0)) }
    }

    /// Remembers a fact.
    pub fn fact(text: impl Into<String>) -> Self {
        Self::new("fact", text)
    }

    /// Remembers a preference.
    pub fn preference(text: impl Into<String>) -> Self {
        Self::new("preference", text)
    }

    /// Sets the id. Without one it is made from the content, so that the same fact told twice is one record.
    #[must_use]
    pub fn with_id(mut self, id: RecordId) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets how long it is remembered. Default for ever.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
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

    /// Adds a message, summary or record that it was derived from; it is forgotten with it.
    #[must_use]
    pub fn with_source(mut self, source: ItemId) -> Self {
        self.record.first.sources.push(source);
        self
    }

    /// Sets the agent that it belongs to. The same words of two agents are two records.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Self {
        self.record.agent = Some(agent.into());
        self
    }

    /// Sets the run of the agent in which it is told.
    #[must_use]
    pub fn with_run(mut self, run: impl Into<String>) -> Self {
        self.record.first.run = Some(run.into());
        self
    }

    /// Sets how far it may be believed. Default as far as the user.
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

    /// Sets from when until when it is true.
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

/// What became of something to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Remembered {
    /// It is a new record.
    Stored,
    /// It was known: the record that says the same has one more telling, and counts as accessed.
    Reinforced,
}

/// The answer to a remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RememberReceipt {
    /// The record that holds it.
    pub id: RecordId,
    /// Whether it is new.
    pub outcome: Remembered,
    /// The record's version.
    pub version: u64,
    /// What was told beside the words and does not show in the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<NotTaken>,
}

/// Something that was told and does not show in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotTaken {
    /// What.
    pub what: Addition,
    /// Why.
    pub why: Why,
}

/// What a telling adds to a record's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Addition {
    /// The value of the metadata under this key.
    Metadata(String),
    /// A tag.
    Tag(String),
    /// The importance.
    Importance,
    /// That it never expire.
    Pin,
    /// The end of its life.
    Expiry,
    /// From when until when it is true.
    Validity,
    /// The run in which it was told.
    Run,
}

/// Why something that was told does not show in the record.
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
    /// Returns what of `telling` does not show in `record`, which holds it unless `is_full`.
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
        let mut what: Vec<Addition> = telling.metadata.keys().cloned().map(Addition::Metadata).collect();
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
    /// Two texts of one kind and agent say the same if they hold the same words in the same order, whatever their case,
    /// punctuation, plurals and articles; another number, name, sign or negation makes another fact. Never a loss: the
    /// receipt says which record holds it, and what of it does not show. Safe to repeat, and among any number of tasks one
    /// record results.
    ///
    /// What a record shows is the fold of its tellings: only those of the highest trust add tags, metadata, an importance
    /// and so on, and forgetting a source takes back what was told from it. A fact whose record was superseded, or is
    /// true no longer, becomes a new record; one that expired begins anew.
    ///
    /// A record that names sources is stored only while they are. If one is forgotten while this call is under way, the record
    /// is refused or falls with it; so it is also if the call is dropped and reaches the store later.
    ///
    /// # Errors
    /// `Invalid` beyond the limits, or if a source is not stored or was forgotten; `IdConflict` if a given id holds other
    /// content, `Fenced` after an erasure.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::{Remember, Remembered};
    ///
    /// let told = ada.remember(Remember::fact("Ada has a cat").with_tag("pets")).await?;
    /// let again = ada.remember(Remember::fact("ada has a cat!")).await?; // says the same
    /// assert_eq!((again.id, again.outcome), (told.id, Remembered::Reinforced));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "ingest")]
    #[doc(alias = "add")]
    pub async fn remember(&self, remember: Remember) -> Result<RememberReceipt> {
        self.tell(&remember).await
    }

    /// Stores `remember`, or adds a telling to the record that says the same, and retires the record `old`, in one step:
    /// from now on only the new one is current.
    ///
    /// With sources as in [`Scoped::remember`]: if the new record is refused, the old one stays current.
    ///
    /// # Errors
    /// `Invalid` if there is no such record or it is retired already, or if a source is not stored or was forgotten;
    /// `Conflict` if it changed meanwhile.
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    ///
    /// let told = ada.remember(Remember::fact("Ada lives in Lyon")).await?;
    /// ada.supersede(told.id, Remember::fact("Ada lives in Porto")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn supersede(&self, old: RecordId, remember: Remember) -> Result<RememberReceipt> {
        self.replace(old, &remember).await
    }
}
