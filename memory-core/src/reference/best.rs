//! The best of many candidates, in the order that every search promises.

#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::ItemId;

/// A candidate. The greater is the better: by score, then the newer, then the item that comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) score: f32,
    pub(super) item: &'a ItemId,
    pub(super) fields: &'a Fields,
    /// Where the caller finds the rest.
    pub(super) place: usize,
}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let newer = || self.fields.at.cmp(&other.fields.at);
        let first = || other.item.cmp(self.item);
        self.score.total_cmp(&other.score).then_with(newer).then_with(first)
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate<'_> {}

/// Keeps the best candidates that match a filter.
///
/// The filter is asked only about candidates that would be kept: the result is that of filtering first.
#[derive(Debug)]
pub(super) struct Best<'a> {
    limit: usize,
    filter: &'a Filter,
    kept: BinaryHeap<Reverse<Candidate<'a>>>,
}

impl<'a> Best<'a> {
    pub(super) fn new(limit: usize, filter: &'a Filter) -> Self {
        Self { limit, filter, kept: BinaryHeap::new() }
    }

    pub(super) fn offer(&mut self, candidate: Candidate<'a>) {
        let is_full = self.kept.len() >= self.limit;
        if is_full && self.kept.peek().is_none_or(|Reverse(worst)| candidate <= *worst) {
            return;
        }
        if !self.filter.matches(candidate.fields) {
            return;
        }
        self.kept.push(Reverse(candidate));
        if is_full {
            self.kept.pop();
        }
    }

    /// Returns what was kept, best first.
    pub(super) fn into_sorted(self) -> impl Iterator<Item = Candidate<'a>> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate)
    }
}
