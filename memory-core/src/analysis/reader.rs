//! Reading texts for the terms of one question: what is not asked for is neither kept nor stemmed twice.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::foreign::{Sign, Tongue};
use super::piece::Piece;
use super::{Analysis, DOCUMENT_WORDS, fold, foreign, head_of, term};
use crate::store::text::Term;
use crate::time::Timestamp;

/// Counts the terms of one question in many texts.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    question: Question<'a>,
    /// What was met, and where it stands in `known`.
    words: HashMap<Arc<str>, usize>,
    wholes: HashMap<Arc<str>, usize>,
    known: Vec<Known>,
    /// How many texts were read.
    texts: usize,
    /// The pieces of the text that is read, as places in `known`.
    pieces: Vec<usize>,
}

/// What is looked for.
#[derive(Debug)]
struct Question<'a> {
    analysis: &'a Analysis,
    places: HashMap<&'a Term, usize>,
    /// Whether the beginning or the ending of a word may be among its terms: only in a text of another language these are found.
    may_have_ends: bool,
    /// The letters and digits with which terms of it begin.
    initials: HashSet<u8>,
    /// Its words as they are written, in lower case.
    words: HashSet<Box<str>>,
}

/// What is known of a piece.
#[derive(Debug)]
struct Known {
    piece: Piece,
    text: Arc<str>,
    /// What it tells of the language of a text.
    sign: Sign,
    /// The text that it was last met in.
    met_in: usize,
    /// What it gives in a text of the analysis' language, and in one of another.
    gives: [Option<Gives>; 2],
}

/// What a piece gives.
#[derive(Debug, Default)]
struct Gives {
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
        let may_have_ends = terms.iter().any(foreign::may_be_end);
        let initials = terms.iter().filter_map(|term| term.as_str().bytes().next()).collect();
        Self {
            question: Question { analysis, places, may_have_ends, initials, words },
            words: HashMap::default(),
            wholes: HashMap::default(),
            known: Vec::new(),
            texts: 0,
            pieces: Vec::new(),
        }
    }

    /// Returns the counts of a text: the same as of [`Analysis::document`].
    pub(crate) fn read(&mut self, text: &str) -> Counts {
        let is_foreign = self.split(text, false);
        self.count(is_foreign)
    }

    /// Returns the counts of a text and of its date in words, if it has a date and words. `exact` is of the text alone.
    pub(crate) fn read_dated(&mut self, text: &str, at: Option<Timestamp>) -> Counts {
        let mut counts = self.read(text);
        let at = at.filter(|_| counts.length > 0);
        if let Some(words) = at.and_then(|at| self.question.analysis.date_words(at)) {
            let date = self.read(&words);
            counts.length = counts.length.saturating_add(date.length);
            for (own, date) in counts.own.iter_mut().zip(date.own) {
                *own = own.saturating_add(date);
            }
        }
        counts
    }

    /// Returns how often a text holds each term in the form of the question, as [`Counts::exact`] does, in less time.
    pub(crate) fn read_exact(&mut self, text: &str) -> Vec<u32> {
        if self.question.may_have_ends {
            return self.read(text).exact;
        }
        // Whatever the language of the text, its words give the same of these terms.
        self.split(text, true);
        self.count(false).exact
    }

    /// Splits a text into its pieces: all, or only those that the question has too. Returns whether these tell that the text is in
    /// another language.
    fn split(&mut self, text: &str, only_asked: bool) -> bool {
        let Self { question, words, wholes, known, texts, pieces } = self;
        let analysis = question.analysis;
        *texts += 1;
        pieces.clear();
        let (mut tongue, mut different) = (Tongue::default(), 0);
        analysis.split(head_of(text), &mut |piece, text| {
            if only_asked && !question.words.contains(text) {
                return;
            }
            let places = if piece == Piece::Word { &mut *words } else { &mut *wholes };
            let place = places.get(text).copied().unwrap_or_else(|| {
                let text: Arc<str> = text.into();
                let sign = if piece == Piece::Word { analysis.sign(&text) } else { Sign::default() };
                places.insert(Arc::clone(&text), known.len());
                known.push(Known { piece, text, sign, met_in: 0, gives: [None, None] });
                known.len() - 1
            });
            if let Some(known) = known.get_mut(place).filter(|known| known.met_in != *texts) {
                if different >= DOCUMENT_WORDS {
                    return;
                }
                different += 1;
                known.met_in = *texts;
                tongue.hear(known.sign);
            }
            pieces.push(place);
        });
        tongue.is_foreign()
    }

    /// Counts what the pieces of the text give.
    fn count(&mut self, is_foreign: bool) -> Counts {
        let Self { question, known, pieces, .. } = self;
        let mut counts = Counts::of(question.places.len());
        for place in pieces {
            let Some(Known { piece, text, gives: [own, foreign], .. }) = known.get_mut(*place) else { continue };
            let gives = if is_foreign { foreign } else { own };
            counts.add(gives.get_or_insert_with(|| question.gives(*piece, text, is_foreign)));
        }
        counts
    }
}

impl Question<'_> {
    /// Returns what a piece gives.
    fn gives(&self, piece: Piece, text: &str, is_foreign: bool) -> Gives {
        let bare = fold::fold(text);
        let mut gives = Gives { is_exact: self.words.contains(text), ..Gives::default() };
        let mut add = |form: &str| {
            let Some(term) = term::of(form) else { return };
            gives.terms += 1;
            gives.places.extend(self.places.get(&term));
        };
        match piece {
            Piece::Word if self.analysis.0.stop.contains(&*bare) => {}
            // It gives one term, its stem.
            Piece::Word if !is_foreign && self.analysis.begins_otherwise(text, &self.initials) => gives.terms = 1,
            Piece::Word => self.analysis.forms(text, &bare, is_foreign, &mut add),
            Piece::Whole | Piece::Single => add(&bare),
        }
        gives
    }
}

impl Counts {
    /// Returns the counts of an empty text for so many terms.
    fn of(terms: usize) -> Self {
        Self { own: vec![0; terms], exact: vec![0; terms], length: 0 }
    }

    /// Counts a piece.
    fn add(&mut self, gives: &Gives) {
        self.length = self.length.saturating_add(gives.terms);
        for place in &gives.places {
            for (counts, adds) in [(&mut self.own, true), (&mut self.exact, gives.is_exact)] {
                if let Some(count) = counts.get_mut(*place) {
                    *count = count.saturating_add(u32::from(adds));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::analysis::Language;

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

    #[test]
    fn of_a_long_text_as_much_is_counted_as_of_its_document() {
        let english = Analysis::english();
        let text: String = (0..2 * DOCUMENT_WORDS).map(|number| format!("zq{number} zq1 ")).collect();
        let terms = english.query("zq1 zq9 zq8000");
        let counts = Reader::new(&english, "", &terms).read(&text);
        let document: HashMap<Term, u32> = english.document(&text).into_iter().collect();
        let own: Vec<u32> = terms.iter().map(|term| document.get(term).copied().unwrap_or(0)).collect();
        assert_eq!((counts.length, counts.own), (document.values().sum(), own));
    }

    proptest! {
        #[test]
        fn any_texts_are_counted_as_their_documents_are(
            question in "([a-zA-Z]{1,7}|children|bought|\\PC{1,6})( [a-z]{1,9}| \\PC{1,6}){0,4}",
            texts in proptest::collection::vec(
                "([a-z]{1,9}(s|ing|ed|ies|ly|'s)?|[A-Z]?[a-z]{0,5}[0-9]{1,3}|el|los|como|der|die|und|ging|\\PC{1,9})( [a-z]{1,9}| \\PC{1,6}){0,9}",
                1..6,
            ),
            again in any::<bool>(),
            at in 0..2_000_000_000_000i64,
            analysis in select(vec![
                Analysis::english(), Analysis::plain(), Analysis::of(Language::German), Analysis::of(Language::Turkish),
                Analysis::of(Language::French),
            ]),
        ) {
            // What the texts hold is asked for too.
            let question = if again { format!("{question} {}", texts.concat()) } else { question };
            let terms = analysis.query(&question);
            let mut reader = Reader::new(&analysis, &question, &terms);
            for text in texts.iter().chain(&texts) {
                let counts = reader.read(text);
                let document: HashMap<Term, u32> = analysis.document(text).into_iter().collect();
                prop_assert_eq!(counts.length, document.values().sum::<u32>(), "{}", text);
                let own: Vec<u32> = terms.iter().map(|term| document.get(term).copied().unwrap_or(0)).collect();
                prop_assert_eq!(&counts.own, &own, "{}", text);
                prop_assert_eq!(reader.read_exact(text), counts.exact, "{}", text);
                let dated = reader.read_dated(text, Some(Timestamp(at)));
                let of_date = reader.read(&analysis.date_words(Timestamp(at)).unwrap_or_default());
                let is_dated = u32::from(counts.length > 0);
                prop_assert_eq!(dated.length, counts.length + is_dated * of_date.length);
                let own = counts.own.iter().zip(of_date.own).map(|(own, date)| own + is_dated * date);
                prop_assert_eq!(dated.own, own.collect::<Vec<u32>>());
            }
        }
    }
}
