//! Stores that leak from one owner to another, caught by the random calls of many owners.

use async_trait::async_trait;
use memory_core::reference::{MemJournal, MemRecords, MemText};
use memory_core::store::journal::{Journal as _, Queued};
use memory_core::store::records::RecordStore as _;
use memory_core::store::text::{Rejected, TextEntry, TextStore as _, Visibility};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, RecordId, Result, Scope, SessionId, StoredRecord};
use memory_testkit::Setting;
use memory_testkit::isolation::{Stores, table};

use super::{Owners, Shared, boards, caches, joined, journals, texts, vectors};
use crate::{chat_stores, frame, records_stores};

async fn caught(by: &str, make: impl Fn(Setting) -> Stores + Send + Sync + 'static) {
    frame::caught(&table(), &[by], make).await;
}

/// Joins the names of an owner with a colon.
#[derive(Clone, Debug)]
struct JoinsNames;

impl chat_stores::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

impl texts::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

impl vectors::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

impl caches::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

impl boards::Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

#[tokio::test]
async fn names_joined_by_a_colon_are_caught_in_every_store() {
    let none = Stores::default;
    let chat = move |_| Stores { chat: Some(chat_stores::store(JoinsNames)), ..none() };
    caught("messages_stay_with_their_owner", chat).await;
    let text = move |_| Stores { text: Some(texts::store(JoinsNames)), ..none() };
    caught("texts_stay_with_their_owner", text).await;
    let near = move |setting: Setting| Stores { vectors: Some(vectors::store(setting.space, JoinsNames)), ..none() };
    caught("vectors_stay_with_their_owner", near).await;
    let cache = move |setting: Setting| Stores { cache: Some(caches::store(setting.clock, JoinsNames)), ..none() };
    caught("cached_values_stay_with_their_owner", cache).await;
    let board = move |setting| Stores { blackboard: Some(boards::store(setting, JoinsNames)), ..none() };
    caught("boards_stay_with_their_owner", board).await;
    let all = move |_| Stores { text: Some(texts::store(JoinsNames)), ..none() };
    caught("o2_calls_on_all_stores_stay_with_their_owner", all).await;
}

/// Gives a record to whoever knows its id.
#[derive(Clone, Debug)]
struct GivesToAnyone;

#[async_trait]
impl records_stores::Break for GivesToAnyone {
    async fn get(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let mut found = Vec::new();
        for id in ids {
            let mut rows = inner.get(scope, &[*id]).await?;
            for owner in inner.owners(None, usize::MAX).await? {
                if rows.is_empty() {
                    rows = inner.get(&owner, &[*id]).await?;
                }
            }
            found.extend(rows);
        }
        Ok(found)
    }
}

#[tokio::test]
async fn records_given_to_whoever_knows_their_id_are_caught() {
    let make = |_| Stores { records: Some(records_stores::store(GivesToAnyone)), ..Stores::default() };
    caught("records_stay_with_their_owner", make).await;
}

/// Erases every owner whose name begins with the owner's.
#[derive(Clone, Debug, Default)]
struct ErasesByPrefix {
    owners: Owners,
}

#[async_trait]
impl texts::Break for ErasesByPrefix {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        self.owners.meet(scope);
        inner.put(scope, entries, visibility).await
    }

    async fn erase(&self, inner: &MemText, scope: &Scope, below: Epoch) -> Result<Erased> {
        for owner in self.owners.like(scope) {
            inner.erase(&owner, below).await?;
        }
        inner.erase(scope, below).await
    }
}

#[tokio::test]
async fn an_erasure_by_prefix_is_caught() {
    let make = |_| Stores { text: Some(texts::store(ErasesByPrefix::default())), ..Stores::default() };
    caught("erasing_one_of_fifty_owners_everywhere_leaves_the_others_as_they_are", make).await;
}

/// Names the wrong owner of what is queued.
#[derive(Clone, Debug, Default)]
struct NamesAnother {
    last: Shared<Option<Scope>>,
}

#[async_trait]
impl journals::Break for NamesAnother {
    async fn queued(
        &self,
        inner: &MemJournal,
        scope: Option<&Scope>,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Queued>> {
        let mut found = inner.queued(scope, session, limit).await?;
        let Some(scope) = scope else {
            let last = super::lock(&self.last).clone();
            found.iter_mut().for_each(|queued| queued.scope = last.clone().unwrap_or_else(|| queued.scope.clone()));
            return Ok(found);
        };
        *super::lock(&self.last) = Some(scope.clone());
        Ok(found)
    }
}

#[tokio::test]
async fn a_queue_that_names_the_wrong_owner_is_caught() {
    let make = |_| Stores { journal: Some(journals::store(4_096, NamesAnother::default())), ..Stores::default() };
    caught("queued_messages_stay_with_their_owner", make).await;
}
