//! From ids to content: truth is read, and what does not match any more is cleaned out of the indexes.

use std::collections::HashMap;

use futures_util::future::join_all;

use crate::chat::ChatStore;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::{ItemId, MessageId, RecordId, Unit};
use crate::layer::cached::noting;
use crate::message::StoredMessage;
use crate::record::{RecordStore, StoredRecord};
use crate::scope::Scope;
use crate::text::Deletion;

use super::memory::Inner;
use super::receipt::{Degraded, Stage};
use super::search::Content;

/// Candidates checked against truth.
#[derive(Debug, Default)]
pub(super) struct Hydrated {
    pub(super) found: HashMap<ItemId, Content>,
    /// Those that truth does not hold at all. What it holds and the filter refuses is none of them: the index is behind,
    /// and a note will bring it up to date.
    pub(super) absent: Vec<ItemId>,
    /// The kinds of items that could not be read.
    pub(super) unread: Vec<Unit>,
    pub(super) degraded: Vec<Degraded>,
}

impl Inner {
    /// Reads candidates from truth and checks them against the filter again: the second lock.
    pub(super) async fn hydrate(
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

    /// Deletes ids from the indexes that truth did not hold.
    pub(super) async fn clean(&self, scope: &Scope, absent: &[ItemId]) -> Vec<Degraded> {
        if absent.is_empty() {
            return Vec::new();
        }
        tracing::warn!(items = absent.len(), "indexes named items that truth does not hold");
        let errors = self.delete_absent(scope, absent).await;
        errors.into_iter().map(|(_, error)| Degraded::new(Stage::Clean, &error)).collect()
    }

    /// Deletes those of the items from every index that truth does not hold, and returns the failures.
    ///
    /// The versions that are deleted are read before truth is asked: what is stored under such an id later is newer, and
    /// stays, however late a deletion comes.
    pub(super) async fn delete_absent(&self, scope: &Scope, items: &[ItemId]) -> Vec<(&'static str, Error)> {
        let versions = self.indexes.iter().map(|index| async { (index.part(), index.versions(scope, items).await) });
        let (mut stored, mut failures) = (Vec::new(), Vec::new());
        for (part, versions) in join_all(versions).await {
            match versions {
                Ok(versions) => stored.extend(versions),
                Err(error) => failures.push((part, error)),
            }
        }
        match self.absent(scope, stored).await {
            Ok(absent) if absent.is_empty() => {}
            Ok(absent) => failures.extend(self.delete_everywhere(scope, &Deletion::Items(absent)).await),
            Err(failure) => failures.push(failure),
        }
        failures
    }

    /// Deletes from every index at once and returns the failures.
    pub(super) async fn delete_everywhere(&self, scope: &Scope, what: &Deletion) -> Vec<(&'static str, Error)> {
        let deletions = self.indexes.iter().map(|index| async { (index.part(), index.delete(scope, what).await) });
        join_all(deletions).await.into_iter().filter_map(|(part, deleted)| Some((part, deleted.err()?))).collect()
    }
}

/// Reads those of the items that truth holds.
async fn read_items(
    chat: &dyn ChatStore,
    records: &dyn RecordStore,
    scope: &Scope,
    items: impl Iterator<Item = &ItemId> + Clone,
) -> (Result<Vec<StoredMessage>>, Result<Vec<StoredRecord>>) {
    let messages: Vec<MessageId> = items.clone().filter_map(as_message).collect();
    let ids: Vec<RecordId> = items.filter_map(as_record).collect();
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

pub(super) fn note<T: Default>(degraded: &mut Vec<Degraded>, stage: Stage, error: &Error) -> T {
    degraded.push(Degraded::new(stage, error));
    T::default()
}

pub(super) fn as_message(item: &ItemId) -> Option<MessageId> {
    match item {
        ItemId::Message(id) => Some(*id),
        _ => None,
    }
}

pub(super) fn as_record(item: &ItemId) -> Option<RecordId> {
    match item {
        ItemId::Record(id) => Some(*id),
        _ => None,
    }
}
