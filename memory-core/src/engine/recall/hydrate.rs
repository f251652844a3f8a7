//! Hydration: reads the content of candidates from truth, and drops what does not match any more.

use std::collections::HashMap;

use crate::engine::hit::Content;
use crate::engine::inner::Inner;
use crate::engine::receipt::{Degraded, Stage};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, RecordId, Unit};
use crate::layer::cached::noting;
use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;

/// Candidates checked against truth.
#[derive(Debug, Default)]
pub(crate) struct Hydrated {
    pub(crate) found: HashMap<ItemId, Content>,
    /// The items that truth does not hold. An item that truth holds but the filter refuses is not listed: its index is behind,
    /// and a note will update it.
    pub(crate) absent: Vec<ItemId>,
    /// The kinds of items that could not be read.
    pub(crate) unread: Vec<Unit>,
    pub(crate) degraded: Vec<Degraded>,
}

impl Inner {
    /// Reads candidates from truth and checks the filter again, because an index may be behind.
    pub(crate) async fn hydrate(
        &self,
        scope: &Scope,
        items: impl Iterator<Item = &ItemId> + Clone,
        filter: &Filter,
    ) -> Hydrated {
        let ((rows, stored), uncached) =
            noting(read_items(self.chat.store().as_ref(), self.records.store().as_ref(), scope, items.clone())).await;
        let mut out = Hydrated::default();
        out.degraded.extend(uncached.iter().map(|error| Degraded::new(Stage::Cache, error)));
        out.unread.extend(rows.is_err().then_some(Unit::Message));
        out.unread.extend(stored.is_err().then_some(Unit::Record));
        let rows = rows.unwrap_or_else(|error| note(&mut out.degraded, Stage::Chat, &error));
        let stored = stored.unwrap_or_else(|error| note(&mut out.degraded, Stage::Records, &error));
        let rows = rows.into_iter().map(|row| (ItemId::Message(row.id), Content::Message(row)));
        let stored = stored.into_iter().map(|stored| (ItemId::Record(stored.record.id), Content::Record(stored)));
        out.found = rows.chain(stored).collect();
        let is_absent = |item: &&ItemId| !out.found.contains_key(*item) && !out.unread.contains(&item.unit());
        out.absent = items.filter(is_absent).cloned().collect();
        out.found.retain(|_, content| content.fields().is_some_and(|fields| filter.matches(&fields)));
        out
    }
}

/// Reads the items that truth holds.
async fn read_items(
    chat: &dyn ChatStore,
    records: &dyn RecordStore,
    scope: &Scope,
    items: impl Iterator<Item = &ItemId> + Clone,
) -> (Result<Vec<StoredMessage>>, Result<Vec<StoredRecord>>) {
    let messages: Vec<MessageId> = items.clone().filter_map(ItemId::as_message).collect();
    let ids: Vec<RecordId> = items.filter_map(ItemId::as_record).collect();
    let read_messages = async {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        chat.get(scope, &messages).await.map(|found| found.messages)
    };
    let read_records = async {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        records.get(scope, &ids).await
    };
    tokio::join!(read_messages, read_records)
}

pub(crate) fn note<T: Default>(degraded: &mut Vec<Degraded>, stage: Stage, error: &Error) -> T {
    degraded.push(Degraded::new(stage, error));
    T::default()
}
