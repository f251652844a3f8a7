//! Long-term memory: storing, reinforcing and superseding records.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId, SessionId};
use crate::message::Trust;
use crate::novelty::fingerprint;
use crate::outlive;
use crate::record::{Expect, Put, Record, RecordBatch, StoredRecord, Superseded};
use crate::time::Timestamp;

use super::scoped::Scoped;

/// How often one fact may be told again after it was retired.
const RETIRED: usize = 10_000;

/// Something to be remembered. Everything but kind and text has a default.
#[derive(Clone, Debug)]
pub struct Remember {
    id: Option<RecordId>,
    ttl: Option<Duration>,
    record: Record,
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
        self.record.importance = Some(importance);
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.record.tags.push(tag.into());
        self
    }

    /// Sets the session it comes from.
    #[must_use]
    pub fn with_session(mut self, session: SessionId) -> Self {
        self.record.session = Some(session);
        self
    }

    /// Adds a message, summary or record that it was derived from; it is forgotten with it.
    #[must_use]
    pub fn with_source(mut self, source: ItemId) -> Self {
        self.record.sources.push(source);
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
        self.record.run = Some(run.into());
        self
    }

    /// Sets how far it may be believed. Default as far as the user.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.record.trust = trust;
        self
    }

    /// Sets who or what wrote it.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.record.origin = Some(origin.into());
        self
    }

    /// Sets from when until when it is true.
    #[must_use]
    pub fn valid(mut self, from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        (self.record.valid_from, self.record.valid_to) = (from, to);
        self
    }

    /// Makes it never expire and never be evicted.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.record.pinned = true;
        self
    }

    /// Sets one value of the metadata.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.record.metadata.insert(key.into(), value.into());
        self
    }
}

/// What became of something to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Remembered {
    /// It is a new record.
    Stored,
    /// It was known: the record that says the same counts as accessed, and lives on as long as either asked for.
    Reinforced,
}

/// The answer to a remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RememberReceipt {
    /// The record that holds it.
    pub id: RecordId,
    /// Whether it is new.
    pub outcome: Remembered,
    /// The record's version.
    pub version: u64,
}

impl Scoped {
    /// Stores a record, unless one says the same: then that one is reinforced.
    ///
    /// Two texts of one kind say the same if they hold the same words, whatever their case, order, punctuation,
    /// plurals and articles; another number, name or negation makes another fact, and so do names that change places. Never a loss: the receipt says which
    /// record holds it. Safe to repeat, and among any number of tasks one record results.
    ///
    /// A record that names sources is stored only while they are. If one is forgotten while this call is under way, what it
    /// stored is taken back before it returns; that is done also if the call is dropped.
    ///
    /// # Errors
    /// `Invalid` beyond the limits, or if a source is not stored or was forgotten; `IdConflict` if a given id holds other
    /// content, `Fenced` after an erasure.
    #[doc(alias = "ingest")]
    #[doc(alias = "add")]
    pub async fn remember(&self, remember: Remember) -> Result<RememberReceipt> {
        let sources = remember.record.sources.clone();
        if sources.is_empty() {
            return self.tell(remember).await;
        }
        self.check_sources(&sources).await?;
        let scoped = self.clone();
        outlive::to_end(async move {
            let told = scoped.tell(remember).await?;
            scoped.confirm(told, &sources).await
        })
        .await
    }

    async fn tell(&self, remember: Remember) -> Result<RememberReceipt> {
        let record = self.prepare(&remember)?;
        let conflict = match self.put(&record, Expect::Absent).await {
            Ok(version) => return Ok(RememberReceipt { id: record.id, outcome: Remembered::Stored, version }),
            Err(conflict @ Error::IdConflict { .. }) => conflict,
            Err(other) => return Err(other),
        };
        let Some(stored) = self.get(&[record.id]).await?.pop() else { return Err(Error::Conflict) };
        if remember.id.is_some() && (stored.record.text != record.text || stored.record.kind != record.kind) {
            return Err(conflict);
        }
        if remember.id.is_none() && self.is_retired(&stored) {
            return self.remember_again(record, &stored.version.to_le_bytes()).await;
        }
        if remember.id.is_none() && names_change_places(&stored.record.text, &record.text) {
            let order = names(&record.text).join(" ");
            return self.remember_again(record, order.as_bytes()).await;
        }
        self.reinforce(&stored, &record).await
    }

    /// Stores `remember` and retires the record `old` in one step: from now on only the new one is current.
    ///
    /// With sources as in [`Scoped::remember`]: if the new record is taken back, the old one is current again.
    ///
    /// # Errors
    /// `Invalid` if there is no such record or it is retired already, or if a source is not stored or was forgotten;
    /// `Conflict` if it changed meanwhile.
    pub async fn supersede(&self, old: RecordId, remember: Remember) -> Result<RememberReceipt> {
        let sources = remember.record.sources.clone();
        if sources.is_empty() {
            return self.replace(old, remember).await;
        }
        self.check_sources(&sources).await?;
        let scoped = self.clone();
        outlive::to_end(async move {
            let told = scoped.replace(old, remember).await?;
            let confirmed = scoped.confirm(told, &sources).await;
            if confirmed.is_err() {
                scoped.reinstate(old, told.id).await?;
            }
            confirmed
        })
        .await
    }

    async fn replace(&self, old: RecordId, remember: Remember) -> Result<RememberReceipt> {
        let mut new = self.prepare(&remember)?;
        if remember.id.is_none() {
            new.id = RecordId::of_content(&[old.0.as_bytes().as_slice(), new.id.0.as_bytes()].concat());
        }
        let stored = self.get(&[old]).await?.pop().ok_or_else(|| Error::invalid("there is no such record"))?;
        match stored.record.superseded {
            Some(superseded) if superseded.by == new.id => {
                let version = self.get(&[new.id]).await?.first().map_or(1, |stored| stored.version);
                return Ok(RememberReceipt { id: new.id, outcome: Remembered::Reinforced, version });
            }
            Some(_) => return Err(Error::invalid("the record was superseded already")),
            None => {}
        }
        let mut retired = (*stored.record).clone();
        retired.superseded = Some(Superseded { by: new.id, at: self.inner().clock.now() });
        let puts = vec![
            Put { record: Arc::new(retired), expect: Expect::Version(stored.version) },
            Put { record: Arc::new(new.clone()), expect: Expect::Absent },
        ];
        let batch = RecordBatch { epoch: Some(self.epoch().await?), puts };
        let versions = self.inner().records.store().put(self.scope(), &batch).await?;
        self.inner().changed.notify_one();
        let version = versions.get(1).copied().unwrap_or(1);
        Ok(RememberReceipt { id: new.id, outcome: Remembered::Stored, version })
    }

    /// Makes `old` current again, if `new` had its place and is gone.
    async fn reinstate(&self, old: RecordId, new: RecordId) -> Result<()> {
        let found = self.get(&[old, new]).await?;
        let [stored] = found.as_slice() else { return Ok(()) };
        if stored.record.superseded.is_none_or(|superseded| superseded.by != new) {
            return Ok(());
        }
        let record = Record { superseded: None, ..(*stored.record).clone() };
        self.put(&record, Expect::Version(stored.version)).await.map(|_| ())
    }

    fn prepare(&self, remember: &Remember) -> Result<Record> {
        let inner = self.inner();
        let mut record = remember.record.clone();
        record.created_at = inner.clock.now();
        record.id = remember.id.unwrap_or_else(|| identity(&inner.analysis, &record));
        if let Some(ttl) = remember.ttl {
            if ttl.is_zero() {
                return Err(Error::invalid("a time to live must be longer than zero"));
            }
            record.expires_at = Some(record.created_at.checked_add(ttl)?);
        }
        inner.limits.check_record(&record)?;
        Ok(record)
    }

    fn is_retired(&self, stored: &StoredRecord) -> bool {
        let now = self.inner().clock.now();
        let ended = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let record = &stored.record;
        record.superseded.is_some() || ended(record.valid_to) || (ended(record.expires_at) && !record.pinned)
    }

    /// The content's own id is taken by a record that does not say it (any more): it becomes a record of its own, the
    /// same one in every repeat.
    async fn remember_again(&self, mut record: Record, distinction: &[u8]) -> Result<RememberReceipt> {
        let mut distinction = distinction.to_vec();
        for _ in 0..RETIRED {
            record.id = RecordId::of_content(&[record.id.0.as_bytes().as_slice(), &distinction].concat());
            match self.put(&record, Expect::Absent).await {
                Ok(version) => return Ok(RememberReceipt { id: record.id, outcome: Remembered::Stored, version }),
                Err(Error::IdConflict { .. }) => {}
                Err(other) => return Err(other),
            }
            let stored = self.get(&[record.id]).await?.pop().ok_or(Error::Conflict)?;
            if !self.is_retired(&stored) {
                return self.reinforce(&stored, &record).await;
            }
            // That one was told, and retired, since: the next is found from it in the same way.
            distinction = stored.version.to_le_bytes().to_vec();
        }
        Err(Error::Conflict)
    }

    /// Adds to the stored record what the new one asks for beyond it: a longer life, an importance, tags, and metadata
    /// under new keys. Its sources stay: it falls with those that it was made from.
    async fn reinforce(&self, stored: &StoredRecord, new: &Record) -> Result<RememberReceipt> {
        let mut record = (*stored.record).clone();
        record.expires_at = record.expires_at.zip(new.expires_at).map(|(old, new)| old.max(new));
        record.importance = new.importance.or(record.importance);
        record.pinned |= new.pinned;
        let tags = new.tags.iter().filter(|tag| !stored.record.tags.contains(tag));
        record.tags.extend(tags.cloned());
        let metadata = new.metadata.iter().filter(|(key, _)| !stored.record.metadata.contains_key(*key));
        record.metadata.extend(metadata.map(|(key, value)| (key.clone(), value.clone())));
        let mut version = stored.version;
        if record != *stored.record {
            self.inner().limits.check_record(&record)?;
            version = self.put(&record, Expect::Version(version)).await?;
        }
        self.note_access(vec![record.id]);
        Ok(RememberReceipt { id: record.id, outcome: Remembered::Reinforced, version })
    }

    async fn put(&self, record: &Record, expect: Expect) -> Result<u64> {
        let inner = self.inner();
        let puts = vec![Put { record: Arc::new(record.clone()), expect }];
        let batch = RecordBatch { epoch: Some(self.epoch().await?), puts };
        let versions = inner.records.store().put(self.scope(), &batch).await?;
        inner.changed.notify_one();
        versions.first().copied().ok_or(Error::Conflict)
    }
}

/// Returns the id that belongs to what a record says, and to its agent.
fn identity(analysis: &Analysis, record: &Record) -> RecordId {
    let said = fingerprint(analysis, &record.kind, &record.text);
    match &record.agent {
        Some(agent) => RecordId::of_content(&[said.0.as_bytes().as_slice(), agent.as_bytes()].concat()),
        None => said,
    }
}

/// Returns whether the same names stand in both texts, but in another order: `Anna owes Bob`, `Bob owes Anna`.
fn names_change_places(one: &str, other: &str) -> bool {
    let (one, other) = (names(one), names(other));
    let sorted = |mut names: Vec<String>| {
        names.sort_unstable();
        names
    };
    one != other && sorted(one) == sorted(other)
}

/// Returns the words with a capital letter, in order.
fn names(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.chars().any(char::is_uppercase)).map(str::to_lowercase).collect()
}
