//! What every store promises of being closed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use memory_core::id::Seq;

use crate::bed::Subject;
use crate::chat::talk::{Talk, ids, new};
use crate::check::{Failure, Scene, equal};
use crate::{Bed, Boards, Caches, Chat, Records, Texts, Vectors};

scenarios!(CHAT: Chat, RECORDS: Records = [closing_may_be_repeated_and_leaves_stores_opened_apart]);
scenarios!(TEXT: Texts, VECTORS: Vectors = [closing_may_be_repeated_and_leaves_stores_opened_apart]);
scenarios!(CACHE: Caches, BOARDS: Boards = [closing_may_be_repeated_and_leaves_stores_opened_apart]);
scenarios!(TALK: Chat = [
    closing_waits_for_calls_under_way_and_keeps_what_was_acknowledged,
    closing_does_not_wait_for_ever_for_a_call_that_nobody_polls,
]);

async fn closing_may_be_repeated_and_leaves_stores_opened_apart<S: Subject>(bed: Bed<S>) -> Scene {
    let apart = bed.reopen().await?;
    bed.store.close().await?;
    bed.store.close().await?;
    let durability = apart.health().await?.durability;
    equal(durability, bed.durability)?;
    equal(bed.reopen().await?.health().await?.durability, bed.durability)
}

async fn closing_waits_for_calls_under_way_and_keeps_what_was_acknowledged(bed: Bed<Chat>) -> Scene {
    const WRITERS: u64 = 16;
    let talk = Talk::plain(&bed)?;
    let begun = Arc::new(tokio::sync::Semaphore::new(0));
    let writers = (0..WRITERS).map(|number| {
        let (talk, begun) = (talk.clone(), Arc::clone(&begun));
        tokio::spawn(async move {
            begun.add_permits(1);
            talk.append(&[new(&format!("said by {number}"))]).await
        })
    });
    let writers: Vec<_> = writers.collect();
    let _all = begun.acquire_many(WRITERS as u32).await.map_err(|error| Failure::new(error.to_string()))?;
    bed.store.close().await?;
    let mut acknowledged = 0;
    for writer in writers {
        // One that came after the closing may fail.
        let answer = writer.await.map_err(|stopped| Failure::new(stopped.to_string()))?;
        acknowledged += u64::from(answer.is_ok());
    }
    let again = Talk { chat: bed.reopen().await?, ..talk };
    let head = again.state().await?.head;
    check!(head >= Seq(acknowledged), "{acknowledged} messages were acknowledged, {head:?} is the last");
    again.in_order().await
}

async fn closing_does_not_wait_for_ever_for_a_call_that_nobody_polls(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let said = ids(&talk.say(&["hello"]).await?);
    let mut call = Box::pin(talk.get(&said));
    let begun = (&mut call).now_or_never();
    let closed = tokio::time::timeout(Duration::from_secs(60), bed.store.close()).await;
    check!(matches!(closed, Ok(Ok(()))), "closing ends so: {closed:?}");
    if begun.is_none() {
        // It may fail, but it ends too.
        drop(call.await);
    }
    let again = Talk { chat: bed.reopen().await?, ..talk.clone() };
    equal(again.log().await?, vec!["hello".to_owned()])
}
