//! The terms that the pieces of a text give.

use foldhash::HashSet;

use super::foreign::{Sign, Tongue};
use super::piece::{Piece, Pieces};
use super::{Analysis, dense, fold, term};
use crate::store::text::Term;

impl Analysis {
    /// Returns the pieces of a question that is normalised already: not every text stays the same if that is done twice.
    pub(super) fn asked(&self, text: &str) -> Pieces {
        let mut pieces = Pieces::default();
        self.split_normalised(text, &mut |piece, text| {
            if piece != Piece::Single || dense::is_asked(text) {
                pieces.push(piece, text);
            }
        });
        pieces
    }

    /// Returns what the pieces of a text tell of its language.
    pub(super) fn tongue_of(&self, pieces: &Pieces) -> Tongue {
        // Each word once, as in a document, so that a text meets itself.
        self.tongue(pieces.words().collect::<HashSet<&str>>().into_iter())
    }

    /// Returns what the words of a text tell of its language.
    pub(super) fn tongue<'a>(&self, words: impl Iterator<Item = &'a str>) -> Tongue {
        let mut tongue = Tongue::default();
        words.for_each(|word| tongue.hear(self.sign(word)));
        tongue
    }

    /// Returns what a word in lower case tells of the language of a text. Nothing if the analysis is of none.
    pub(super) fn sign(&self, word: &str) -> Sign {
        let Some(language) = self.0.language else { return Sign::default() };
        let bare = fold::fold(word);
        let is_own = self.0.stop.contains(&*bare) || self.0.question.contains(&*bare);
        Sign::of(language, word, &bare, is_own)
    }

    /// Returns each term of the pieces once, in their order.
    pub(super) fn terms(&self, pieces: &Pieces, is_foreign: bool, is_kept: &dyn Fn(&str) -> bool) -> Vec<Term> {
        let mut terms = Vec::new();
        self.each_term(pieces, is_foreign, is_kept, &mut |term| {
            terms.push(term);
            true
        });
        terms
    }

    /// Gives `sink` each term of the pieces once, in their order, until it returns `false`.
    pub(super) fn each_term(
        &self,
        pieces: &Pieces,
        is_foreign: bool,
        is_kept: &dyn Fn(&str) -> bool,
        sink: &mut dyn FnMut(Term) -> bool,
    ) {
        let (mut seen, mut goes_on) = (HashSet::default(), true);
        for (piece, text) in pieces.iter() {
            let mut add = |text: &str| {
                if let Some(term) = term::of(text).filter(|term| seen.insert(term.clone())) {
                    goes_on = goes_on && sink(term);
                }
            };
            let bare = fold::fold(text);
            match piece {
                Piece::Word if !is_kept(&bare) => {}
                Piece::Word => self.forms(text, &bare, is_foreign, &mut add),
                Piece::Whole | Piece::Single => add(&bare),
            }
            if !goes_on {
                return;
            }
        }
    }
}
