//! What every search promises for other searches in its task: it does not wait for them, even if nobody polls them.
//!
//! A `select`, a timeout and a hedged call poll several futures in one task, and go on with one of them while the others
//! still live. Whatever those hold, this one does not need it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Duration;

use futures_util::future::{MaybeDone, maybe_done};
use memory_core::Result;

use crate::check::{Failure, Scene, equal};
use crate::text::build as text;
use crate::vectors::build as vectors;
use crate::{Bed, Texts, Vectors};

scenarios!(TEXT: Texts = [a_search_of_words_ends_although_others_of_its_task_are_set_aside]);
scenarios!(VECTORS: Vectors = [a_search_of_vectors_ends_although_others_of_its_task_are_set_aside]);

/// How many searches a task begins at once.
const SEARCHES: usize = 3;

/// How often each of them is polled before one is gone on with, at the most.
const MOST_POLLS: usize = 6;

/// How long a search may take that waits for nobody.
const PATIENCE: Duration = Duration::from_secs(30);

async fn a_search_of_words_ends_although_others_of_its_task_are_set_aside(bed: Bed<Texts>) -> Scene {
    let (store, scope, query) = (&bed.store, bed.scope("ada")?, text::query(&["tea"])?);
    for number in 1..=MOST_POLLS {
        let entry = text::entry(text::message(number as u64), &["tea"])?;
        text::put(store, &scope, &[entry]).await?;
        // First what was put is new to every search, then it is known.
        for _ in 0..2 {
            let found = beside_others(number, || store.search(&scope, &query)).await?;
            equal(found.hits.len(), number)?;
        }
    }
    Ok(())
}

async fn a_search_of_vectors_ends_although_others_of_its_task_are_set_aside(bed: Bed<Vectors>) -> Scene {
    let (store, scope) = (&bed.store, bed.scope("ada")?);
    let query = vectors::query(store, vec![1.0; 8]);
    for number in 1..=MOST_POLLS {
        let entry = vectors::entry(text::message(number as u64), vec![vec![1.0; 8]]);
        vectors::put(store, &scope, &[entry]).await?;
        for _ in 0..2 {
            let found = beside_others(number, || store.search(&scope, &query)).await?;
            equal(found.len(), number)?;
        }
    }
    Ok(())
}

/// Begins searches and polls each so often in turn, then goes on with one of them alone and returns its answer; in the end
/// the others are answered too.
async fn beside_others<T, F>(polls: usize, search: impl Fn() -> F) -> std::result::Result<T, Failure>
where
    F: Future<Output = Result<T>>,
{
    let mut calls: Vec<_> = (0..SEARCHES).map(|_| Box::pin(maybe_done(search()))).collect();
    for _ in 0..polls {
        for call in &mut calls {
            // Whether it is ready is seen when it is awaited.
            let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        // What works for them elsewhere may go on.
        tokio::task::yield_now().await;
    }
    let chosen = calls.swap_remove(polls % SEARCHES);
    let ended = tokio::time::timeout(PATIENCE, answer(chosen)).await;
    let found = ended.map_err(|_| Failure::new("a search waits for another that nobody polls"))?;
    for call in calls {
        answer(call).await?;
    }
    Ok(found?)
}

async fn answer<T, F: Future<Output = Result<T>>>(mut call: Pin<Box<MaybeDone<F>>>) -> Result<T> {
    call.as_mut().await;
    call.as_mut().take_output().unwrap_or(Err(memory_core::Error::Overloaded))
}
