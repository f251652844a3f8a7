//! A counter that needs no tables.

#[cfg(test)]
mod tests;

use super::count_message;
use crate::message::Message;
use crate::model::TokenCounter;

/// The longest run of letters that counts as a word.
const LONGEST_WORD: usize = 16;

/// Estimates tokens from the characters, for models whose tokenizer is not at hand.
///
/// Letters of ASCII words count 1 per 4, digits 1 per 2, other ASCII and line breaks 1 each, characters beyond ASCII
/// their bytes, all of it times 1.3, and one for what averages miss in short texts; the count never exceeds the bytes. Each word and each number counts whole
/// tokens. A word ends where `camelCase` begins another. Letters that make no words count more: 1 per 2 in capitals
/// and in runs of more than 16, 3 per 4 where the case changes at least every third letter. The blank before a word or
/// a sign is free; any other run of blanks counts 1, and 1 more for each 16.
///
/// It does not under-estimate cl100k and o200k on prose, JSON, code, hex, base64, Chinese, Japanese, Korean, emoji and
/// blanks, and is about twice the count on prose. Languages that are rare in those vocabularies yet written in ASCII,
/// such as Zulu or Welsh, may have up to a tenth more tokens than it says.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeuristicCounter;

impl TokenCounter for HeuristicCounter {
    fn name(&self) -> &str {
        "heuristic"
    }

    fn count(&self, message: &Message) -> u64 {
        count_message(message, &|text| self.count_text(text))
    }

    fn count_text(&self, text: &str) -> u64 {
        let mut sum = 0_u64;
        let mut rest = text.as_bytes();
        while let Some(run) = Run::first(rest) {
            let (run_bytes, after) = rest.split_at(run.length(rest));
            sum += run.tokens(run_bytes, after);
            rest = after;
        }
        let bytes = text.len() as u64;
        (sum.saturating_mul(13).div_ceil(10) + 1).min(bytes)
    }
}

/// A stretch of bytes of one kind.
#[derive(Clone, Copy)]
enum Run {
    Letters,
    Digits,
    Blanks,
    Other,
}

impl Run {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letters,
            b'0'..=b'9' => Self::Digits,
            b' ' | b'\t' => Self::Blanks,
            _ => Self::Other,
        }
    }

    fn first(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|byte| Self::of(*byte))
    }

    fn length(self, bytes: &[u8]) -> usize {
        let same = |byte: &u8| std::mem::discriminant(&Self::of(*byte)) == std::mem::discriminant(&self);
        bytes.iter().position(|byte| !same(byte)).unwrap_or(bytes.len())
    }

    fn tokens(self, run: &[u8], after: &[u8]) -> u64 {
        let tokens = match self {
            Self::Letters => letters(run),
            Self::Digits => run.len().div_ceil(2),
            Self::Blanks => blanks(run, after),
            Self::Other => run.len(),
        };
        tokens as u64
    }
}

fn letters(run: &[u8]) -> usize {
    let mut words = 0;
    let mut tokens = 0;
    let mut rest = run;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word_length(rest));
        let is_capitals = word.len() > 1 && word.iter().all(u8::is_ascii_uppercase);
        let per_token = if is_capitals || word.len() > LONGEST_WORD { 2 } else { 4 };
        tokens += word.len().div_ceil(per_token);
        words += 1;
        rest = after;
    }
    let is_ragged = words > 1 && run.len() < 3 * words;
    if is_ragged { tokens.max((run.len() * 3).div_ceil(4)) } else { tokens }
}

/// Returns where the first word of a run of letters ends: before a capital that follows a small letter, and before the
/// last of several capitals that a small letter follows (`HTTPResponse`).
fn word_length(letters: &[u8]) -> usize {
    let ends = |window: &[u8]| match window {
        [before, next, ..] if before.is_ascii_lowercase() && next.is_ascii_uppercase() => true,
        [before, next, after] => before.is_ascii_uppercase() && next.is_ascii_uppercase() && after.is_ascii_lowercase(),
        _ => false,
    };
    let mut tail = letters;
    while let [_, after @ ..] = tail {
        if ends(tail.get(..3).unwrap_or(tail)) {
            return letters.len() - after.len();
        }
        tail = after;
    }
    letters.len()
}

fn blanks(run: &[u8], after: &[u8]) -> usize {
    let joins_next = match Run::first(after) {
        Some(Run::Letters | Run::Other) => true,
        Some(Run::Digits | Run::Blanks) | None => false,
    };
    if run == b" " && joins_next { 0 } else { 1 + run.len() / 16 }
}
