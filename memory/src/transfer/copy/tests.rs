//! Moves that end with their process at any call: the same move completes them.

use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::reference::{MemBlackboard, MemChat, MemRecords};
use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry};
use memory_core::store::chat::{Append, Compaction, NewMessage, View};
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::{Message, MessageId, Record, Role, SeqRange, StoredMessage, SystemClock, Timestamp, Truth};
use memory_testkit::doubles::{Counting, Cut, Ending, Tapped};

use super::*;

fn stores() -> Stores {
    let (chat, records) = (Truth::chat(Arc::new(MemChat::default())), Truth::records(Arc::new(MemRecords::default())));
    Stores { chat: Some(chat), records: Some(records), ..Stores::default() }
}

/// Returns the stores, with `cut` before each call.
fn cut_by(stores: &Stores, cut: &Arc<Cut>) -> Stores {
    let tap = || Arc::new(Counting::default());
    let chat = stores.chat.clone().map(|chat| {
        chat.layered(|store| Arc::new(Tapped::new(store, tap()).cut_by(Arc::clone(cut))))
            .layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, tap()).cut_by(Arc::clone(cut))))
    });
    let records = stores.records.clone().map(|records| {
        records
            .layered(|store| Arc::new(Tapped::new(store, tap()).cut_by(Arc::clone(cut))))
            .layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, tap()).cut_by(Arc::clone(cut))))
    });
    Stores { chat, records, ..Stores::default() }
}

fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

/// Appends messages to a session, and returns their ids.
async fn say(stores: &Stores, session: &str, count: usize) -> Vec<MessageId> {
    let said = |number| NewMessage::sized(Message::new(Role::User, format!("{session} {number}"), Timestamp(1)), 3);
    let batch = Append::new((0..count).map(said).collect());
    let session = SessionId::new(session).unwrap();
    stores.chat().unwrap().store().append(&ada(), &session, &batch).await.unwrap();
    batch.messages.iter().map(|new| new.message.id).collect()
}

async fn note(stores: &Stores, text: &str) {
    let put = Put { record: Arc::new(Record::new("fact", text, Timestamp(1))), expect: Expect::Anything };
    let batch = RecordBatch { fence: None, puts: vec![put] };
    stores.records.as_ref().unwrap().store().put(&ada(), &batch).await.unwrap();
}

async fn state_of(stores: &Stores, session: &str) -> SessionState {
    let (chat, session) = (stores.chat().unwrap().store(), SessionId::new(session).unwrap());
    chat.read(&ada(), &session, &Page::newest(0)).await.unwrap().state
}

/// Archives the window of a session up to `last`, which are `ids`, behind a summary, and returns its id.
async fn fold(stores: &Stores, session: &str, last: u64, ids: Vec<MessageId>) -> MessageId {
    let SessionState { session, fence, .. } = state_of(stores, session).await;
    let summary = NewMessage::sized(Message::new(Role::Assistant, "the beginning", Timestamp(2)), 2);
    let (id, span) = (summary.message.id, SeqRange { first: Seq(1), last: Seq(last) });
    let change = Compaction::Fold { fence, span, ids, summary };
    stores.chat().unwrap().store().compact(&ada(), &session, &change).await.unwrap();
    id
}

async fn forget_session(stores: &Stores, session: &str) {
    let seen = state_of(stores, session).await;
    stores.chat().unwrap().store().delete(&ada(), &seen).await.unwrap();
}

/// Forgets the owner, as somebody did before anything of this was said.
async fn forget(stores: &Stores) {
    let (chat, records) = (stores.chat().unwrap(), stores.records.as_ref().unwrap());
    let epoch = chat.upkeep().bury(&ada(), Epoch(0)).await.unwrap();
    assert_eq!(records.upkeep().bury(&ada(), Epoch(0)).await.unwrap(), epoch);
    chat.store().erase(&ada(), epoch).await.unwrap();
    records.store().erase(&ada(), epoch).await.unwrap();
}

/// Returns all that the stores hold of the owner, with both epochs.
async fn all(stores: &Stores) -> (Vec<StoredMessage>, Vec<StoredRecord>, [Epoch; 2]) {
    let (chat, records) = (stores.chat().unwrap(), stores.records.as_ref().unwrap());
    let mut rows = Vec::new();
    for state in chat.store().sessions(&ada(), None, 100).await.unwrap() {
        let page = Page::after(Seq(0), 1_000, View::All);
        rows.extend(chat.store().read(&ada(), &state.session, &page).await.unwrap().messages);
    }
    let known = records.store().scan(&ada(), &Filter::All, None, 100).await.unwrap();
    let epochs = [chat.upkeep().epoch(&ada()).await.unwrap(), records.upkeep().epoch(&ada()).await.unwrap()];
    (rows, known, epochs)
}

/// What the target of a move has before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// What was summarised since.
    OlderCopy,
    /// What was said on since, forgotten of, and summarised twice: the second summary begins in what the target has.
    ShorterCopy,
    /// What was said on since, and forgotten of, so that two summaries fell which the target has; one was made in their place.
    FoldedCopy,
    /// Something else, which a mirror removes.
    Other,
}

async fn move_all(source: &Stores, target: &Stores) {
    let moved = Move::new(source, target.clone()).owner(&ada()).await.unwrap();
    assert!(moved.problems.is_empty(), "{:?}", moved.problems);
}

/// Returns a source and a target that are as a move finds them.
async fn places(before: Before) -> (Stores, Stores) {
    let (source, target) = (stores(), stores());
    forget(&source).await;
    let long = say(&source, "long", 6).await;
    let mut oldest = long[..3].to_vec();
    match before {
        Before::Nothing => {}
        Before::OlderCopy | Before::ShorterCopy => move_all(&source, &target).await,
        Before::FoldedCopy => {
            let first = fold(&source, "long", 3, oldest.clone()).await;
            fold(&source, "long", 4, vec![first, long[3]]).await;
            move_all(&source, &target).await;
            oldest.remove(1);
            source.chat().unwrap().store().redact(&ada(), &long[1..2]).await.unwrap();
            say(&source, "long", 2).await;
        }
        Before::Other => {
            forget(&target).await;
            say(&target, "long", 2).await;
            say(&target, "more", 1).await;
            note(&target, "Ada moved").await;
        }
    }
    // What the target has of the session is an older copy now.
    let first = fold(&source, "long", 3, oldest).await;
    if before == Before::ShorterCopy {
        let more = say(&source, "long", 4).await;
        source.chat().unwrap().store().redact(&ada(), &long[4..5]).await.unwrap();
        fold(&source, "long", 8, vec![first, long[3], long[5], more[0], more[1]]).await;
    }
    say(&source, "other", 2).await;
    note(&source, "Ada likes tea").await;
    (source, target)
}

fn job(before: Before, source: &Stores, target: Stores) -> Move<'_> {
    let job = Move::new(source, target);
    if before == Before::Other { job.mirroring() } else { job }
}

/// Cuts a move off at each of its calls, and repeats it.
async fn cut_off_anywhere(before: Before) {
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let (source, target) = places(before).await;
            let cut = Arc::<Cut>::default();
            let mut dying = job(before, &source, cut_by(&target, &cut));
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.owner(&ada())).await;
            let moved = job(before, &source, target.clone()).owner(&ada()).await.unwrap();
            assert!(moved.problems.is_empty(), "{ending:?} at call {nth}: {:?}", moved.problems);
            assert_eq!(all(&target).await, all(&source).await, "{ending:?} at call {nth}");
            if let Some(answer) = answer {
                assert!(answer.unwrap().problems.is_empty());
                assert!(nth > 12, "a move makes {nth} calls");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_move_that_ends_with_its_process_at_any_call_is_completed_by_the_same_move() {
    cut_off_anywhere(Before::OlderCopy).await;
}

#[tokio::test]
async fn a_mirror_that_ends_with_its_process_at_any_call_is_completed_by_the_same_mirror() {
    cut_off_anywhere(Before::Other).await;
}

#[tokio::test]
async fn a_first_move_that_ends_with_its_process_at_any_call_is_completed_by_the_same_move() {
    cut_off_anywhere(Before::Nothing).await;
}

#[tokio::test]
async fn a_move_of_what_was_said_on_that_ends_with_its_process_at_any_call_is_completed_by_the_same_move() {
    cut_off_anywhere(Before::ShorterCopy).await;
}

#[tokio::test]
async fn a_move_over_a_summary_of_what_was_forgotten_that_ends_at_any_call_is_completed_by_the_same_move() {
    cut_off_anywhere(Before::FoldedCopy).await;
}

/// Moves once more, and sees that the forgotten session is told and stays away.
async fn stays_forgotten(source: &Stores, target: &Stores, when: &str) {
    let problems = Move::new(source, target.clone()).owner(&ada()).await.unwrap().problems;
    assert!(matches!(&problems[..], [Problem::SessionForgotten(name)] if name == "long"), "{when}: {problems:?}");
    assert_eq!(state_of(target, "long").await.head, Seq(0), "{when}");
}

#[tokio::test]
async fn a_session_that_was_forgotten_in_the_target_after_it_was_brought_up_is_not_brought_back() {
    let (source, target) = places(Before::OlderCopy).await;
    assert!(Move::new(&source, target.clone()).owner(&ada()).await.unwrap().problems.is_empty());
    assert_eq!(state_of(&target, "long").await.fence.generation, 0, "it was changed in its place");
    forget_session(&target, "long").await;
    stays_forgotten(&source, &target, "after the move").await;
}

#[tokio::test]
async fn a_session_that_is_forgotten_where_a_move_was_cut_off_at_any_call_is_not_brought_back() {
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let (source, target) = places(Before::ShorterCopy).await;
            let cut = Arc::<Cut>::default();
            let mut dying = Move::new(&source, cut_by(&target, &cut));
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.owner(&ada())).await;
            forget_session(&target, "long").await;
            stays_forgotten(&source, &target, &format!("{ending:?} at call {nth}")).await;
            if answer.is_some() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_session_that_is_forgotten_in_the_target_at_any_call_of_a_move_is_not_brought_back() {
    for pause in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let (source, target) = places(Before::ShorterCopy).await;
            let (cut, owner, mut is_forgotten) = (Arc::<Cut>::default(), ada(), false);
            let mut moving = Move::new(&source, cut_by(&target, &cut));
            cut.arm(nth, pause);
            let forgetting = async {
                cut.reached().await;
                forget_session(&target, "long").await;
                is_forgotten = true;
                cut.resume();
                std::future::pending::<()>().await;
            };
            // Whether it ends well depends on the call.
            let answer = tokio::select! {
                biased;
                answer = moving.owner(&owner) => answer,
                () = forgetting => unreachable!("it waits for ever"),
            };
            assert!(matches!(answer, Ok(_) | Err(Error::Fenced)), "{pause:?} at call {nth}: {answer:?}");
            if !is_forgotten {
                break;
            }
            stays_forgotten(&source, &target, &format!("{pause:?} at call {nth}")).await;
        }
    }
}

#[tokio::test]
async fn a_mirror_back_from_where_a_mirror_was_cut_off_at_any_call_removes_no_last_copy() {
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let (source, target) = (stores(), stores());
            say(&source, "long", 6).await;
            say(&target, "long", 2).await;
            let cut = Arc::<Cut>::default();
            let mut dying = Move::new(&source, cut_by(&target, &cut)).mirroring();
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.owner(&ada())).await;
            Move::new(&target, source.clone()).mirroring().owner(&ada()).await.unwrap();
            assert!(state_of(&source, "long").await.head > Seq(0), "{ending:?} at call {nth}");
            if answer.is_some() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_move_says_how_much_of_a_board_stays_behind() {
    let (source, mut team) = (stores(), stores());
    let board = Arc::new(MemBlackboard::new(Arc::new(SystemClock), 10).unwrap());
    team.blackboard = Some(board.clone());
    let entry = BlackboardEntry::new("plan", "Ada waters the roses");
    board.put(&ada(), Epoch::default(), &entry).await.unwrap();
    for (stores_of, stays) in [(source, None), (team, Some(1))] {
        say(&stores_of, "talk", 1).await;
        let moved = Move::new(&stores_of, stores()).owner(&ada()).await.unwrap();
        assert_eq!((moved.on_board, moved.rows.count, moved.problems.len()), (stays, 1, 0));
    }
}

#[tokio::test]
async fn what_is_read_again_because_it_was_changed_meanwhile_is_counted_once() {
    for pause in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let (source, target) = (stores(), stores());
            // More than are read together.
            let long = say(&source, "long", 501).await;
            note(&source, "Ada likes tea").await;
            let (cut, owner, mut is_folded) = (Arc::<Cut>::default(), ada(), false);
            let (from, counted) = (cut_by(&source, &cut), AtomicU64::new(0));
            let progress = |done: u64| counted.store(done, Ordering::SeqCst);
            let mut moving = Move::new(&from, target).watched(&progress);
            cut.arm(nth, pause);
            let folding = async {
                cut.reached().await;
                fold(&source, "long", 3, long[..3].to_vec()).await;
                is_folded = true;
                cut.resume();
                std::future::pending::<()>().await;
            };
            let moved = tokio::select! {
                biased;
                answer = moving.owner(&owner) => answer.unwrap(),
                () = folding => unreachable!("it waits for ever"),
            };
            assert!(moved.problems.is_empty(), "{pause:?} at call {nth}: {:?}", moved.problems);
            let all = moved.rows.count + moved.records.count;
            assert_eq!(counted.load(Ordering::SeqCst), all, "{pause:?} at call {nth}");
            if !is_folded {
                break;
            }
        }
    }
}

#[tokio::test]
async fn what_is_moved_again_because_a_call_failed_is_counted_once() {
    for nth in 1.. {
        let (source, target) = (stores(), stores());
        say(&source, "long", 6).await;
        say(&source, "other", 2).await;
        note(&source, "Ada likes tea").await;
        let (cut, counted) = (Arc::<Cut>::default(), AtomicU64::new(0));
        let progress = |done: u64| counted.store(done, Ordering::SeqCst);
        let mut moving = Move::new(&source, cut_by(&target, &cut)).watched(&progress);
        cut.arm(nth, Ending::Fails);
        let has_failed = moving.owner(&ada()).await.is_err();
        if has_failed {
            moving.owner(&ada()).await.unwrap();
        }
        assert_eq!(counted.load(Ordering::SeqCst), 9, "at call {nth}");
        if !has_failed {
            break;
        }
    }
}
