//! Which sentences of a message are the person's own. Pure functions.

use std::ops::Range;

use crate::message::{Block, Message};
use crate::window::sentences;

/// Marks that open a quotation, and those that close it.
const MARKS: &[(char, &[char])] = &[('"', &['"']), ('“', &['”']), ('„', &['“', '”']), ('«', &['»'])];

/// Returns what was written by hand: not the results of tools, which some vendors send in messages of the person.
pub(super) fn own_text(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<&str>>().join("\n")
}

/// Returns the sentences of a text that are neither quoted nor introduced by a line that ends with a colon, such as what is to
/// be translated. A line that begins with `>` is quoted.
pub(super) fn own_sentences(text: &str) -> Vec<&str> {
    let quoted = quotations(text);
    let place = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let is_quoted = |part: &&str| quoted.iter().any(|range| range.contains(&place(part)));
    let (mut own, mut is_introduced, mut is_begun) = (Vec::new(), false, false);
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            // The blank line between a colon and what it introduces ends nothing.
            is_introduced &= !is_begun;
            continue;
        }
        if !is_introduced && !line.starts_with('>') {
            own.extend(sentences(line).filter(|sentence| !is_quoted(sentence)));
        }
        is_begun = is_introduced;
        if line.ends_with(':') {
            (is_introduced, is_begun) = (true, false);
        }
    }
    own
}

/// Returns where the quotations of a text stand. A mark that nothing closes quotes nothing, and `"` behind a digit opens nothing: it
/// stands for inches.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut until, mut before) = (Vec::new(), 0, ' ');
    for (at, mark) in text.char_indices() {
        let is_measure = std::mem::replace(&mut before, mark).is_numeric() && mark == '"';
        if is_measure || at < until {
            continue;
        }
        let Some((_, closing)) = MARKS.iter().find(|(opening, _)| *opening == mark) else { continue };
        let inside = at + mark.len_utf8();
        if let Some(length) = text.get(inside..).and_then(|rest| rest.find(*closing)) {
            until = inside + length + 1;
            found.push(at..until);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_or_introduced_is_not_the_persons_own() {
        for (text, own) in [
            ("I like tea. I live in Lisbon.", vec!["I like tea.", "I live in Lisbon."]),
            ("He wrote \"Hi. I live in Rome. Bye.\" and left. I like tea.", vec!["He wrote \"Hi.", "I like tea."]),
            ("Er sagt: „Hallo. Ich wohne in Rom. Ciao“. Ich mag Tee.", vec!["Er sagt: „Hallo.", "Ich mag Tee."]),
            ("Il dit : «Bonjour. J'habite à Rome». Bien.", vec!["Il dit : «Bonjour.", "Bien."]),
            ("> Hello. I live in Rome.\nI like tea.", vec!["I like tea."]),
            ("Translate this:\n\nI live in Rome. I like tea.\n\nThanks.", vec!["Translate this:", "Thanks."]),
            ("他说“Hi. I live in Rome. Bye”. I like tea.", vec!["他说“Hi.", "I like tea."]),
            (
                "It is 55\" wide. I live in Lisbon. The other is 60\".",
                vec!["It is 55\" wide.", "I live in Lisbon.", "The other is 60\"."],
            ),
            ("It has 5\" and is new. I live in Lisbon.", vec!["It has 5\" and is new.", "I live in Lisbon."]),
        ] {
            assert_eq!(own_sentences(text), own, "{text}");
        }
    }
}
