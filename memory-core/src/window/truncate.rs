//! Cutting the middle out of texts that are too long for a context.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::sync::Arc;

use super::frame::count_shown;
use crate::id::SeqRange;
use crate::message::{Block, Message, StoredMessage};
use crate::model::TokenCounter;

/// How many guesses find the length of one text. Each halves what may be cut too much.
const GUESSES: usize = 14;

/// Cuts texts of rows, the largest row first, until they have `over` tokens fewer. Returns the cut rows; none if that is
/// impossible.
pub(super) fn shrink(
    mut rows: Vec<(usize, &StoredMessage)>,
    mut over: u64,
    counter: &dyn TokenCounter,
) -> Option<Vec<(usize, StoredMessage)>> {
    let mut cut = Vec::new();
    rows.sort_by_key(|(_, row)| Reverse(row.tokens));
    for (index, row) in rows {
        if over == 0 {
            break;
        }
        let Some(message) = &row.message else { continue };
        let goal = row.tokens.saturating_sub(over);
        let (message, tokens) = shorten(message, row.covers, row.tokens, goal, counter);
        if tokens < row.tokens {
            over = over.saturating_sub(row.tokens - tokens);
            cut.push((index, StoredMessage { message: Some(Arc::new(message)), tokens, ..row.clone() }));
        }
    }
    (over == 0).then_some(cut)
}

/// Cuts the texts of a message, or of a summary of `covers`, the longest first, until it has at most `goal` tokens as it stands in a
/// context. Returns it with its tokens. The message is counted a few times, however many texts it has.
fn shorten(
    message: &Message,
    covers: Option<SeqRange>,
    tokens: u64,
    goal: u64,
    counter: &dyn TokenCounter,
) -> (Message, u64) {
    let mut copy = message.clone();
    if tokens <= goal {
        return (copy, tokens);
    }
    let long = savings(&mut copy, counter);
    let empty = |copy: &mut Message, most: usize| {
        let mut places = texts(&mut copy.blocks);
        for (rank, (index, text)) in long.iter().enumerate() {
            if let Some(place) = places.get_mut(*index) {
                **place = if rank < most { without_middle(text, 0) } else { text.clone() };
            }
        }
    };
    // Emptying the `few` longest is too little; emptying `many` suffices, or is all there are.
    let (mut few, mut many) = (0, long.len());
    while few + 1 < many {
        let middle = usize::midpoint(few, many);
        empty(&mut copy, middle);
        if count_shown(&copy, covers, counter) <= goal {
            many = middle;
        } else {
            few = middle;
        }
    }
    let Some((index, text)) = long.get(few) else { return (copy, tokens) };
    empty(&mut copy, few);
    let (shorter, left) = cut_middle(text, goal, &mut |shorter| {
        put(&mut copy, *index, shorter);
        count_shown(&copy, covers, counter)
    });
    put(&mut copy, *index, &shorter);
    (copy, left)
}

/// Returns the texts that get shorter when replaced by the cut mark, with their indexes, the longest first.
fn savings(message: &mut Message, counter: &dyn TokenCounter) -> Vec<(usize, String)> {
    let saves = |text: &str| counter.count_text(&without_middle(text, 0)) < counter.count_text(text);
    let texts = texts(&mut message.blocks).into_iter().enumerate().filter(|(_, text)| saves(text));
    let mut long: Vec<(usize, String)> = texts.map(|(index, text)| (index, text.clone())).collect();
    long.sort_by_key(|(_, text)| Reverse(text.len()));
    long
}

/// Puts `text` in the place of the text of a message that has this index.
fn put(message: &mut Message, index: usize, text: &str) {
    if let Some(place) = texts(&mut message.blocks).get_mut(index) {
        text.clone_into(place);
    }
}

/// Cuts as little of the middle of `text` as brings `count` down to `goal`, or all of it if nothing does. Returns it with its
/// count.
pub(super) fn cut_middle(text: &str, goal: u64, count: &mut dyn FnMut(&str) -> u64) -> (String, u64) {
    let mut try_keeping = |kept: usize| {
        let shorter = without_middle(text, kept);
        let tokens = count(&shorter);
        (shorter, tokens)
    };
    let mut best = try_keeping(0);
    if best.1 > goal {
        return best;
    }
    let (mut low, mut high) = (0, text.len());
    for _ in 0..GUESSES {
        let middle = usize::midpoint(low, high);
        if middle == low {
            break;
        }
        let attempt = try_keeping(middle);
        if attempt.1 <= goal {
            (best, low) = (attempt, middle);
        } else {
            high = middle;
        }
    }
    best
}

/// Returns the first and the last half of `kept` bytes, with a mark in between that says how much is missing.
fn without_middle(text: &str, kept: usize) -> String {
    let head = text.get(..text.floor_char_boundary(kept.div_ceil(2))).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - kept / 2)..).unwrap_or_default();
    let missing = text.chars().count() - head.chars().count() - tail.chars().count();
    format!("{head}[… {missing} characters cut …]{tail}")
}

/// Returns the texts of the blocks, including results. Arguments of calls are left out, because cut JSON is invalid.
fn texts(blocks: &mut [Block]) -> Vec<&mut String> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            Block::Text { text, .. } => found.push(text),
            Block::ToolResult { content, .. } => found.extend(texts(content)),
            _ => {}
        }
    }
    found
}
