//! Whether something is said again: in the same words or in fewer, and with nothing that was not said. Pure functions.

use std::collections::HashSet;

use crate::message::Message;
use crate::window::telling_words;

/// Words that lead on from a value to more of it, such as where a town is.
const LINKS: &[&str] = &[
    "in", "at", "on", "near", "by", "from", "of", "for", "with", "since", "bei", "seit", "von", "an", "am", "im", "en",
    "cerca", "de", "del", "desde", "para", "a", "à", "près", "chez", "depuis", "em", "perto", "no", "na", "do", "da",
];

/// Slots that hold the name of one person.
const PERSONS: &[&str] =
    &["name", "wife", "husband", "partner", "girlfriend", "boyfriend", "mother", "father", "mum", "mom", "dad", "boss"];

/// Returns whether a value that was said of a slot is `known`, or its beginning: "Porto" of "Porto in Portugal". A beginning ends
/// before a link or a number, and is no number itself: "teacher" is not the beginning of "teacher trainer", nor "555" that of
/// "555 1234". A person's name goes on with a capital letter too: "Ada" is the beginning of "Ada Marlowe", but "Porto" is another
/// town than "Porto Alegre".
pub(crate) fn repeats(slot: &str, said: &str, known: &str) -> bool {
    let lower = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<String>>();
    let words = lower(said);
    if words.is_empty() || !lower(known).starts_with(&words) {
        return false;
    }
    let Some(next) = known.split_whitespace().nth(words.len()) else { return true };
    // Where several speak, a slot's name begins with the speaker's.
    let is_person = PERSONS.contains(&slot.rsplit_once('/').map_or(slot, |(_, name)| name));
    let goes_on = next.starts_with(|character: char| is_person && character.is_uppercase() || character.is_numeric());
    let has_letters = said.chars().any(char::is_alphabetic);
    has_letters && (goes_on || LINKS.contains(&next.to_lowercase().as_str()))
}

/// Returns whether each number and name in `text`, and each word of `names`, stands in one of the messages or names its speaker.
pub(crate) fn says_no_more(text: &str, names: &[String], messages: &[&Message]) -> bool {
    let texts: Vec<String> = messages.iter().map(|message| message.text()).collect();
    let speakers = messages.iter().filter_map(|message| message.speaker.as_deref());
    let said: HashSet<&str> = texts.iter().map(String::as_str).chain(speakers).flat_map(words).collect();
    telling_words(text).iter().all(|word| said.contains(word.as_str()))
        && names.iter().flat_map(|name| words(name)).all(|word| said.contains(word))
}

/// Returns whether each number and name in a value stands in one of the messages or names its speaker. A value is no sentence: its
/// first word may be a name as well.
pub(crate) fn gives_no_more(value: &str, messages: &[&Message]) -> bool {
    says_no_more(&format!("= {value}"), &[], messages)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|character: char| !character.is_alphanumeric()));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_repeated_by_itself_and_by_its_beginning() {
        for (slot, said, known) in [
            ("home", "Porto", "Porto"),
            ("home", "Porto", "Porto in Portugal"),
            ("name", "Ada", "Ada Marlowe"),
            ("ada/name", "Ada", "Ada Marlowe"),
            ("birthday", "3 May", "3 May 1990"),
            ("job", "a nurse", "a nurse at night"),
            ("home", "Berlin", "Berlin bei Potsdam"),
        ] {
            assert!(repeats(slot, said, known), "{said} of {known}");
        }
        for (slot, said, known) in [
            ("home", "Lisbon", "Porto"),
            ("home", "York", "New York"),
            ("home", "San", "Santiago"),
            ("home", "Porto in Portugal", "Porto"),
            ("home", "Porto", "Porto Alegre"),
            ("ada/home", "Porto", "Porto Alegre"),
            ("employer", "Acme", "Acme Foods"),
            ("dog", "Rex", "Rex Junior"),
            ("job", "a teacher", "a teacher trainer"),
            ("phone", "555", "555 1234"),
            ("home", "", "Porto"),
        ] {
            assert!(!repeats(slot, said, known), "{said} of {known}");
        }
    }
}
