//! Random terms and text entries.

use memory_core::store::text::{Term, TextEntry};
use memory_core::{Epoch, ItemId, Result, Version};

use super::{Random, fields};

/// The words of generated entries: words of query languages, words that begin others, words that differ in case.
pub const VOCABULARY: &[&str] = &[
    "OR", "AND", "NOT", "NEAR", "or", "not", "a", "A", "ab", "abc", "0", "00", "1", "1e5", "null", "tea", "teapot",
    "river", "stone", "glass", "lamp", "winter", "Winter", "x1f600", "NaN", "true", "title", "id", "scope", "zz",
];

/// Returns one term of [`VOCABULARY`].
///
/// # Errors
/// None: every word is a legal term.
pub fn term(random: &mut Random) -> Result<Term> {
    Term::new(random.pick(VOCABULARY))
}

/// Returns up to `most` different terms, at least one.
///
/// # Errors
/// None: every word is a legal term.
pub fn terms(random: &mut Random, most: usize) -> Result<Vec<Term>> {
    let mut terms = vec![term(random)?];
    for _ in 1..1 + random.below(most) {
        let term = term(random)?;
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    Ok(terms)
}

/// Returns a random entry for `item`: own and near terms, either of which may be missing, and random fields.
///
/// # Errors
/// None: every word is a legal term.
pub fn entry(random: &mut Random, item: ItemId, revision: u64) -> Result<TextEntry> {
    let own = if random.chance(9, 10) { terms(random, 8)? } else { Vec::new() };
    let near = if random.chance(1, 2) { terms(random, 5)? } else { Vec::new() };
    let unit = item.unit();
    Ok(TextEntry {
        item,
        version: Version { epoch: Epoch(0), revision },
        own: own.into_iter().map(|term| (term, count(random))).collect(),
        near: near.into_iter().map(|term| (term, random.pick(&[0.25f32, 0.5, 0.1, 1.0 / 3.0, 1.5, 7.0]))).collect(),
        fields: fields(random, unit),
    })
}

fn count(random: &mut Random) -> u32 {
    if random.chance(1, 20) { 100_000 } else { 1 + u32::try_from(random.below(4)).unwrap_or(0) }
}
