//! The candidates of a search, before their items are read.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::time::Timestamp;

/// An item that may be a hit.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Its score.
    pub score: f32,
    /// When the message was said, or the record made.
    pub at: Timestamp,
    /// The item's number.
    pub item: i64,
    /// The place of its evidence in the caller's list.
    pub place: usize,
}

/// Orders candidates by what is known without reading the item. Ties are broken later, by the item.
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

/// Takes the `count` best candidates, and all that tie with the last of them.
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
