//! Choosing the best of many candidates, in the order that every search promises.

#[cfg(test)]
mod tests;

use std::cmp::{Ordering, Reverse};

use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::ItemId;

/// The item and fields of a candidate, if known.
pub(super) type Known<'a> = Option<(&'a ItemId, &'a Fields)>;

/// Returns the places of the best `limit` candidates that match `filter`, best first: by score, then newer first, then by item.
/// A candidate that `known` does not know never matches.
///
/// It asks `known` only to break ties, and applies the filter only to the best, as long as all of them match. Usually they do,
/// and reading an item costs more than scoring it.
pub(super) fn best<'a>(
    mut candidates: Vec<(f32, usize)>,
    limit: usize,
    filter: &Filter,
    known: impl Fn(usize) -> Known<'a>,
) -> Vec<usize> {
    let rest = |place: usize| known(place).map(|(item, fields)| (Reverse(fields.at), item));
    let order = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then_with(|| rest(a.1).cmp(&rest(b.1)));
    let matches = |(_, place): &(f32, usize)| known(*place).is_some_and(|(_, fields)| filter.matches(fields));
    let mut sorted = sort_first(&mut candidates, limit, order);
    let first = candidates.iter().take(sorted).filter(|candidate| matches(candidate)).count();
    if first < sorted {
        candidates.retain(matches);
        let others = candidates.get_mut(first..).unwrap_or_default();
        sorted = first + sort_first(others, limit - first, order);
    }
    candidates.truncate(sorted);
    candidates.into_iter().map(|(_, place)| place).collect()
}

/// Moves the first `limit` to the front, in order; returns how many there are.
fn sort_first<T>(items: &mut [T], limit: usize, order: impl Fn(&T, &T) -> Ordering) -> usize {
    let count = limit.min(items.len());
    if let Some(last) = count.checked_sub(1).filter(|_| count < items.len()) {
        items.select_nth_unstable_by(last, &order);
    }
    items.get_mut(..count).unwrap_or_default().sort_unstable_by(&order);
    count
}
