//! Stores whose erasures at once are in each other's way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::{Erased, Store};
use memory_core::{Epoch, Result, Scope};

use super::{texts, vectors};

/// Takes rows that another erasure is deleting for the end: the first step of both is the last one.
#[derive(Clone, Debug, Default)]
struct ForgetsTheRest {
    under_way: Arc<AtomicUsize>,
}

impl ForgetsTheRest {
    async fn erase(&self, inner: &dyn Store, scope: &Scope, below: Epoch) -> Result<Erased> {
        let others = self.under_way.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let is_disturbed = others > 0 || self.under_way.load(Ordering::SeqCst) > 1;
        let erased = inner.erase(scope, below).await?;
        tokio::task::yield_now().await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        Ok(Erased { removed: if is_disturbed { erased.removed.min(2_000) } else { erased.removed }, ..erased })
    }
}

#[async_trait]
impl texts::Break for ForgetsTheRest {
    async fn erase(&self, inner: &MemText, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.erase(inner, scope, below).await
    }
}

#[async_trait]
impl vectors::Break for ForgetsTheRest {
    async fn erase(&self, inner: &MemVectors, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.erase(inner, scope, below).await
    }
}

#[tokio::test]
async fn texts_that_erasures_at_once_forget_are_caught() {
    texts::caught(ForgetsTheRest::default(), &["two_erasures_at_once_remove_all_texts"]).await;
}

#[tokio::test]
async fn vectors_that_erasures_at_once_forget_are_caught() {
    vectors::caught(ForgetsTheRest::default(), &["two_erasures_at_once_remove_all_vectors"]).await;
}
