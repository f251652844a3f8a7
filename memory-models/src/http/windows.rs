//! Long texts cut into parts that a model reads whole.

use memory_core::model::TokenCounter;
use memory_core::window::HeuristicCounter;

/// Returns the text in windows of at most `most` tokens each, by a count that is rather too high: the whole text if it fits, else
/// halves of halves, cut at blanks where there are any.
pub(super) fn windows(text: &str, most: u64) -> Vec<&str> {
    let mut windows = Vec::new();
    let mut rest = vec![text];
    while let Some(part) = rest.pop() {
        if part.trim().is_empty() {
            continue;
        }
        match halves(part).filter(|_| tokens(part) > most) {
            Some((first, second)) => rest.extend([second, first]),
            None => windows.push(part),
        }
    }
    windows
}

/// Returns how many tokens a text has at the most.
pub(super) fn tokens(text: &str) -> u64 {
    HeuristicCounter.count_text(text)
}

/// Cuts a text behind the last blank of its first half, or in the middle; none for a single character.
fn halves(text: &str) -> Option<(&str, &str)> {
    let middle = text.floor_char_boundary(text.len() / 2);
    let first = text.get(..middle)?;
    let blank = first.rfind(char::is_whitespace).map(|at| text.ceil_char_boundary(at + 1));
    // A blank near the beginning would halve nothing.
    let cut = blank.filter(|at| *at >= middle / 2).unwrap_or(middle);
    let cut = if cut == 0 { text.ceil_char_boundary(1) } else { cut };
    (cut < text.len()).then(|| text.split_at(cut))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_one_window() {
        assert_eq!(windows("What was it?", 100), ["What was it?"]);
        assert_eq!(windows(" \n ", 100), [""; 0]);
    }

    #[test]
    fn windows_end_at_blanks_where_there_are_any() {
        let text = "one two three four five six seven eight nine ten".repeat(20);
        for window in windows(&text, 20) {
            assert!(tokens(window) <= 20, "{window:?}");
        }
        assert!(windows(&"x".repeat(64 << 10), 1_000).len() > 8);
    }

    proptest! {
        #[test]
        fn windows_hold_all_words_in_order_and_keep_their_bound(text in "[a-z é中😀\n]{0,400}", most in 1..40_u64) {
            let windows = windows(&text, most);
            let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeezed(&windows.concat()), squeezed(&text));
            for window in windows {
                prop_assert!(tokens(window) <= most || window.chars().count() == 1, "{window:?}");
            }
        }
    }
}
