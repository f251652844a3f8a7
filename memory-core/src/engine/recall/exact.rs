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

fn is_code(term: &Term) -> bool {
    let (characters, digits) = (term.as_str().chars(), term.as_str().chars().filter(char::is_ascii_digit));
    characters.count() >= CHARACTERS && digits.count() >= DIGITS
}
