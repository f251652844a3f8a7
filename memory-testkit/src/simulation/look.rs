//! Reads the stores directly, without faults: what truth holds, and whether receipts and the cache agree with it.

use std::fmt::Debug;

use memory_core::engine::Forget;
use memory_core::store::chat::{Page, SessionState, View};
use memory_core::store::text::TextQuery;
use memory_core::store::vectors::VectorQuery;
use memory_core::{Epoch, Filter, ItemId, Result, Scope, Seq, StoredMessage, StoredRecord, Unit};

use memory_core::model::{Embedder, Purpose};

use super::ledger::{WrittenItem, messages, records};
use super::site::Site;

/// More than anybody writes in a play.
pub(crate) const ALL: usize = 10_000;

/// The data of an owner in truth.
pub(crate) struct OwnerTruth {
    pub(crate) epoch: (Epoch, Epoch),
    pub(crate) sessions: Vec<(SessionState, Vec<StoredMessage>)>,
    pub(crate) records: Vec<StoredRecord>,
}

impl OwnerTruth {
    pub(crate) fn holds(&self, item: &ItemId) -> bool {
        let rows = || self.sessions.iter().flat_map(|(_, rows)| rows);
        match item {
            ItemId::Message(id) => rows().any(|row| row.id == *id && row.message.is_some()),
            ItemId::Record(id) => self.records.iter().any(|stored| stored.record.id == *id),
            ItemId::Span(..) => false,
        }
    }

    /// Returns every text that truth holds, with the item that it stands in.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (ItemId, String)> {
        let rows = self.sessions.iter().flat_map(|(_, rows)| rows);
        let rows = rows.filter_map(|row| Some((ItemId::Message(row.id), row.message.as_ref()?.text())));
        let records = self.records.iter().map(|stored| (ItemId::Record(stored.record.id), stored.record.text.clone()));
        rows.chain(records)
    }
}

impl Site {
    pub(crate) async fn held(&self, scope: &Scope) -> Result<OwnerTruth> {
        let (chat, all) = (&self.ground.chat, &self.ground.records);
        let epoch = (chat.upkeep().epoch(scope).await?, all.upkeep().epoch(scope).await?);
        let mut held = Vec::new();
        for session in &self.sessions {
            let slice = chat.store().read(scope, session, &Page::after(Seq(0), ALL, View::All)).await?;
            held.push((slice.state, slice.messages));
        }
        Ok(OwnerTruth { epoch, sessions: held, records: all.store().scan(scope, &Filter::All, None, ALL).await? })
    }

    /// Returns how many notes are to be done or were given up.
    pub(crate) async fn pending(&self) -> Result<u64> {
        let mut pending = 0;
        for status in self.sound.status().await.indexes {
            let backlog = status.backlog?;
            pending += backlog.pending + backlog.dead;
        }
        Ok(pending)
    }

    /// Returns why a receipt that says `complete` is not true at this moment.
    pub(crate) async fn untrue(&self, scope: &Scope, what: &Forget, place: usize) -> Result<Option<String>> {
        let taken = self.ledger.taken_by(place);
        let items: Vec<WrittenItem> = self
            .ledger
            .items()
            .into_iter()
            .enumerate()
            .filter(|(at, _)| taken.contains(at))
            .map(|(_, item)| item)
            .collect();
        let left = self.left(scope, &items, *what == Forget::Everything).await?;
        Ok((!left.is_empty()).then(|| format!("a receipt says that {what:?} is complete, but {left:?}")))
    }

    /// Returns which of the texts that were shown to an owner is another one's.
    pub(crate) fn foreign(&self, owner: usize, texts: &[String]) -> Option<String> {
        let items = self.ledger.items();
        let mut foreign = items.iter().filter(|item| item.owner != owner);
        let item = foreign.find(|item| texts.iter().any(|text| text.contains(&item.word)))?;
        Some(format!("{owner} was shown {}, which is another owner's", item.word))
    }

    /// Returns which of the items truth, the cache or an index still holds; indexes are asked where that is said.
    async fn left(&self, scope: &Scope, items: &[WrittenItem], with_indexes: bool) -> Result<Vec<String>> {
        let held = self.held(scope).await?;
        let mut left: Vec<String> =
            items.iter().filter(|item| held.holds(&item.id)).map(|item| format!("truth holds {}", item.word)).collect();
        if self.cache_hears {
            let sound = self.sound.of(scope);
            let rows = sound.messages(&messages(items)).await?;
            left.extend(rows.iter().map(|row| format!("the cache serves {}", row.id)));
            let stored = sound.get(&records(items)).await?;
            left.extend(stored.iter().map(|stored| format!("the cache serves {}", stored.record.id)));
        }
        if with_indexes {
            let indexed = self.indexed(scope, items).await?;
            left.extend(indexed.iter().map(|item| format!("an index holds {}", item.key())));
        }
        Ok(left)
    }

    /// Returns which of the items stand in an index.
    async fn indexed(&self, scope: &Scope, items: &[WrittenItem]) -> Result<Vec<ItemId>> {
        let words: Vec<&str> = items.iter().map(|item| item.word.as_str()).collect();
        let terms: Vec<_> = words.iter().flat_map(|word| self.terms(word)).collect();
        let mut found = Vec::new();
        for unit in [Unit::Message, Unit::Record] {
            let query = TextQuery { terms: terms.clone(), unit, filter: Filter::All, limit: ALL };
            found.extend(self.ground.text.search(scope, &query).await?.hits.into_iter().map(|hit| hit.item));
        }
        let query = self.everything().await?;
        found.extend(self.ground.vectors.search(scope, &query).await?.into_iter().map(|hit| hit.item));
        found.retain(|found| items.iter().any(|item| item.id == *found));
        Ok(found)
    }

    /// Returns a question that every vector answers.
    pub(crate) async fn everything(&self) -> Result<VectorQuery> {
        let vector = self.embedder.embed(&["garden"], Purpose::Query).await?.pop().unwrap_or_default();
        let space = self.embedder.space().clone();
        Ok(VectorQuery { space, vector, filter: Filter::All, limit: ALL, floor: None, with_vectors: true })
    }

    /// Returns what the cache serves and truth does not hold.
    pub(crate) async fn stale(&self) -> Result<Option<String>> {
        if !self.cache_hears {
            return Ok(None);
        }
        let items = self.ledger.items();
        for scope in &self.owners {
            let (message_ids, record_ids) = (messages(&items), records(&items));
            let sound = self.sound.of(scope);
            let held = self.ground.chat.store().get(scope, &message_ids).await?.messages;
            let served = sound.messages(&message_ids).await?;
            if let Some(what) = differing(&served, &held) {
                return Ok(Some(format!("the cache serves other messages of {scope:?} than truth holds: {what}")));
            }
            let held = self.ground.records.store().get(scope, &record_ids).await?;
            let served = sound.get(&record_ids).await?;
            if let Some(what) = differing(&served, &held) {
                return Ok(Some(format!("the cache serves other records of {scope:?} than truth holds: {what}")));
            }
        }
        Ok(None)
    }
}

/// Returns what is served and not held, and what is held and not served.
fn differing<T: PartialEq + Debug>(served: &[T], held: &[T]) -> Option<String> {
    let stale: Vec<&T> = served.iter().filter(|row| !held.contains(row)).collect();
    let missing: Vec<&T> = held.iter().filter(|row| !served.contains(row)).collect();
    (!stale.is_empty() || !missing.is_empty()).then(|| format!("{stale:?} instead of {missing:?}"))
}
