//! Words that deny what they stand in. Pure functions.

use crate::window::sentences;

/// Words that deny what they stand in, unless they are part of a title.
pub(super) const DENIALS: &[&str] =
    &["not", "never", "anymore", "nicht", "nie", "nunca", "jamás", "pas", "jamais", "não"];

/// Words that deny behind "no" or "any".
const NO_LONGER: &[&str] = &["longer", "more"];

/// Returns whether a sentence of a text denies something.
pub(super) fn denies(text: &str) -> bool {
    sentences(text).any(|sentence| {
        let mut before = String::new();
        let mut words = sentence.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.any(|raw| {
            let former = std::mem::replace(&mut before, raw.to_lowercase());
            // A sentence begins with a capital letter, and an apostrophe parts "don't" and "isn't".
            let word = if former.is_empty() { before.as_str() } else { raw };
            is_denial(&former, word) || before == "t" && former.ends_with('n')
        })
    })
}

/// Returns whether a word denies what it stands in. `before` is the word in front of it, in lower case.
pub(super) fn is_denial(before: &str, raw: &str) -> bool {
    let word = raw.to_lowercase();
    let is_over = ["no", "any"].contains(&before) && NO_LONGER.contains(&word.as_str());
    is_over || DENIALS.contains(&word.as_str()) && !is_title(raw)
}

/// Returns whether a word is written as in a title: a capital letter, and small ones behind it.
pub(super) fn is_title(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.all(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_denies_is_told_from_what_does_not() {
        for text in
            ["no longer", "I don't.", "Ok. Not any more!", "I don’t live there", "nicht mehr", "já não", "Not so"]
        {
            assert!(denies(text), "{text}");
        }
        for text in ["ok", "No, thanks.", "I want more. No.", "can", "t", ""] {
            assert!(!denies(text), "{text}");
        }
    }
}
