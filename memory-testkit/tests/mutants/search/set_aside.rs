//! Search stores that let a search wait for one that nobody polls.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::{MemText, MemVectors};
use memory_core::store::text::{TextHits, TextQuery, TextStore as _};
use memory_core::store::vectors::VectorStore as _;
use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::{Result, Scope};
use tokio::sync::{Mutex, MutexGuard};

use super::{texts, vectors};

/// Lets one search at a time look something up, which takes more than one poll.
#[derive(Clone, Debug, Default)]
struct TakesTurns(Arc<Mutex<()>>);

impl TakesTurns {
    async fn turn(&self) -> MutexGuard<'_, ()> {
        let turn = self.0.lock().await;
        tokio::task::yield_now().await;
        turn
    }
}

#[async_trait]
impl texts::Break for TakesTurns {
    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        let _turn = self.turn().await;
        inner.search(scope, query).await
    }
}

#[async_trait]
impl vectors::Break for TakesTurns {
    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        let _turn = self.turn().await;
        inner.search(scope, query).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_that_waits_for_one_that_nobody_polls_is_caught() {
    let by = ["a_search_of_words_ends_although_others_of_its_task_are_set_aside"];
    texts::caught(TakesTurns::default(), &by).await;
    let by = ["a_search_of_vectors_ends_although_others_of_its_task_are_set_aside"];
    vectors::caught(TakesTurns::default(), &by).await;
}
