//! The texts that a summary must keep: numbers, ids and names.

use std::collections::BTreeSet;

use crate::message::StoredMessage;
use crate::model::TokenCounter;

/// The most bytes of a text that must survive; longer ones are data.
const LONGEST: usize = 100;

/// Returns the numbers, ids, addresses and names in the messages, in the order of their first mention.
///
/// Returns as many as `most` tokens allow, and prefers those of newer messages. A name is a capitalised word that does not
/// begin a sentence.
pub fn must_keep(rows: &[StoredMessage], most: u64, counter: &dyn TokenCounter) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut left = most;
    for row in rows.iter().rev() {
        let Some(message) = &row.message else { continue };
        for word in telling_words(&message.text()) {
            if left == 0 || seen.contains(&word) {
                continue;
            }
            // The separator counts too.
            let cost = counter.count_text(&word).saturating_add(1);
            if cost <= left {
                left -= cost;
                seen.insert(word.clone());
                found.push(word);
            }
        }
    }
    let texts: Vec<_> = rows.iter().filter_map(|row| row.message.as_ref()).map(|message| message.text()).collect();
    let place =
        |word: &String| texts.iter().enumerate().find_map(|(index, text)| Some((index, text.find(word.as_str())?)));
    found.sort_by_cached_key(place);
    found
}

/// Returns the identifiers and names in a text.
pub(crate) fn telling_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut begins = true;
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|character: char| !character.is_alphanumeric());
        let is_identifier =
            word.chars().any(|c| c.is_ascii_digit()) || ["://", "@", "_"].iter().any(|part| word.contains(part));
        let is_name = !begins && word.chars().count() > 1 && word.chars().next().is_some_and(char::is_uppercase);
        if (is_identifier || is_name) && word.len() <= LONGEST {
            found.push(word.to_owned());
        }
        begins = raw.ends_with(['.', '!', '?', ':', '…']);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Message, Role};
    use crate::time::Timestamp;
    use crate::window::HeuristicCounter;

    fn rows(texts: &[&str]) -> Vec<StoredMessage> {
        let row = |text: &&str| StoredMessage::of_tests(1, 9, Message::new(Role::User, *text, Timestamp(0)));
        texts.iter().map(row).collect()
    }

    #[test]
    fn numbers_ids_addresses_and_names_are_found_in_order() {
        let said = ["Hello there. My name is Charlie Brown, born 1974.", "Write to c@example.org about order_id A-17!"];
        let kept = must_keep(&rows(&said), 1_000, &HeuristicCounter);
        assert_eq!(kept, ["Charlie", "Brown", "1974", "c@example.org", "order_id", "A-17"]);
    }

    #[test]
    fn newer_ones_come_first_where_space_is_short() {
        let kept = must_keep(&rows(&["it was 11", "it was 22", "it was 33"]), 4, &HeuristicCounter);
        assert_eq!(kept, ["22", "33"]);
        assert!(must_keep(&rows(&["it was 11"]), 0, &HeuristicCounter).is_empty());
    }

    #[test]
    fn what_is_kept_is_in_the_messages_word_for_word() {
        let said = [format!("see {} and (B2), \u{201c}C3\u{201d}.", "x1".repeat(400))];
        let rows = rows(&[&said[0]]);
        let kept = must_keep(&rows, 1_000, &HeuristicCounter);
        assert_eq!(kept, ["B2", "C3"]);
    }

    #[test]
    fn each_text_is_kept_once_and_a_letter_is_no_name() {
        let kept = must_keep(&rows(&["so I met Ada in 1974", "then I met Ada"]), 1_000, &HeuristicCounter);
        assert_eq!(kept, ["Ada", "1974"]);
    }
}
