//! Hydration: reads the content of candidates from truth, and drops what does not match any more.

use foldhash::HashMap;

use crate::engine::damage::{self, Salvaged};
use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::engine::receipt::{Degraded, Stage};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, RecordId, Unit};
use crate::layer::cached::noting;
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{ChatStore, FoundMessages};
use crate::store::records::RecordStore;

use super::stages::{Stages, Took, longest};

/// A note, and what it was derived from.
pub(super) type Derived = (ItemId, Vec<ItemId>);

/// Candidates checked against truth. Each is read once, whoever asks for it.
#[derive(Debug, Default)]
pub(crate) struct Hydrated {
    /// The items read so far; no content for those that truth does not hold or cannot read, or the
    /// filter refuses.
    items: HashMap<ItemId, Option<Content>>,
    /// The items that truth does not hold. An item that truth holds but the filter refuses is not listed: its index is behind,
    /// and a note will update it.
    pub(crate) absent: Vec<ItemId>,
    /// The kinds of items that could not be read. They are not asked for again.
    pub(crate) unread: Vec<Unit>,
    /// Notes with what they were derived from, which truth has not been asked for yet.
    pub(super) unproven: Vec<Derived>,
    pub(crate) degraded: Vec<Degraded>,
    /// How long truth and the reranker took.
    pub(super) took: Took,
}

impl Hydrated {
    /// Returns the items that were read.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (&ItemId, &Content)> {
        self.items.iter().filter_map(|(item, content)| Some((item, content.as_ref()?)))
    }

    /// Returns the content of an item, once.
    pub(crate) fn remove(&mut self, item: &ItemId) -> Option<Content> {
        self.items.remove(item).flatten()
    }

    /// Returns the content of an item that was read.
    pub(crate) fn get(&self, item: &ItemId) -> Option<&Content> {
        self.items.get(item)?.as_ref()
    }

    /// Adds what was read from truth. What the filter refuses is known, and has no content.
    pub(crate) fn add(&mut self, content: Content, filter: &Filter) {
        let matches = content.fields().is_some_and(|fields| filter.matches(&fields));
        self.items.insert(content.item(), matches.then_some(content));
    }

    /// Takes out what is known of these items.
    pub(super) fn split<'a>(&mut self, items: impl Iterator<Item = &'a ItemId>) -> Self {
        let items = items.filter_map(|item| self.items.remove_entry(item)).collect();
        Self { items, unproven: std::mem::take(&mut self.unproven), ..Self::default() }
    }

    fn is_known(&self, item: &ItemId) -> bool {
        self.items.contains_key(item) || self.unread.contains(&item.unit())
    }
}

impl Inner {
    /// Reads those candidates from truth that `known` does not hold yet, and checks the filter again, because an index may be
    /// behind.
    pub(crate) async fn hydrate(
        &self,
        scope: &Scope,
        items: impl Iterator<Item = &ItemId>,
        filter: &Filter,
        known: &mut Hydrated,
    ) {
        let items: Vec<&ItemId> = items.filter(|item| !known.is_known(item)).collect();
        let sought = items.iter().copied();
        let (chat, records, stages) = (self.chat.store().as_ref(), self.records.store().as_ref(), Stages::default());
        let read = noting(read_items(chat, records, scope, sought, &stages));
        let unproven = std::mem::take(&mut known.unproven);
        let (((rows, stored), uncached), fallen) = tokio::join!(read, self.fallen(scope, &unproven));
        longest(&mut known.took, stages.took());
        let fallen = fallen.unwrap_or_else(|error| {
            known.degraded.push(Degraded::new(Stage::Working, &error));
            unproven.into_iter().map(|(note, _)| note).collect()
        });
        known.items.extend(fallen.into_iter().map(|note| (note, None)));
        known.degraded.extend(uncached.iter().map(|error| Degraded::new(Stage::Cache, error)));
        let rows = rows.unwrap_or_else(|error| {
            known.unread.push(Unit::Message);
            note::<()>(&mut known.degraded, Stage::Chat, &error);
            Salvaged::of(FoundMessages::of([]))
        });
        let stored = stored.unwrap_or_else(|error| {
            known.unread.push(Unit::Record);
            Salvaged::of(note(&mut known.degraded, Stage::Records, &error))
        });
        for (id, error) in rows.damaged {
            known.items.insert(ItemId::Message(id), None);
            note::<()>(&mut known.degraded, Stage::Chat, &error);
        }
        for (id, error) in stored.damaged {
            known.items.insert(ItemId::Record(id), None);
            note::<()>(&mut known.degraded, Stage::Records, &error);
        }
        for row in rows.read.messages {
            known.add(Content::Message(row), filter);
        }
        if !rows.read.complete {
            // What truth did not tell is not absent.
            known.unread.push(Unit::Message);
            known
                .degraded
                .push(Degraded { stage: Stage::Chat, why: "only what waits in the journal was read".to_owned() });
        }
        for stored in stored.read {
            known.add(Content::Record(stored), filter);
        }
        for item in items {
            if !known.is_known(item) {
                known.items.insert(item.clone(), None);
                known.absent.push(item.clone());
            }
        }
    }
}

/// Reads the items that truth holds.
async fn read_items(
    chat: &dyn ChatStore,
    records: &dyn RecordStore,
    scope: &Scope,
    items: impl Iterator<Item = &ItemId> + Clone,
    stages: &Stages,
) -> (Result<Salvaged<FoundMessages, MessageId>>, Result<Salvaged<Vec<StoredRecord>, RecordId>>) {
    let messages: Vec<MessageId> = items.clone().filter_map(ItemId::as_message).collect();
    let ids: Vec<RecordId> = items.filter_map(ItemId::as_record).collect();
    let read_messages = async {
        if messages.is_empty() {
            return Ok(Salvaged::of(FoundMessages::of([])));
        }
        stages.time(Stage::Chat, damage::messages(chat, scope, &messages)).await
    };
    let read_records = async {
        if ids.is_empty() {
            return Ok(Salvaged::of(Vec::new()));
        }
        stages.time(Stage::Records, damage::records(records, scope, &ids)).await
    };
    tokio::join!(read_messages, read_records)
}

pub(crate) fn note<T: Default>(degraded: &mut Vec<Degraded>, stage: Stage, error: &Error) -> T {
    degraded.push(Degraded::new(stage, error));
    T::default()
}
