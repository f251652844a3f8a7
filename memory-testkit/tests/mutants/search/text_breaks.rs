//! Text stores that keep, replace or delete the wrong things.

use std::collections::BTreeMap;

use async_trait::async_trait;
use memory_core::reference::MemText;
use memory_core::store::text::{Deletion, Rejected, Term, TextEntry, TextHits, TextQuery, TextStore as _, Visibility};
use memory_core::store::{Erased, ErasureLevel, Store as _};
use memory_core::{Epoch, ItemId, Result, Scope, Version};
use memory_testkit::generate::deletion;

use super::texts::{Break, caught};
use super::{Owners, Shared, lock, unbounded};

/// Replaces whatever is there, in the order of arrival.
#[derive(Clone, Debug)]
struct ReplacesAnyVersion;

#[async_trait]
impl Break for ReplacesAnyVersion {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut rejected = Vec::new();
        for entry in entries {
            inner.delete(scope, &deletion([entry.item.clone()])).await?;
            rejected.extend(inner.put(scope, std::slice::from_ref(entry), visibility).await?);
        }
        Ok(rejected)
    }
}

#[tokio::test]
async fn an_older_version_that_replaces_a_newer_one_is_caught() {
    let by = [
        "an_older_version_changes_nothing",
        "the_newest_version_of_one_put_wins_wherever_it_stands",
        "versions_put_at_once_leave_the_newest",
    ];
    caught(ReplacesAnyVersion, &by).await;
}

/// Puts a batch entry by entry, and stops where it is dropped.
#[derive(Clone, Debug)]
struct PutsOneByOne;

#[async_trait]
impl Break for PutsOneByOne {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut rejected = Vec::new();
        for entry in entries {
            rejected.extend(inner.put(scope, std::slice::from_ref(entry), visibility).await?);
            tokio::task::yield_now().await;
        }
        Ok(rejected)
    }
}

#[tokio::test]
async fn a_put_that_is_torn_apart_is_caught() {
    caught(PutsOneByOne, &["calls_given_up_halfway_happen_fully_or_not_at_all"]).await;
}

/// Compares revisions across epochs.
#[derive(Clone, Debug)]
struct IgnoresEpochs;

#[async_trait]
impl Break for IgnoresEpochs {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        entries.iter_mut().for_each(|entry| entry.version.epoch = Epoch(9));
        inner.put(scope, &entries, visibility).await
    }
}

#[tokio::test]
async fn a_store_that_ignores_epochs_is_caught() {
    let by = ["the_epoch_counts_before_the_revision", "a_late_put_after_an_erasure_changes_nothing"];
    caught(IgnoresEpochs, &by).await;
}

/// Shows nothing before the next flush, whatever was asked for.
#[derive(Clone, Debug, Default)]
struct ShowsAfterFlushOnly {
    waiting: Shared<Vec<(Scope, Vec<TextEntry>)>>,
}

#[async_trait]
impl Break for ShowsAfterFlushOnly {
    async fn put(&self, _: &MemText, scope: &Scope, entries: &[TextEntry], _: Visibility) -> Result<Vec<Rejected>> {
        lock(&self.waiting).push((scope.clone(), entries.to_vec()));
        Ok(Vec::new())
    }

    async fn flush(&self, inner: &MemText) -> Result<()> {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (scope, entries) in waiting {
            inner.put(&scope, &entries, Visibility::OnReturn).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_put_that_is_not_findable_on_return_is_caught() {
    caught(ShowsAfterFlushOnly::default(), &["a_put_is_findable_on_return"]).await;
}

/// Forgets what waits for a flush.
#[derive(Clone, Debug)]
struct DropsBulkPuts;

#[async_trait]
impl Break for DropsBulkPuts {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let entries = if visibility == Visibility::AfterFlush { &[] } else { entries };
        inner.put(scope, entries, visibility).await
    }
}

#[tokio::test]
async fn a_store_that_drops_bulk_puts_is_caught() {
    caught(DropsBulkPuts, &["a_bulk_put_is_findable_when_flush_returns"]).await;
}

/// Folds the case of terms, as an engine's analyser does.
#[derive(Clone, Debug)]
struct FoldsCase;

fn folded(term: &Term) -> Term {
    Term::new(&term.as_str().to_lowercase()).unwrap_or_else(|_| term.clone())
}

#[async_trait]
impl Break for FoldsCase {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        for entry in &mut entries {
            entry.own.iter_mut().for_each(|(term, _)| *term = folded(term));
        }
        inner.put(scope, &entries, visibility).await
    }

    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let terms = query.terms.iter().map(folded).collect();
        inner.search(scope, &TextQuery { terms, ..query.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_analyses_terms_again_is_caught() {
    caught(FoldsCase, &["terms_are_compared_whole_and_never_read_as_a_query"]).await;
}

/// Takes an empty list for all items.
#[derive(Clone, Debug)]
struct EmptyMeansAll;

#[async_trait]
impl Break for EmptyMeansAll {
    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        if *what == Deletion::Items(Vec::new()) {
            inner.erase(scope, Epoch(u64::MAX)).await?;
            return Ok(());
        }
        inner.delete(scope, what).await
    }
}

/// Deletes whatever is there, however new it is.
#[derive(Clone, Debug)]
struct DeletesAnyVersion;

#[async_trait]
impl Break for DeletesAnyVersion {
    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        inner.delete(scope, &unbounded(what)).await
    }
}

#[tokio::test]
async fn a_deletion_that_takes_what_is_newer_is_caught() {
    let by = [
        "a_late_deletion_of_items_takes_nothing_newer",
        "a_late_deletion_of_a_session_takes_nothing_newer",
        "a_put_of_equal_content_counts_as_newer",
    ];
    caught(DeletesAnyVersion, &by).await;
}

/// Tells the versions that were put, also of what was deleted since.
#[derive(Clone, Debug, Default)]
struct RemembersVersions {
    put: Shared<BTreeMap<(Scope, ItemId), Version>>,
}

#[async_trait]
impl Break for RemembersVersions {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        lock(&self.put).extend(entries.iter().map(|entry| ((scope.clone(), entry.item.clone()), entry.version)));
        inner.put(scope, entries, visibility).await
    }

    async fn versions(&self, _: &MemText, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        let put = lock(&self.put);
        let version = |item: &ItemId| put.get(&(scope.clone(), item.clone())).copied();
        Ok(items.iter().filter_map(|item| Some((item.clone(), version(item)?))).collect())
    }
}

#[tokio::test]
async fn versions_of_what_is_not_stored_are_caught() {
    caught(RemembersVersions::default(), &["versions_are_those_of_what_is_stored"]).await;
}

#[tokio::test]
async fn an_empty_deletion_that_deletes_all_is_caught() {
    caught(EmptyMeansAll, &["an_empty_deletion_deletes_nothing"]).await;
}

/// Erases every owner whose name begins with the owner's.
#[derive(Clone, Debug, Default)]
struct ErasesByPrefix {
    owners: Owners,
}

#[async_trait]
impl Break for ErasesByPrefix {
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
    caught(ErasesByPrefix::default(), &["erasing_one_of_fifty_leaves_the_others_as_they_are"]).await;
}

/// Deletes what is there, and forgets that the owner was erased.
#[derive(Clone, Debug, Default)]
struct AcceptsLatePuts {
    items: Shared<BTreeMap<Scope, Vec<(ItemId, Epoch)>>>,
}

#[async_trait]
impl Break for AcceptsLatePuts {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let put = entries.iter().map(|entry| (entry.item.clone(), entry.version.epoch));
        lock(&self.items).entry(scope.clone()).or_default().extend(put);
        inner.put(scope, entries, visibility).await
    }

    async fn erase(&self, inner: &MemText, scope: &Scope, below: Epoch) -> Result<Erased> {
        let held = lock(&self.items).remove(scope).unwrap_or_default();
        let (gone, stays): (Vec<_>, Vec<_>) = held.into_iter().partition(|(_, epoch)| *epoch < below);
        lock(&self.items).insert(scope.clone(), stays);
        let removed = gone.len() as u64;
        inner.delete(scope, &deletion(gone.into_iter().map(|(item, _)| item))).await?;
        Ok(Erased { removed, remaining: 0, level: ErasureLevel::Logical })
    }
}

#[tokio::test]
async fn a_late_put_that_is_accepted_is_caught() {
    let by = [
        "a_late_put_after_an_erasure_changes_nothing",
        "an_owner_without_data_can_be_erased_ahead",
        "a_lower_bound_never_replaces_a_higher_one",
    ];
    caught(AcceptsLatePuts::default(), &by).await;
}

/// Lets the records of a session fall with it.
#[derive(Clone, Debug, Default)]
struct SessionTakesRecords {
    records: Shared<Vec<(Scope, TextEntry)>>,
}

#[async_trait]
impl Break for SessionTakesRecords {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        lock(&self.records).extend(entries.iter().map(|entry| (scope.clone(), entry.clone())));
        inner.put(scope, entries, visibility).await
    }

    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        let Deletion::Session(session, _) = what else { return inner.delete(scope, what).await };
        let held = lock(&self.records).clone();
        let of_session =
            held.into_iter().filter(|(owner, entry)| owner == scope && entry.fields.session.as_ref() == Some(session));
        inner.delete(scope, &deletion(of_session.map(|(_, entry)| entry.item))).await?;
        inner.delete(scope, what).await
    }
}

#[tokio::test]
async fn a_session_that_takes_its_records_along_is_caught() {
    let by = ["deleting_a_session_takes_its_messages_and_spans_and_leaves_its_records"];
    caught(SessionTakesRecords::default(), &by).await;
}
