//! What a text states: its words and the signs that carry meaning, in order.

use unicode_normalization::char::is_combining_mark;

use crate::analysis::{Analysis, Language, normalise};
use crate::novelty::tokens::{is_punctuation, singular};

/// A statement that begins with one of these asks.
const ASKING: [&str; 3] = ["is", "are", "am"];

/// Returns the words of `text` that `is_kept` keeps, without case and (in English) without plural, and its signs, in order.
pub(super) fn statement(analysis: &Analysis, text: &str, is_kept: impl Fn(&str) -> bool) -> Vec<String> {
    let is_english = analysis.language() == Some(Language::English);
    let chunks: Vec<&str> = text.split_whitespace().collect();
    let mut parts = Vec::new();
    let mut is_first = true;
    for (place, chunk) in chunks.iter().enumerate() {
        analysis.words(chunk, &mut |word| {
            let asks = is_first && is_english && chunks.len() > 1 && ASKING.contains(&word);
            is_first = false;
            if asks || is_kept(word) {
                parts.push(if is_english { singular(word) } else { word.to_owned() });
            }
        });
        let before = place.checked_sub(1).and_then(|before| chunks.get(before)?.chars().next_back());
        let after = chunks.get(place + 1).and_then(|after| after.chars().next());
        push_signs(chunk, [before, after], &mut parts);
    }
    parts
}

/// Adds the signs of `chunk` that carry meaning. A sign that stands alone has the neighbours of its chunk.
fn push_signs(chunk: &str, around: [Option<char>; 2], parts: &mut Vec<String>) {
    // Other shapes of digits are digits to the words: `²`, `½`, `①`.
    parts.extend(chunk.chars().filter(|c| is_shaped_digit(*c)).map(String::from));
    let chunk = normalise(chunk);
    let is_alone = chunk.chars().nth(1).is_none();
    let [mut before, after] = if is_alone { around } else { [None; 2] };
    let mut rest = chunk.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().or(after);
        if carries_meaning(c, before, next, is_alone) {
            let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
            let side = |is_digit: bool| if is_digit { "0" } else { "" };
            // U+2212 is the minus of typesetters.
            let sign = if c == '\u{2212}' { '-' } else { c };
            parts.push(format!("{}{sign}{}", side(is_digit(before)), side(is_digit(next))));
        }
        before = Some(c);
    }
}

fn is_shaped_digit(c: char) -> bool {
    let is_plain = matches!(c, '\u{ff10}'..='\u{ff19}' | '\u{1d7ce}'..='\u{1d7ff}');
    let is_shaped = c.is_numeric() || matches!(c, '\u{2070}'..='\u{209f}');
    !c.is_ascii() && is_shaped && !is_plain && normalise(c.encode_utf8(&mut [0; 4])).chars().any(|c| c.is_ascii())
}

/// Returns whether a text says something else without the sign `c` at this place.
fn carries_meaning(c: char, before: Option<char>, next: Option<char>, is_alone: bool) -> bool {
    let is = |neighbour: Option<char>, test: fn(char) -> bool| neighbour.is_some_and(test);
    let (digit_before, digit_next) = (is(before, |c| c.is_ascii_digit()), is(next, |c| c.is_ascii_digit()));
    let (word_before, word_next) = (is(before, char::is_alphanumeric), is(next, char::is_alphanumeric));
    if c.is_alphanumeric() || c.is_whitespace() || is_combining_mark(c) {
        return false;
    }
    if digit_before && digit_next {
        return true;
    }
    match c {
        '$' | '%' | '<' | '>' | '=' | '+' | '#' | '~' | '^' | '|' | '&' | '@' | '/' | '\\' => true,
        '.' => word_next && before != Some('.') && !is_alone,
        '*' | '_' => word_before && word_next,
        '-' | '\u{2212}' => digit_next && !word_before && !is_alone,
        '!' => next == Some('=') || (word_next && !word_before && !is_alone),
        _ => !c.is_ascii() && !is_punctuation(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(text: &str) -> Vec<String> {
        let analysis = Analysis::english();
        statement(&analysis, text, |_| false)
    }

    #[test]
    fn punctuation_carries_no_meaning() {
        for text in [
            "Hello, world! (Really?)",
            "“Hello” – he said… «oui»。",
            "a well-known dog's tail",
            "wait... what;",
            "* a point",
        ] {
            assert_eq!(signs(text), [""; 0], "{text}");
        }
        assert_eq!(signs("at 10 - perhaps"), [""; 0]);
    }

    #[test]
    fn signs_stand_with_the_side_of_the_number_they_are_at() {
        assert_eq!(signs("-5.5 degrees, 22% of $1,000"), ["-0", "0.0", "0%", "$0", "0,0"]);
        assert_eq!(signs("a != b, file.txt, 5 - 3, a * b, 10²"), ["!", "=", ".", "0-0", "*", "²"]);
        assert_eq!(signs("c++ and c# 18+ 😀"), ["+", "+", "#", "0+", "😀"]);
    }
}
