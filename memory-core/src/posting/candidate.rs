//! Candidates of a search before their items are looked at.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Timestamp;

/// An item that may be an answer.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its score.
    pub score: f32,
    /// When it was said or made.
    pub at: Timestamp,
    /// The item's number.
    pub item: i64,
    /// Where the caller keeps what else is known of it.
    pub place: usize,
}

/// Candidates are ordered by what is known without a look at the item; equal ones are told apart by the item.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Takes the `count` best candidates, and those that tie with the last of them.
pub fn take_best(heap: &mut BinaryHeap<Candidate>, count: usize) -> Vec<Candidate> {
    let mut taken: Vec<Candidate> = Vec::with_capacity(count.min(heap.len()));
    while let Some(next) = heap.peek() {
        if taken.len() >= count && taken.last() != Some(next) {
            break;
        }
        taken.extend(heap.pop());
    }
    taken
}
