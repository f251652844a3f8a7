//! Indexes that clear the wrong things.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::text::{Rejected, TextEntry, TextStore as _, Visibility};
use memory_core::store::vectors::{VectorEntry, VectorStore as _};
use memory_core::{Epoch, ItemId, Result, Scope, Version};

use super::{Owners, Shared, lock, texts, vectors};

/// Clears nothing.
#[derive(Clone, Debug)]
struct ClearsNothing;

#[async_trait]
impl texts::Break for ClearsNothing {
    async fn clear(&self, _: &MemText, _: &Scope) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl vectors::Break for ClearsNothing {
    async fn clear(&self, _: &MemVectors, _: &Scope) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_index_that_clears_nothing_is_caught() {
    let by = [
        "clearing_takes_everything_of_one_owner_and_nothing_of_others",
        "clearing_may_be_repeated_and_needs_nothing_to_be_there",
        "what_is_cleared_may_be_put_again_in_any_version",
    ];
    texts::caught(ClearsNothing, &by).await;
    vectors::caught(ClearsNothing, &by).await;
}

/// Clears every owner whose name begins with the owner's.
#[derive(Clone, Debug, Default)]
struct ClearsByPrefix {
    owners: Owners,
}

#[async_trait]
impl texts::Break for ClearsByPrefix {
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

    async fn clear(&self, inner: &MemText, scope: &Scope) -> Result<()> {
        for owner in self.owners.like(scope) {
            inner.clear(&owner).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl vectors::Break for ClearsByPrefix {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        self.owners.meet(scope);
        inner.put(scope, entries, visibility).await
    }

    async fn clear(&self, inner: &MemVectors, scope: &Scope) -> Result<()> {
        for owner in self.owners.like(scope) {
            inner.clear(&owner).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn an_index_that_clears_others_is_caught() {
    let by = ["clearing_takes_everything_of_one_owner_and_nothing_of_others"];
    texts::caught(ClearsByPrefix::default(), &by).await;
    vectors::caught(ClearsByPrefix::default(), &by).await;
}

/// Forgets with the entries below which epoch the owner was erased.
#[derive(Clone, Debug, Default)]
struct ForgetsErasures {
    cleared: Shared<BTreeSet<Scope>>,
}

impl ForgetsErasures {
    /// Raises the epoch of what comes for an owner that was cleared, so that it passes for new.
    fn lift<'e>(&self, scope: &Scope, versions: impl Iterator<Item = &'e mut Version>) {
        if lock(&self.cleared).contains(scope) {
            versions.for_each(|version| version.epoch = Epoch(9));
        }
    }
}

#[async_trait]
impl texts::Break for ForgetsErasures {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        self.lift(scope, entries.iter_mut().map(|entry| &mut entry.version));
        inner.put(scope, &entries, visibility).await
    }

    async fn clear(&self, inner: &MemText, scope: &Scope) -> Result<()> {
        lock(&self.cleared).insert(scope.clone());
        inner.clear(scope).await
    }
}

#[async_trait]
impl vectors::Break for ForgetsErasures {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        self.lift(scope, entries.iter_mut().map(|entry| &mut entry.version));
        inner.put(scope, &entries, visibility).await
    }

    async fn clear(&self, inner: &MemVectors, scope: &Scope) -> Result<()> {
        lock(&self.cleared).insert(scope.clone());
        inner.clear(scope).await
    }
}

#[tokio::test]
async fn an_index_that_forgets_erasures_when_it_is_cleared_is_caught() {
    let by = ["clearing_lets_nothing_back_in_that_was_erased"];
    texts::caught(ForgetsErasures::default(), &by).await;
    vectors::caught(ForgetsErasures::default(), &by).await;
}

/// Goes on to refuse what is older than an entry that was cleared, as servers do that remember versions of deleted documents.
#[derive(Clone, Debug, Default)]
struct RemembersCleared {
    newest: Shared<BTreeMap<(Scope, ItemId), Version>>,
}

impl RemembersCleared {
    fn is_refused(&self, scope: &Scope, item: &ItemId, version: Version) -> bool {
        let mut newest = lock(&self.newest);
        let held = newest.entry((scope.clone(), item.clone())).or_insert(version);
        *held = version.max(*held);
        version < *held
    }
}

#[async_trait]
impl texts::Break for RemembersCleared {
    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        entries.retain(|entry| !self.is_refused(scope, &entry.item, entry.version));
        inner.put(scope, &entries, visibility).await
    }
}

#[async_trait]
impl vectors::Break for RemembersCleared {
    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        let mut entries = entries.to_vec();
        entries.retain(|entry| !self.is_refused(scope, &entry.item, entry.version));
        inner.put(scope, &entries, visibility).await
    }
}

#[tokio::test]
async fn an_index_that_remembers_versions_of_what_was_cleared_is_caught() {
    let by = ["what_is_cleared_may_be_put_again_in_any_version"];
    texts::caught(RemembersCleared::default(), &by).await;
    vectors::caught(RemembersCleared::default(), &by).await;
}
