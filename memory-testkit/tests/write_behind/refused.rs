//! Messages that the primary refuses: they are set aside, and the rest goes on.

use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::engine::{Event, HistoryEdge, Session};
use memory_core::{Error, SessionId, Timestamp};
use memory_testkit::rounds;
use tokio::time::sleep;

use crate::fixture::{Bed, ada, message, numbered, read, say, session};

/// How many messages are said, one of a hundred of them bad; `MEMORY_TEST_ROUNDS` names another number.
const MESSAGES: usize = 1_000;

/// How long is waited for each, by a clock that costs no time.
const EACH: Duration = Duration::from_millis(300);

#[tokio::test(start_paused = true)]
async fn s3_6_one_bad_message_in_a_hundred_holds_up_no_other() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    let numbers = rounds(MESSAGES).max(100);
    let is_bad = |number: &usize| number % 100 == 50;
    let text = |number| if is_bad(&number) { format!("poison {number}") } else { format!("message {number}") };
    say(&talk, (0..numbers).map(text)).await;
    sleep(EACH * u32::try_from(numbers).unwrap()).await;
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..numbers).partition(is_bad);
    assert_eq!((bed.stored().await, bed.held().await), (numbered(good.clone()), (0, bad.len())));
    assert_eq!(read(&talk).await, (numbered(good), true));
    let told = bed.seen.0.lock().unwrap().iter().filter(|event| matches!(event, Event::Refused { .. })).count();
    assert_eq!(told, bad.len());

    let refused = memory.of(&ada()).refused(numbers).await.unwrap();
    assert_eq!(refused.len(), bad.len());
    assert!(refused.iter().all(|one| one.message.text().starts_with("poison") && !one.why.contains("poison")));
    assert!(memory.of(&memory_core::Scope::new("acme", "bob").unwrap()).refused(100).await.unwrap().is_empty());

    // One is thrown away, and the others go once the primary takes them.
    let ids: Vec<_> = refused.iter().map(|one| one.message.id).collect();
    assert_eq!(memory.of(&ada()).discard(&ids[..1]).await.unwrap(), 1);
    *bed.faults.refuses.lock().unwrap() = None;
    assert_eq!(memory.of(&ada()).retry(&ids).await.unwrap(), bad.len() - 1);
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    let stored = bed.stored().await;
    let poison = stored.iter().filter(|text| text.starts_with("poison")).count();
    assert_eq!((stored.len(), poison), (numbers - 1, bad.len() - 1));
    assert_eq!(bed.held().await, (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_bad_message_alone_in_its_session_is_set_aside_once_others_were_taken() {
    let bed = Bed::new();
    let memory = bed.open().await;
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    say(&session(&memory), ["poison".to_owned()]).await;
    sleep(Duration::from_secs(120)).await;
    assert_eq!(bed.held().await, (1, 0));
    let other = memory.of(&ada()).session(&SessionId::new("other").unwrap());
    say(&other, numbered(0..1)).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(bed.held().await, (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_takes_nothing_has_nothing_set_aside() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    bed.faults.is_broken.store(true, Ordering::SeqCst);
    say(&talk, numbered(0..100)).await;
    sleep(Duration::from_secs(600)).await;
    assert_eq!(bed.held().await, (100, 0));
    bed.faults.is_broken.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(60)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..100), (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_primary_that_took_nothing_for_a_while_takes_everything_in_order() {
    for (seconds, is_poison) in [(6, false), (10, false), (25, false), (10, true), (25, true)] {
        let bed = Bed::new();
        let memory = bed.open().await;
        bed.faults.is_broken.store(true, Ordering::SeqCst);
        *bed.faults.refuses.lock().unwrap() = is_poison.then_some("poison");
        say(&session(&memory), is_poison.then(|| "poison".to_owned())).await;
        say(&session(&memory), numbered(0..10)).await;
        sleep(Duration::from_secs(seconds)).await;
        bed.faults.is_broken.store(false, Ordering::SeqCst);
        sleep(Duration::from_secs(60)).await;
        let expected = (numbered(0..10), (0, usize::from(is_poison)));
        assert_eq!((bed.stored().await, bed.held().await), expected, "{seconds} s, {is_poison}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_holds_other_content_is_refused_at_once_or_set_aside() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let first = message("message 0");
    talk.append(vec![first.clone()]).await.unwrap();
    let other = message("other").with_id(first.id);
    let refused = talk.append(vec![other.clone()]).await;
    assert!(matches!(refused, Err(Error::IdConflict { .. })), "{refused:?}");
    talk.flush().await.unwrap();
    // Nobody here knows of it any more.
    talk.append(vec![message("message 1"), other, message("message 2")]).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..3), (0, 1)));
}

#[tokio::test(start_paused = true)]
async fn what_is_said_again_at_another_time_while_the_primary_is_away_counts_as_stored() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let first = message("message 0");
    talk.append(vec![first.clone()]).await.unwrap();
    talk.flush().await.unwrap();
    bed.faults.go_away();
    let mut again = first.clone();
    again.at = Timestamp(first.at.0 + 1);
    talk.append(vec![message("message 1"), again, message("message 2")]).await.unwrap();
    bed.faults.come_back();
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..3), (0, 0)));
    let stored = memory.of(&ada()).messages(&[first.id]).await.unwrap();
    assert_eq!(stored[0].message.as_ref().unwrap().at, first.at);
    // Other words at another time are other content all the same.
    let mut other = message("other").with_id(first.id);
    other.at = Timestamp(first.at.0 + 2);
    talk.append(vec![other]).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..3), (0, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_discard_leaves_what_was_said_again_and_waits() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    let poison = message("poison");
    talk.append(vec![poison.clone()]).await.unwrap();
    say(&talk, numbered(0..3)).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!(bed.held().await, (0, 1));
    bed.faults.go_away();
    talk.append(vec![poison.clone()]).await.unwrap();
    assert_eq!(bed.held().await, (1, 1));
    assert_eq!(memory.of(&ada()).discard(&[poison.id]).await.unwrap(), 1);
    assert_eq!(bed.held().await, (1, 0));
    // The process ends, and the next one sends what was acknowledged.
    drop((talk, memory));
    *bed.faults.refuses.lock().unwrap() = None;
    bed.faults.come_back();
    let memory = bed.open().await;
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    assert_eq!(bed.stored().await, ["message 0", "message 1", "message 2", "poison"]);
}

#[tokio::test(start_paused = true)]
async fn an_owner_is_told_what_waits_and_was_refused_of_its_own_alone() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let bob = memory.of(&memory_core::Scope::new("acme", "bob").unwrap());
    let talk = session(&memory);
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    say(&talk, ["poison".to_owned(), "message 0".to_owned()]).await;
    say(&bob.session(talk.id()), ["poison".to_owned(), "poison".to_owned(), "message 0".to_owned()]).await;
    sleep(Duration::from_secs(60)).await;
    bed.faults.go_away();
    say(&talk, numbered(1..4)).await;
    say(&bob.session(&SessionId::new("other").unwrap()), numbered(1..2)).await;
    let (of_ada, of_bob) = (memory.of(&ada()).journal().await.unwrap(), bob.journal().await.unwrap());
    let all = memory.status().await.journal.unwrap();
    assert_eq!([of_ada.waiting, of_bob.waiting, all.waiting], [3, 1, 4]);
    assert_eq!([of_ada.refused.unwrap(), of_bob.refused.unwrap(), all.refused.unwrap()], [1, 2, 3]);
    assert_eq!((of_ada.bytes, of_ada.bytes + of_bob.bytes), (3 * of_bob.bytes, all.bytes));
}

/// Returns the words of a conversation and of the past that it shares.
async fn told(talk: &Session) -> Vec<String> {
    let history = talk.history(HistoryEdge::Newest, 10).await.unwrap().messages;
    history.into_iter().filter_map(|row| row.message).map(|said| said.text()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_branch_leaves_a_stored_message_while_another_one_is_refused() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let said = message("message 0");
    talk.append(vec![said.clone()]).await.unwrap();
    talk.flush().await.unwrap();
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    say(&talk, ["poison".to_owned()]).await;
    let branch = talk.fork(said.id, &SessionId::new("branch").unwrap()).await.unwrap();
    assert_eq!(told(&branch).await, numbered(0..1));
}

#[tokio::test(start_paused = true)]
async fn a_branch_leaves_another_one_whose_beginning_waits_before_a_message_that_is_refused() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let said = message("message 0");
    talk.append(vec![said.clone()]).await.unwrap();
    talk.flush().await.unwrap();
    let name = SessionId::new("branch").unwrap();
    bed.faults.is_broken.store(true, Ordering::SeqCst);
    assert!(talk.fork(said.id, &name).await.is_err());
    let branch = memory.of(&ada()).session(&name);
    say(&branch, ["poison".to_owned()]).await;
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    bed.faults.is_broken.store(false, Ordering::SeqCst);
    let twig = branch.fork(said.id, &SessionId::new("twig").unwrap()).await.unwrap();
    assert_eq!(told(&twig).await, numbered(0..1));
}
