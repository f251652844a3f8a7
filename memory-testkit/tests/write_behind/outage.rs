//! The primary is away: appends go on, readers see what was said, and then it drains in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::engine::{Forget, Search, Stage};
use memory_core::reference::MemJournal;
use memory_core::store::chat::Placement;
use memory_core::{Error, SessionId};
use tokio::time::{Instant, sleep};

use crate::fixture::{Bed, ada, message, numbered, read, say, session};

#[tokio::test(start_paused = true)]
async fn s3_6_an_outage_loses_doubles_and_reorders_nothing() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, numbered(0..30)).await;
    sleep(Duration::from_secs(6)).await;
    bed.faults.go_away();
    for minute in 0..10 {
        say(&session, numbered(30 + minute * 100..130 + minute * 100)).await;
        sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(bed.stored().await, numbered(0..30));
    let (texts, is_complete) = read(&session).await;
    assert_eq!((texts, is_complete), (numbered(30..1_030), false));
    bed.faults.come_back();
    sleep(Duration::from_secs(10)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..1_030), (0, 0)));
    assert_eq!(read(&session).await, (numbered(0..1_030), true));
}

#[tokio::test(start_paused = true)]
async fn o7_a_context_and_a_search_hold_what_was_just_said_while_truth_is_away() {
    let bed = Bed::new();
    let memory = bed.open_to_be_away_whole().await;
    let talk = session(&memory);
    bed.faults.go_away();
    let other = memory.of(&ada()).session(&SessionId::new("other").unwrap());
    let begun = Instant::now();
    say(&talk, ["My rose is called Aurora.".to_owned()]).await;
    say(&other, ["The cellar is damp.".to_owned()]).await;
    let context = talk.context("What is my rose called?", 1_000).await.unwrap();
    assert!(context.messages().any(|message| message.text().contains("Aurora")));
    assert!(!context.receipt.complete);
    let found = memory.of(&ada()).search(&Search::new("aurora")).await.unwrap();
    let texts: Vec<String> = found.hits.iter().map(|hit| hit.content.text()).collect();
    assert_eq!(texts, ["My rose is called Aurora."]);
    // No index answers, and both say so.
    for receipt in [&context.receipt.search, &found.receipt] {
        let is_away = |stage| receipt.degraded.iter().any(|degraded| degraded.stage == stage);
        assert!(is_away(Stage::Text) && is_away(Stage::Vector), "{receipt:?}");
    }
    // In less than a millisecond: nothing waits for anything.
    assert_eq!(begun.elapsed(), Duration::ZERO);
    bed.faults.come_back();
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    memory.upkeep_once().await.unwrap();
    let found = memory.of(&ada()).search(&Search::new("aurora")).await.unwrap();
    assert_eq!((found.receipt.text_candidates, found.receipt.degraded.len()), (1, 0));
    // By meaning the other one is found too, however far it is.
    let mut texts: Vec<String> = found.hits.iter().map(|hit| hit.content.text()).collect();
    texts.sort();
    assert_eq!(texts, ["My rose is called Aurora.", "The cellar is damp."]);
}

#[tokio::test(start_paused = true)]
async fn a_context_shows_nothing_while_truth_is_away_that_another_process_forgot_before() {
    let bed = Bed::new();
    let (memory, other) = (bed.open().await, bed.open_with(Arc::new(MemJournal::new(100))).await);
    let talk = session(&memory);
    let said = message("My rose is called Aurora.");
    talk.append(vec![said.clone()]).await.unwrap();
    talk.flush().await.unwrap();
    assert!(other.of(&ada()).forget(&Forget::Messages(vec![said.id])).await.unwrap().complete);
    bed.faults.go_away();
    say(&talk, ["Is it red?".to_owned()]).await;
    let context = talk.context("What is my rose called?", 1_000).await.unwrap();
    let texts: Vec<String> = context.messages().map(|message| message.text()).collect();
    assert!(texts.iter().any(|text| text.contains("red")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("Aurora")), "{texts:?}");
    assert!(!context.receipt.complete);
}

#[tokio::test(start_paused = true)]
async fn s3_6_a_memory_opens_while_truth_is_away_and_what_waits_is_sent_when_it_is_back() {
    let bed = Bed::new();
    bed.faults.go_away();
    let memory = bed.open().await;
    let talk = session(&memory);
    say(&talk, numbered(0..5_000)).await;
    let receipt = talk.append(vec![message("message 5000")]).await.unwrap();
    assert_eq!(receipt.placements, [Placement::Queued]);
    bed.faults.come_back();
    let begun = Instant::now();
    while bed.held().await.0 > 0 {
        sleep(Duration::from_millis(100)).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(bed.stored().await, numbered(0..5_001));
    memory.upkeep_once().await.unwrap();
    let found = memory.of(&ada()).search(&Search::new("message")).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.degraded.len()), (10, 0));
}

#[tokio::test(start_paused = true)]
async fn s3_6_what_an_earlier_process_left_is_replayed_in_order() {
    let bed = Bed::new();
    for process in 0..10 {
        let memory = bed.open().await;
        let session = session(&memory);
        // Some are sent, of some the answer is lost, and the process ends without a word.
        bed.faults.loses_answers.store(process % 3 == 1, Ordering::SeqCst);
        say(&session, numbered(process * 30..process * 30 + 30)).await;
        sleep(Duration::from_millis(50 * process as u64)).await;
        let (texts, _) = read(&session).await;
        assert_eq!(texts, numbered(0..process * 30 + 30));
        drop((memory, session));
        tokio::task::yield_now().await;
    }
    bed.faults.loses_answers.store(false, Ordering::SeqCst);
    let memory = bed.open().await;
    sleep(Duration::from_secs(5)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..300), (0, 0)));
    drop(memory);
}

#[tokio::test(start_paused = true)]
async fn s3_6_a_message_whose_answer_was_lost_is_stored_once() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let session = session(&memory);
    bed.faults.loses_answers.store(true, Ordering::SeqCst);
    say(&session, numbered(0..50)).await;
    sleep(Duration::from_secs(30)).await;
    assert!(bed.faults.appends.load(Ordering::SeqCst) > 5);
    assert_eq!(bed.held().await, (50, 0));
    let (texts, is_complete) = read(&session).await;
    assert_eq!((texts, is_complete), (numbered(0..50), false));
    bed.faults.loses_answers.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..50), (0, 0)));
    assert_eq!(read(&session).await, (numbered(0..50), true));
}

#[tokio::test(start_paused = true)]
async fn o6_s3_6_a_full_journal_refuses_and_drops_nothing() {
    let bed = Bed::with_room(100);
    let memory = bed.open().await;
    let session = session(&memory);
    say(&session, numbered(0..1)).await;
    bed.faults.go_away();
    say(&session, numbered(1..100)).await;
    for _ in 0..3 {
        let refused = session.append(vec![message("too much")]).await;
        assert!(matches!(refused, Err(Error::QueueFull)), "{refused:?}");
    }
    bed.faults.come_back();
    sleep(Duration::from_secs(10)).await;
    say(&session, numbered(100..101)).await;
    memory.close().await.unwrap();
    assert_eq!(bed.stored().await, numbered(0..101));
}

#[tokio::test(start_paused = true)]
async fn s3_6_a_shutdown_during_an_outage_leaves_all_in_the_journal_and_says_how_many() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    say(&talk, numbered(0..1)).await;
    talk.flush().await.unwrap();
    bed.faults.go_away();
    say(&talk, numbered(1..101)).await;
    let begun = Instant::now();
    assert_eq!(memory.shutdown(Duration::from_secs(3)).await.unwrap(), 100);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!((bed.stored().await.len(), bed.held().await), (1, (100, 0)));
    bed.faults.come_back();
    let memory = bed.open().await;
    assert_eq!(memory.shutdown(Duration::from_secs(3)).await.unwrap(), 0);
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..101), (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn s3_6_a_shutdown_under_load_counts_what_is_in_the_journal_when_it_ends() {
    let bed = Bed::new();
    let memory = bed.open().await;
    // The first batch lands after the time that the shutdown is given, and more is said until then.
    *bed.faults.delay.lock().unwrap() = Duration::from_secs(4);
    let talk = session(&memory);
    let speaker = tokio::spawn(async move {
        for said in 0.. {
            if talk.append(vec![message(format!("message {said}"))]).await.is_err() {
                return said;
            }
            sleep(Duration::from_millis(100)).await;
        }
        0
    });
    sleep(Duration::from_millis(550)).await;
    let left = memory.shutdown(Duration::from_secs(3)).await.unwrap();
    let said: usize = speaker.await.unwrap();
    let stored = bed.stored().await.len();
    assert!(stored > 0 && left > 30, "{stored} stored, {left} left");
    assert_eq!((stored + left, bed.held().await.0), (said, left));
}

#[tokio::test(start_paused = true)]
async fn what_changes_truth_fails_while_it_is_away_and_nothing_is_half_done() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let first = message("message 0");
    let id = first.id;
    talk.append(vec![first]).await.unwrap();
    bed.faults.go_away();
    say(&talk, numbered(1..3)).await;
    let forgotten = memory.of(&ada()).forget(&Forget::Messages(vec![id])).await;
    assert!(forgotten.is_err_and(|error| error.is_retryable()));
    assert!(talk.replace(id, vec![message("other")]).await.is_err_and(|error| error.is_retryable()));
    bed.faults.come_back();
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    assert_eq!(bed.stored().await, numbered(0..3));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_takes_the_primary_too_long_is_tried_in_halves() {
    let bed = Bed::new();
    let memory = bed.open().await;
    *bed.faults.most_in_time.lock().unwrap() = Some(3);
    say(&session(&memory), numbered(0..100)).await;
    sleep(Duration::from_secs(300)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..100), (0, 0)));
}
