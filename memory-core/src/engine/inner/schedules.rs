//! The locks of the board, of the overlay of what is not indexed yet and of the working tier, in schedules that shuttle chooses:
//! 1,000 of each test, or as many as `MEMORY_SCHEDULES` says.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use shuttle::future::block_on;
use shuttle::thread;

use super::boards::Boards;
use super::unindexed::{Unindexed, Written};
use crate::id::{ItemId, RecordId};
use crate::record::Record;
use crate::reference::MemBlackboard;
use crate::scope::{Epoch, Scope};
use crate::store::Store;
use crate::store::blackboard::{Blackboard, BlackboardEntry, BoardQuery};
use crate::store::text::Term;
use crate::sync::play;
use crate::time::{SystemClock, Timestamp};
use crate::working::{NewNote, WorkingConfig, WorkingTier};

const NAMES: [&str; 3] = ["one", "two", "three"];

#[expect(clippy::disallowed_methods, reason = "the one setting of these tests")]
fn schedules() -> usize {
    std::env::var("MEMORY_SCHEDULES").ok().and_then(|number| number.parse().ok()).unwrap_or(1_000)
}

fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

fn id(name: &str) -> RecordId {
    RecordId::of_content(name.as_bytes())
}

/// Runs a thread for each name, and waits for all of them.
fn threads<T: Send + Sync + 'static>(shared: &Arc<T>, act: fn(&T, &'static str)) {
    let threads = NAMES.map(|name| {
        let shared = Arc::clone(shared);
        thread::spawn(move || act(&shared, name))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn post(board: &MemBlackboard, name: &str) {
    block_on(board.put(&ada(), Epoch(0), &BlackboardEntry::new(name, name))).unwrap();
}

fn note(name: &str) -> NewNote {
    let mut record = Record::new("note", name, Timestamp(0));
    record.id = id(name);
    let terms = vec![(Term::new(name).unwrap(), 1)];
    NewNote { record: Arc::new(record), epoch: Epoch(0), terms, pieces: Vec::new() }
}

#[test]
fn s0_20_a_board_has_no_deadlock_and_stays_within_its_capacity() {
    play(schedules(), || {
        let board = Arc::new(MemBlackboard::new(Arc::new(SystemClock), 2).unwrap());
        threads(&board, |board, name| {
            let (ada, epoch) = (ada(), Epoch(0));
            post(board, name);
            block_on(board.get(&ada, epoch, name)).unwrap();
            let query = BoardQuery::Terms(vec![Term::new("one").unwrap()]);
            assert!(block_on(board.search(&ada, epoch, &query, 9)).unwrap().len() <= 2);
            block_on(board.delete(&ada, epoch, "one")).unwrap();
            block_on(board.sweep(&ada, epoch)).unwrap();
            assert!(block_on(board.stats(&ada, epoch)).unwrap().live <= 2);
        });
        let stats = block_on(board.stats(&ada(), Epoch(0))).unwrap();
        let left = NAMES.map(|name| block_on(board.get(&ada(), Epoch(0), name)).unwrap()).into_iter().flatten().count();
        assert_eq!(stats.live, left as u64);
        block_on(board.erase(&ada(), Epoch(1))).unwrap();
        assert!(block_on(board.get(&ada(), Epoch(0), "two")).is_err());
    });
}

#[test]
fn s0_20_an_overlay_has_no_deadlock_and_shows_what_was_noted_until_it_is_indexed() {
    play(schedules(), || {
        let unindexed = Arc::new(Unindexed::default());
        threads(&unindexed, |unindexed, name| {
            let item = ItemId::Record(id(name));
            unindexed.note(&ada(), [Written::record(id(name), 1, 10), Written::record(id(name), 2, 10)].into_iter());
            unindexed.remove(&ada(), [(item.clone(), 1)].into_iter());
            assert!(unindexed.of(&ada(), None).contains(&item));
            unindexed.remove(&ada(), [(item.clone(), 2)].into_iter());
            assert!(!unindexed.of(&ada(), None).contains(&item));
            unindexed.note(&ada(), [Written::record(id(name), 3, 10)].into_iter());
        });
        assert_eq!(unindexed.of(&ada(), None).len(), NAMES.len());
        unindexed.forget(&ada());
        assert_eq!(unindexed.of(&ada(), None), []);
    });
}

/// What a call of the engine uses.
struct Parts {
    board: MemBlackboard,
    boards: Boards,
    unindexed: Unindexed,
    working: WorkingTier,
}

impl Parts {
    fn new() -> Self {
        Self {
            board: MemBlackboard::new(Arc::new(SystemClock), 2).unwrap(),
            boards: Boards::default(),
            unindexed: Unindexed::default(),
            working: WorkingTier::new(WorkingConfig::default()),
        }
    }
}

#[test]
fn s0_20_calls_that_use_board_overlay_and_working_tier_have_no_deadlock() {
    play(schedules(), || {
        let parts = Arc::new(Parts::new());
        threads(&parts, |parts, name| {
            parts.boards.used(&ada(), Timestamp(0));
            post(&parts.board, name);
            parts.boards.searched(&ada(), Duration::from_millis(1));
            parts.unindexed.note(&ada(), [Written::record(id(name), 1, 10)].into_iter());
            let forgotten = parts.working.forgotten();
            // Refused if another thread forgot something in between.
            parts.working.put(&ada(), note(name), forgotten, Timestamp(0)).unwrap();
            let first = ItemId::Record(id(NAMES[0]));
            parts.unindexed.remove(&ada(), [(first.clone(), 1)].into_iter());
            parts.working.forget(&ada(), &HashSet::from([&first]));
            parts.working.sweep(Timestamp(1));
            parts.boards.take_due(Timestamp(1));
        });
        assert_eq!(parts.boards.latency(&ada()).0, NAMES.len() as u64);
    });
}

/// A mutant: one call takes the lock of the overlay while it holds the one of the boards, another one the other way around.
#[test]
fn s0_20_locks_that_are_taken_in_two_orders_are_told() {
    let played = catch_unwind(AssertUnwindSafe(|| {
        play(1_000, || {
            let parts = Arc::new(Parts::new());
            let other = Arc::clone(&parts);
            let thread = thread::spawn(move || {
                let _held = other.boards.held();
                other.unindexed.of(&ada(), None);
            });
            // The iterator is asked while the lock of the overlay is held.
            parts.unindexed.note(&ada(), [Written::record(id("one"), 1, 10)].into_iter());
            let late = std::iter::once_with(|| {
                parts.boards.used(&ada(), Timestamp(0));
                (ItemId::Record(id("two")), 1)
            });
            parts.unindexed.remove(&ada(), late);
            thread.join().unwrap();
        });
    }));
    let told = played.expect_err("no schedule of a thousand is a deadlock");
    let told = told.downcast_ref::<String>().expect("words");
    assert!(told.contains("deadlock"), "{told}");
}
