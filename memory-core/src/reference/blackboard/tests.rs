use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::time::{SystemClock, Timestamp};

fn entry(key: u8, ttl: Option<u64>) -> BlackboardEntry {
    let entry = BlackboardEntry::new(key.to_string(), "value");
    ttl.map_or(entry.clone(), |ttl| entry.with_ttl(Duration::from_micros(ttl)))
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Option<u64>),
    Get(u8),
    Delete(u8),
    Wait(i64),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..8u8, prop::option::of(1..6u64)).prop_map(|(key, ttl)| Step::Put(key, ttl)),
        3 => (0..8u8).prop_map(Step::Get),
        1 => (0..8u8).prop_map(Step::Delete),
        2 => (1..4i64).prop_map(Step::Wait),
        1 => Just(Step::Sweep),
    ]
}

#[test]
fn boards_of_no_entries_are_refused() {
    let board = |capacity| MemBlackboard::new(Arc::new(SystemClock), capacity);
    assert!(matches!(board(0), Err(Error::Invalid { .. })));
    assert!(board(1).is_ok());
}

proptest! {
    #[test]
    fn keeps_the_live_entries_that_were_used_last(
        steps in prop::collection::vec(step(), 0..80),
        capacity in 1..5usize,
    ) {
        let mut board = Board::default();
        // Live and expired entries with their expiry, the least recently used first.
        let mut kept: VecDeque<(u8, Option<i64>)> = VecDeque::new();
        let mut now = 0i64;
        for step in steps {
            let is_live = |at: &Option<i64>| at.is_none_or(|at| at > now);
            match step {
                Step::Put(key, ttl) => {
                    let at = ttl.map(|ttl| now + ttl as i64);
                    kept.retain(|(k, _)| *k != key);
                    if kept.len() >= capacity {
                        kept.retain(|(_, at)| is_live(at));
                    }
                    let gone: Vec<String> =
                        kept.drain(..(kept.len() + 1).saturating_sub(capacity)).map(|(key, _)| key.to_string()).collect();
                    kept.push_back((key, at));
                    let evicted = board.put(&entry(key, ttl), None, Timestamp(now), at.map(Timestamp), capacity);
                    prop_assert_eq!(evicted, gone);
                }
                Step::Get(key) => {
                    let found = kept.iter().position(|(k, at)| *k == key && is_live(at));
                    prop_assert_eq!(board.get(&key.to_string(), Timestamp(now)).is_some(), found.is_some());
                    if let Some(used) = found.and_then(|place| kept.remove(place)) {
                        kept.push_back(used);
                    }
                }
                Step::Delete(key) => {
                    let is_there = kept.iter().any(|(k, at)| *k == key && is_live(at));
                    kept.retain(|(k, _)| *k != key);
                    prop_assert_eq!(board.delete(&key.to_string(), Timestamp(now)), is_there);
                }
                Step::Wait(by) => now += by,
                Step::Sweep => {
                    let before = kept.len();
                    kept.retain(|(_, at)| is_live(at));
                    prop_assert_eq!(board.sweep(Timestamp(now)), (before - kept.len()) as u64);
                }
            }
            let stats = board.stats(capacity as u64, Timestamp(now));
            let live = kept.iter().filter(|(_, at)| at.is_none_or(|at| at > now)).count() as u64;
            prop_assert_eq!((stats.live, stats.expired), (live, kept.len() as u64 - live));
        }
    }
}
