//! What a search names by a number or code of its own, such as `33713` or `E1042`: whoever types it wants what holds it.

use crate::store::text::{Term, TextHit};

use super::legs::Legs;

/// The most documents that hold a code. A number that more hold, such as a year, names none of them.
const RARE: u64 = 3;
/// The fewest characters of a code.
const CHARACTERS: usize = 4;
/// The fewest digits among them.
const DIGITS: usize = 2;

impl Legs {
    /// Returns the hits that hold a rare code of the search themselves.
    pub(super) fn exact(&self) -> impl Iterator<Item = &TextHit> {
        let hits = &self.text.hits;
        let found = |place: usize| hits.iter().filter(|hit| hit.own.get(place).is_some_and(|count| *count > 0)).count();
        // What is not indexed yet is found, and counted in no statistics.
        let is_rare = |(place, held): (usize, &u64)| *held <= RARE && found(place) as u64 <= RARE;
        let codes = self.terms.iter().zip(self.text.containing.iter().enumerate());
        let codes: Vec<bool> = codes.map(|(term, counted)| is_code(term) && is_rare(counted)).collect();
        let holds = move |hit: &&TextHit| codes.iter().zip(&hit.own).any(|(is_code, count)| *is_code && *count > 0);
        hits.iter().filter(holds)
    }
}

/// Returns whether a term is a code. One with a capital stands for characters that are no letters or digits of ASCII.
fn is_code(term: &Term) -> bool {
    if term.as_str().contains(|sign: char| sign.is_ascii_uppercase()) {
        return false;
    }
    let (characters, digits) = (term.as_str().chars(), term.as_str().chars().filter(char::is_ascii_digit));
    characters.count() >= CHARACTERS && digits.count() >= DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;

    #[test]
    fn codes_have_digits_and_words_of_other_scripts_are_none() {
        let holds_code = |text: &str| Analysis::english().query(text).iter().any(is_code);
        for code in ["33713", "E1042", "order E-4471-B"] {
            assert!(holds_code(code), "{code}");
        }
        for words in ["борщ", "东京", "水曜日", "καφές", "parcel", "42", "مطعم"] {
            assert!(!holds_code(words), "{words}");
        }
    }
}
