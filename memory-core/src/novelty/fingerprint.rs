//! The id that belongs to what a text says.

use crate::analysis::{Analysis, normalise};
use crate::id::RecordId;
use crate::novelty::statement::statement;
use crate::novelty::tokens::tokens;

/// Rises whenever the same text gets another id.
const RECIPE: &str = "fingerprint-2";

/// Returns the id that belongs to what `text` says as a record of `kind`: texts that differ only in case, punctuation,
/// articles and such, or (in English) plurals have the same one.
///
/// Everything else counts: the order of words, numbers with their signs and units, names, negations, tenses.
pub fn fingerprint(analysis: &Analysis, kind: &str, text: &str) -> RecordId {
    let mut parts = statement(analysis, text, |word| !analysis.is_filler(word));
    if parts.is_empty() {
        parts = statement(analysis, text, |_| true);
    }
    id(RECIPE, kind, text, parts)
}

/// Returns the id that the text had before order counted, under which records are still stored.
pub(crate) fn fingerprint_before(analysis: &Analysis, kind: &str, text: &str) -> RecordId {
    let mut parts = tokens(analysis, text, |word| !analysis.is_filler(word));
    if parts.is_empty() {
        parts = tokens(analysis, text, |_| true);
    }
    parts.sort_unstable();
    id("fingerprint-1", kind, text, parts)
}

fn id(recipe: &str, kind: &str, text: &str, mut parts: Vec<String>) -> RecordId {
    if parts.is_empty() {
        parts.push(normalise(text).trim().to_owned());
    }
    let mut content = Vec::new();
    for part in [recipe, kind].into_iter().chain(parts.iter().map(String::as_str)) {
        content.extend_from_slice(&(part.len() as u64).to_le_bytes());
        content.extend_from_slice(part.as_bytes());
    }
    RecordId::of_content(&content)
}
