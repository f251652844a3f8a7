//! Pieces: texts cut into parts that an embedder can read whole.

use std::ops::Range;

use crate::analysis::{head_of, is_dense};
use crate::message::Message;
use crate::record::Record;

use super::message::has_words;

/// How many words a piece holds by default: small models read 256 tokens, and an English word has 1.3 on average.
pub const PIECE_WORDS: usize = 180;

/// The bytes of a run without blanks that count as one word. Models split longer runs into many tokens.
const WORD_BYTES: usize = 32;

/// Returns the texts to embed for a message: its text in pieces of at most `words` words, each after the speaker's name. None
/// for a message without words.
pub fn message_pieces(message: &Message, words: usize) -> Vec<String> {
    let text = message.text();
    if !has_words(&text) {
        return Vec::new();
    }
    let Some(speaker) = &message.speaker else { return pieces(&text, words) };
    let left = words.saturating_sub(units(speaker).count());
    pieces(&text, left).into_iter().map(|piece| format!("{speaker}: {piece}")).collect()
}

/// Returns the texts to embed for a record: its text in pieces of at most `words` words.
pub fn record_pieces(record: &Record, words: usize) -> Vec<String> {
    pieces(&record.text, words)
}

/// Cuts `text` into pieces of at most `words` words, at least 1, that do not overlap. Drops only blanks between pieces, and
/// what is beyond [`crate::analysis::DOCUMENT_BYTES`].
fn pieces(text: &str, words: usize) -> Vec<String> {
    passages(text, words).map(str::to_owned).collect()
}

/// Cuts `text` into pieces as [`message_pieces`] does, without a speaker.
pub(crate) fn passages(text: &str, words: usize) -> impl Iterator<Item = &str> {
    let text = head_of(text);
    let mut units = units(text);
    std::iter::from_fn(move || {
        let Range { start, mut end } = units.next()?;
        if let Some(last) = units.by_ref().take(words.max(1) - 1).last() {
            end = last.end;
        }
        text.get(start..end)
    })
}

/// Returns the units that count as one word: a run without blanks, 32 bytes of a longer run, or a character of a dense script.
fn units(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let (start, first) = rest.next()?;
        let mut end = start + first.len_utf8();
        if !is_dense(first) {
            while let Some((at, c)) =
                rest.next_if(|(at, c)| !c.is_whitespace() && !is_dense(*c) && at - start < WORD_BYTES)
            {
                end = at + c.len_utf8();
            }
        }
        Some(start..end)
    })
}
