//! The id that belongs to what a text says.

use crate::analysis::{Analysis, normalise};
use crate::id::RecordId;
use crate::novelty::tokens::tokens;

/// Rises whenever the same text gets another id.
const RECIPE: &str = "fingerprint-1";

/// Returns the id that belongs to what `text` says as a record of `kind`: texts that differ only in case, punctuation,
/// the order of words, articles and such, or (in English) plurals have the same one.
///
/// Everything else counts: numbers with their signs and units, names, negations, tenses. So a text that says something
/// else gets another id, unless the order of its words alone makes the difference (`Anna owes Bob`, `Bob owes Anna`).
pub fn fingerprint(analysis: &Analysis, kind: &str, text: &str) -> RecordId {
    let mut tokens: Vec<String> = tokens(analysis, text, |word| !analysis.is_filler(word));
    if tokens.is_empty() {
        tokens = self::tokens(analysis, text, |_| true);
    }
    if tokens.is_empty() {
        tokens.push(normalise(text).trim().to_owned());
    }
    tokens.sort_unstable();
    let mut content = Vec::new();
    for part in [RECIPE, kind].into_iter().chain(tokens.iter().map(String::as_str)) {
        content.extend_from_slice(&(part.len() as u64).to_le_bytes());
        content.extend_from_slice(part.as_bytes());
    }
    RecordId::of_content(&content)
}
