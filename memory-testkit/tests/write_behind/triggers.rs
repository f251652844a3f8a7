//! When what waits goes to the primary.

use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::Error;
use memory_core::layer::WriteBehindPolicy;
use memory_core::store::Durability;
use memory_core::store::chat::Placement;
use tokio::time::{Instant, sleep};

use crate::fixture::{Bed, message, numbered, read, say, session};

/// Enough for what is due to be sent, and no longer.
async fn a_moment() {
    sleep(Duration::from_millis(10)).await;
}

#[tokio::test(start_paused = true)]
async fn s3_5_twenty_messages_go_at_once() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, numbered(0..19)).await;
    a_moment().await;
    assert_eq!((bed.stored().await.len(), bed.held().await), (0, (19, 0)));
    say(&session, numbered(19..20)).await;
    a_moment().await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..20), (0, 0)));
    assert_eq!(bed.faults.appends.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn s3_5_a_message_goes_after_five_seconds() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, numbered(0..1)).await;
    sleep(Duration::from_secs(3)).await;
    say(&session, numbered(1..2)).await;
    sleep(Duration::from_millis(1_900)).await;
    assert_eq!(bed.stored().await.len(), 0);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(bed.stored().await, numbered(0..2));
}

#[tokio::test(start_paused = true)]
async fn s3_5_many_bytes_go_at_once() {
    let mut bed = Bed::new();
    bed.policy = WriteBehindPolicy::default().with_bytes(10_000);
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, ["short".to_owned()]).await;
    a_moment().await;
    assert_eq!(bed.stored().await.len(), 0);
    say(&session, ["x".repeat(10_000)]).await;
    a_moment().await;
    assert_eq!(bed.stored().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn s3_5_what_waits_goes_when_a_request_ends_or_the_memory_is_closed() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    say(&talk, numbered(0..1)).await;
    talk.flush().await.unwrap();
    assert_eq!(bed.stored().await, numbered(0..1));
    say(&talk, numbered(1..2)).await;
    memory.close().await.unwrap();
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..2), (0, 0)));
    let late = talk.append(vec![message("after the last flush")]).await;
    assert!(matches!(late, Err(Error::Backend { .. })), "{late:?}");
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..2), (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn s3_5_a_receipt_says_that_a_message_is_queued() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    let one = message("one");
    for _ in 0..2 {
        let receipt = session.append(vec![one.clone()]).await.unwrap();
        assert_eq!(receipt.placements, [Placement::Queued]);
        // The journal and the primary of these tests are in this process.
        assert_eq!((receipt.head.0, receipt.durability), (1, Durability::Volatile));
    }
    assert_eq!(memory.status().await.journal.unwrap().waiting, 1);
    assert_eq!(read(&session).await, (vec!["one".to_owned()], true));
}

#[tokio::test(start_paused = true)]
async fn a_batch_larger_than_the_journal_goes_straight_to_the_primary() {
    let bed = Bed::with_room(10);
    let memory = bed.open().await;
    let session = session(&memory);
    let all: Vec<_> = numbered(0..30).into_iter().map(message).collect();
    let receipt = session.append(all).await.unwrap();
    assert!(receipt.placements.iter().all(|placement| matches!(placement, Placement::Added(_))));
    assert_eq!(bed.stored().await, numbered(0..30));
}

/// A reader between any two steps of a flush sees every message once and in order.
#[tokio::test]
async fn o7_readers_beside_flushes_see_everything_once() {
    let mut bed = Bed::new();
    bed.policy = WriteBehindPolicy::default().with_batch(3);
    let memory = bed.open().await;
    let session = session(&memory);
    let writer = tokio::spawn({
        let session = session.clone();
        async move {
            for number in 0..300 {
                say(&session, numbered([number])).await;
                tokio::task::yield_now().await;
            }
        }
    });
    let mut last = 0;
    while !writer.is_finished() {
        let (texts, _) = read(&session).await;
        assert_eq!(texts, numbered(0..texts.len()));
        assert!(texts.len() >= last, "{} after {last}", texts.len());
        last = texts.len();
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    assert_eq!(read(&session).await.0, numbered(0..300));
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    assert_eq!(bed.stored().await, numbered(0..300));
}

#[tokio::test(start_paused = true)]
async fn appends_wait_for_no_primary() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, numbered(0..1)).await;
    bed.faults.go_away();
    let begun = Instant::now();
    say(&session, numbered(1..1_000)).await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}
