//! Reading texts for the terms of one question: what is not asked for is neither kept nor stemmed twice.

use foldhash::{HashMap, HashSet};

use super::piece::{Piece, Pieces};
use super::{Analysis, fold, term};
use crate::store::text::Term;

/// Counts the terms of one question in many texts.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    analysis: &'a Analysis,
    places: HashMap<&'a Term, usize>,
    /// The words of the question as they are written, in lower case.
    words: HashSet<Box<str>>,
    /// What each word gives, by its kind and by whether the text is in another language.
    known: HashMap<(Piece, bool), HashMap<Box<str>, Known>>,
    /// The pieces of the text that is read.
    pieces: Pieces,
}

/// What a word gives.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The places of the question's terms among its terms.
    places: Vec<usize>,
    terms: u32,
    /// Whether the question has the word in this form.
    is_exact: bool,
}

/// How often a text holds each term of the question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// How often, in any form.
    pub(crate) own: Vec<u32>,
    /// How often in the form of the question.
    pub(crate) exact: Vec<u32>,
    /// The number of terms of the text.
    pub(crate) length: u32,
}

impl<'a> Reader<'a> {
    /// Reads for `terms`, which are those of `question`.
    pub(crate) fn new(analysis: &'a Analysis, question: &str, terms: &'a [Term]) -> Self {
        let mut words = HashSet::default();
        analysis.split(question, &mut |_, word| {
            words.insert(word.into());
        });
        let places = terms.iter().zip(0..).collect();
        Self { analysis, places, words, known: HashMap::default(), pieces: Pieces::default() }
    }

    /// Returns the counts of a text: the same as of [`Analysis::document`].
    pub(crate) fn read(&mut self, text: &str) -> Counts {
        let Self { analysis, places, words, known, pieces } = self;
        pieces.clear();
        analysis.split(text, &mut |piece, text| pieces.push(piece, text));
        let is_foreign = analysis.tongue_of(pieces).is_foreign();
        let mut counts = Counts { own: vec![0; places.len()], exact: vec![0; places.len()], length: 0 };
        for (piece, text) in pieces.iter() {
            let known = known.entry((piece, is_foreign)).or_default();
            if !known.contains_key(text) {
                known.insert(text.into(), look_up(analysis, places, words, text, piece, is_foreign));
            }
            let Some(known) = known.get(text) else { continue };
            counts.length = counts.length.saturating_add(known.terms);
            for place in &known.places {
                for (counts, adds) in [(&mut counts.own, true), (&mut counts.exact, known.is_exact)] {
                    if let Some(count) = counts.get_mut(*place) {
                        *count = count.saturating_add(u32::from(adds));
                    }
                }
            }
        }
        counts
    }
}

fn look_up(
    analysis: &Analysis,
    places: &HashMap<&Term, usize>,
    words: &HashSet<Box<str>>,
    text: &str,
    piece: Piece,
    is_foreign: bool,
) -> Known {
    let bare = fold::fold(text);
    let mut known = Known { is_exact: words.contains(text), ..Known::default() };
    let mut add = |form: &str| {
        let Some(term) = term::of(form) else { return };
        known.terms += 1;
        known.places.extend(places.get(&term));
    };
    match piece {
        Piece::Word if analysis.0.stop.contains(&*bare) => {}
        Piece::Word => analysis.forms(text, &bare, is_foreign, &mut add),
        Piece::Whole | Piece::Single => add(&bare),
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_those_of_the_document_and_exact_forms_are_told() {
        let english = Analysis::english();
        let question = "Which detailer works on E-4471-B?";
        let terms = english.query(question);
        let mut reader = Reader::new(&english, question, &terms);
        for text in ["The details of the detailer: detailers work, working on E-4471-B", "nothing", ""] {
            let counts = reader.read(text);
            let document: HashMap<Term, u32> = english.document(text).into_iter().collect();
            assert_eq!(counts.length, document.values().sum::<u32>());
            let own: Vec<u32> = terms.iter().map(|term| document.get(term).copied().unwrap_or(0)).collect();
            assert_eq!(counts.own, own, "{text}");
        }
        let counts = reader.read("details of detailers, a detailer");
        assert_eq!(counts.exact.iter().sum::<u32>(), 1);
    }
}
