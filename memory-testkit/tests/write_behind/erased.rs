//! Erasures reach what waits, wherever they were made.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Event, Forget, PartKind, Search};
use memory_core::layer::WriteBehind;
use memory_core::reference::MemJournal;
use memory_core::store::Store as _;
use memory_core::store::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::store::upkeep::Upkeep;
use memory_core::{Epoch, Error, SessionId, Truth};
use memory_testkit::doubles::{Counting, Tapped};
use tokio::time::sleep;

use crate::fixture::{Bed, ada, message, numbered, read, say, session, talk};

#[tokio::test(start_paused = true)]
async fn o8_a_forget_reaches_what_waits_and_what_was_refused() {
    for what in [Forget::Everything, Forget::Session(talk())] {
        let bed = Bed::new();
        let memory = bed.open().await;
        let old = session(&memory);
        *bed.faults.refuses.lock().unwrap() = Some("poison");
        say(&old, ["poison".to_owned()]).await;
        say(&old, numbered(0..3)).await;
        sleep(Duration::from_secs(30)).await;
        assert_eq!(bed.held().await, (0, 1));
        say(&old, numbered(3..5)).await;
        let receipt = memory.of(&ada()).forget(&what).await.unwrap();
        assert!(receipt.complete, "{receipt}");
        assert_eq!((bed.held().await, bed.stored().await.len()), ((0, 0), 0), "{what:?}");
        assert!(matches!(old.append(vec![message("late")]).await, Err(Error::Fenced)));
        let new = session(&memory);
        say(&new, ["begun again".to_owned()]).await;
        assert_eq!(read(&new).await, (vec!["begun again".to_owned()], true));
        memory.close().await.unwrap();
        assert_eq!(bed.stored().await, ["begun again"]);
    }
}

#[tokio::test(start_paused = true)]
async fn o8_a_forget_reaches_what_was_refused_of_a_session_that_has_nothing_else() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let owner = memory.of(&ada());
    let alone = owner.session(&SessionId::new("alone").unwrap());
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    say(&alone, ["poison".to_owned()]).await;
    sleep(Duration::from_secs(120)).await;
    say(&session(&memory), numbered(0..1)).await;
    sleep(Duration::from_secs(30)).await;
    assert_eq!((bed.held().await, owner.refused(9).await.unwrap().len()), ((0, 1), 1));
    let receipt = owner.forget(&Forget::Session(alone.id().clone())).await.unwrap();
    assert!(receipt.complete, "{receipt}");
    assert_eq!((bed.held().await, owner.refused(9).await.unwrap().len()), ((0, 0), 0));
    assert_eq!(bed.stored().await, numbered(0..1), "another session stays");
}

#[tokio::test(start_paused = true)]
async fn o8_what_was_refused_before_an_erasure_elsewhere_is_shown_to_nobody() {
    for is_owner in [true, false] {
        let bed = Bed::new();
        let memory = bed.open().await;
        *bed.faults.refuses.lock().unwrap() = Some("poison");
        say(&session(&memory), ["poison".to_owned()]).await;
        say(&session(&memory), numbered(0..3)).await;
        sleep(Duration::from_secs(30)).await;
        assert_eq!(bed.held().await, (0, 1));
        erase_elsewhere(&bed, is_owner).await;
        assert!(memory.of(&ada()).refused(9).await.unwrap().is_empty());
        assert_eq!(bed.held().await, (0, 0), "{is_owner}");
    }
}

/// Erases the owner or the session in another process.
async fn erase_elsewhere(bed: &Bed, is_owner: bool) {
    if is_owner {
        let epoch = bed.primary.bury(&ada(), Epoch(0)).await.unwrap();
        bed.primary.erase(&ada(), epoch).await.unwrap();
    } else {
        let seen = bed.primary.read(&ada(), &talk(), &Page::newest(0)).await.unwrap().state;
        bed.primary.delete(&ada(), &seen).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn o8_a_forgotten_message_that_waits_leaves_a_mark_and_does_not_come_back() {
    let bed = Bed::new();
    let memory = bed.open().await;
    let talk = session(&memory);
    let secret = message("a secret");
    talk.append(vec![message("message 0"), secret.clone(), message("message 1")]).await.unwrap();
    let receipt = memory.of(&ada()).forget(&Forget::Messages(vec![secret.id])).await.unwrap();
    assert!(receipt.complete && receipt.removed == 1, "{receipt}");
    talk.append(vec![secret]).await.unwrap();
    assert_eq!(read(&talk).await, (numbered(0..2), true));
    memory.close().await.unwrap();
    assert_eq!(
        (bed.stored().await, bed.held().await),
        (["message 0", "", "message 1"].map(String::from).to_vec(), (0, 0))
    );
}

#[tokio::test(start_paused = true)]
async fn o8_what_was_queued_before_an_erasure_elsewhere_is_dropped() {
    for is_owner in [true, false] {
        let bed = Bed::new();
        let memory = bed.open().await;
        let talk_here = session(&memory);
        say(&talk_here, numbered(0..2)).await;
        talk_here.flush().await.unwrap();
        say(&talk_here, numbered(2..5)).await;
        erase_elsewhere(&bed, is_owner).await;
        assert_eq!(read(&session(&memory)).await, (Vec::new(), true));
        sleep(Duration::from_secs(10)).await;
        assert_eq!((bed.stored().await.len(), bed.held().await), (0, (0, 0)));
        let dropped =
            bed.seen.0.lock().unwrap().iter().any(|event| matches!(event, Event::Dropped { messages: 3, .. }));
        assert!(dropped);
        assert!(matches!(talk_here.append(vec![message("late")]).await, Err(Error::Fenced)));
    }
}

#[tokio::test(start_paused = true)]
async fn o8_what_was_queued_while_nothing_was_known_is_set_aside_if_the_session_was_erased() {
    let bed = Bed::new();
    let memory = bed.open().await;
    say(&session(&memory), ["before".to_owned()]).await;
    memory.of(&ada()).forget(&Forget::Everything).await.unwrap();
    memory.close().await.unwrap();
    drop(memory);

    bed.faults.go_away();
    let memory = bed.open().await;
    let talk = session(&memory);
    say(&talk, numbered(0..2)).await;
    assert_eq!(read(&talk).await, (numbered(0..2), false));
    bed.faults.come_back();
    sleep(Duration::from_secs(10)).await;
    assert_eq!((bed.stored().await.len(), bed.held().await), (0, (0, 2)));
    let refused = memory.of(&ada()).refused(9).await.unwrap();
    assert!(refused.iter().all(|one| one.why.contains("not known")), "{refused:?}");
    // Whoever knows that they came later says so.
    let ids: Vec<_> = refused.iter().map(|one| one.message.id).collect();
    assert_eq!(memory.of(&ada()).retry(&ids).await.unwrap(), 2);
    assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..2), (0, 0)));
    // A handle that was opened during the outage goes on.
    say(&talk, numbered(2..3)).await;
    talk.flush().await.unwrap();
    assert_eq!(bed.stored().await, numbered(0..3));
}

#[tokio::test(start_paused = true)]
async fn o8_a_repeated_append_shows_nothing_that_was_forgotten_elsewhere_or_by_an_earlier_process() {
    for is_elsewhere in [true, false] {
        let bed = Bed::new();
        let (memory, other) = (bed.open().await, bed.open_with(Arc::new(MemJournal::new(100))).await);
        let said = message("aurora");
        session(&memory).append(vec![said.clone()]).await.unwrap();
        session(&memory).flush().await.unwrap();
        let forgetter = if is_elsewhere { &other } else { &memory };
        assert!(forgetter.of(&ada()).forget(&Forget::Messages(vec![said.id])).await.unwrap().complete);
        let memory = if is_elsewhere { memory } else { bed.open().await };
        let talk = session(&memory);
        talk.append(vec![said.clone()]).await.unwrap();
        say(&talk, numbered(0..1)).await;
        assert_eq!(read(&talk).await, (numbered(0..1), true));
        let shows = || async {
            let owner = memory.of(&ada());
            let found = owner.search(&Search::new("aurora")).await.unwrap();
            let context = talk.context("aurora", 1_000).await.unwrap();
            let kept = context.parts.iter().filter(|part| part.kind != PartKind::Query);
            let told = kept.filter(|part| part.message.text().contains("aurora")).count();
            (found.hits.len(), told, owner.messages(&[said.id]).await.unwrap().len())
        };
        assert_eq!(shows().await, (0, 0, 0));
        // What is known of it is not lost while the primary is away.
        bed.faults.go_away();
        assert_eq!(read(&talk).await, (numbered(0..1), false));
        bed.faults.come_back();
        assert_eq!(memory.flush(Duration::from_secs(10)).await, 0);
        assert_eq!((read(&talk).await, shows().await), ((numbered(0..1), true), (0, 0, 0)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_an_erasure_sets_nothing_aside_that_was_said_since() {
    let bed = Bed::new();
    let memory = bed.open().await;
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    *bed.faults.way_back.lock().unwrap() = Duration::from_secs(5);
    say(&session(&memory), ["poison".to_owned(), "message 0".to_owned()]).await;
    // The first one was refused as often as it may be, and the answer to the second one is on its way.
    sleep(Duration::from_secs(8)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..1), (2, 0)));
    memory.of(&ada()).forget(&Forget::Everything).await.unwrap();
    say(&session(&memory), numbered(1..3)).await;
    sleep(Duration::from_secs(4)).await;
    assert_eq!(bed.held().await, (2, 0));
    assert_eq!(memory.flush(Duration::from_secs(60)).await, 0);
    assert_eq!((bed.stored().await, bed.held().await), (numbered(1..3), (0, 0)));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_an_erasure_sets_nothing_aside_that_was_refused_since() {
    let bed = Bed::new();
    let memory = bed.open().await;
    *bed.faults.refuses.lock().unwrap() = Some("poison");
    *bed.faults.way_back.lock().unwrap() = Duration::from_secs(5);
    say(&session(&memory), ["poison".to_owned(), "message 0".to_owned()]).await;
    // The answer to the second one comes after 11 seconds.
    sleep(Duration::from_secs(8)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(0..1), (2, 0)));
    memory.of(&ada()).forget(&Forget::Everything).await.unwrap();
    let talk = session(&memory);
    say(&talk, ["poison again".to_owned(), "message 1".to_owned()]).await;
    for _ in 0..5 {
        assert!(talk.flush().await.is_err());
    }
    // Now the next one is on its way, and its answer comes after 13 seconds.
    sleep(Duration::from_secs(4)).await;
    assert_eq!((bed.stored().await, bed.held().await), (numbered(1..2), (2, 0)));
    sleep(Duration::from_secs(4)).await;
    assert_eq!(bed.held().await, (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_erasure_of_many_sessions_reads_once_what_was_set_aside() {
    let (bed, counting) = (Bed::new(), Arc::new(Counting::default()));
    let journal = Arc::new(Tapped::new(bed.journal.clone(), counting.clone()));
    let behind = WriteBehind::open(Truth::chat(bed.primary.clone()), journal, bed.policy).await.unwrap();
    let chat = behind.chat();
    for name in ["one", "two", "three"] {
        let batch = Append::new(vec![NewMessage::sized(message(name), 1)]);
        chat.store().append(&ada(), &SessionId::new(name).unwrap(), &batch).await.unwrap();
    }
    assert_eq!(bed.held().await, (3, 0));
    counting.reset();
    let epoch = bed.primary.bury(&ada(), Epoch(0)).await.unwrap();
    chat.store().erase(&ada(), epoch).await.unwrap();
    assert_eq!((bed.held().await, counting.calls("rejected")), ((0, 0), 1));
}
