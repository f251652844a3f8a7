//! The words of a question as a person typed them, for the terms that it is searched for by.

use std::ops::Range;

use foldhash::HashSet;
use unicode_normalization::char::is_combining_mark;

use crate::store::text::Term;

use super::piece::Piece;
use super::{Analysis, dense, fold, split, term};

/// How many characters of a word are told. Only keys and pasted data have more.
const MOST: usize = 64;

/// What of a question was told so far.
struct Typed<'a> {
    sought: HashSet<&'a Term>,
    told: HashSet<Term>,
    words: Vec<String>,
}

impl Analysis {
    /// Returns the words of a question that give these of its terms, as they are written there: each term is told by the first word
    /// that gives it. Neighbours in a script without spaces are told together. A term that no single word gives, such as a number
    /// whose digits stand apart, is told as it is, behind the others.
    pub(crate) fn typed(&self, question: &str, terms: &[Term]) -> Vec<String> {
        let mut typed = Typed { sought: terms.iter().collect(), told: HashSet::default(), words: Vec::new() };
        let question = fold::normalise(question);
        let is_silent = |word: &str| self.0.stop.contains(word) || self.0.question.contains(word);
        // A word without content is told only if its term is no other word's.
        let is_kept: [&dyn Fn(&str) -> bool; 2] = [&|word| !is_silent(word), &|_| true];
        for is_kept in is_kept {
            for (run, is_dense) in question.split_whitespace().flat_map(runs) {
                // Each search does this, and a question may be a pasted page.
                if typed.told.len() == typed.sought.len() {
                    break;
                }
                if is_dense {
                    typed.tell_pairs(run);
                    continue;
                }
                for word in words(run) {
                    typed.tell(word, self.given(word, is_kept));
                }
            }
        }
        let Typed { told, mut words, .. } = typed;
        words.extend(terms.iter().filter(|term| !told.contains(*term)).map(|term| term.as_str().to_owned()));
        words
    }

    /// Returns the terms that a word may give, whatever stands around it.
    fn given(&self, word: &str, is_kept: &dyn Fn(&str) -> bool) -> Vec<Term> {
        let mut given = Vec::new();
        self.split_normalised(word, &mut |piece, text| {
            let bare = fold::fold(text);
            let mut add = |form: &str| given.extend(term::of(form));
            match piece {
                Piece::Word if !is_kept(&bare) => {}
                Piece::Word => self.forms(text, &bare, true, &mut add),
                Piece::Whole | Piece::Single => add(&bare),
            }
        });
        given
    }
}

impl Typed<'_> {
    /// Tells a word if it gives a term that is sought and was not told yet.
    fn tell(&mut self, word: &str, given: Vec<Term>) {
        let before = self.told.len();
        self.told.extend(given.into_iter().filter(|term| self.sought.contains(term)));
        if self.told.len() > before {
            let end = word.char_indices().nth(MOST).map(|(at, _)| at);
            let short = end.and_then(|end| word.get(..end)).map(|head| format!("{head}…"));
            self.words.push(short.unwrap_or_else(|| word.to_owned()));
        }
    }

    /// Tells the parts of a run without spaces that are sought.
    fn tell_pairs(&mut self, run: &str) {
        let mut parts: Vec<(Range<usize>, Vec<Term>)> = Vec::new();
        dense::places(run, &mut |_, place| {
            let text = run.get(place.clone()).unwrap_or_default();
            let Some(term) = term::of(&fold::fold(text)).filter(|term| self.sought.contains(term)) else { return };
            match parts.last_mut().filter(|(part, _)| place.start <= part.end) {
                Some((part, terms)) => {
                    part.end = part.end.max(place.end);
                    terms.push(term);
                }
                None => parts.push((place, vec![term])),
            }
        });
        for (part, terms) in parts {
            self.tell(run.get(part).unwrap_or_default(), terms);
        }
    }
}

/// Returns the runs of a text without blanks, and whether each is of a script without spaces.
fn runs(text: &str) -> Vec<(&str, bool)> {
    let (mut runs, mut start, mut was_dense) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        let is_dense = dense::is_dense(c) || (was_dense && is_combining_mark(c));
        if is_dense != was_dense {
            runs.push((text.get(start..at).unwrap_or_default(), was_dense));
            (start, was_dense) = (at, is_dense);
        }
    }
    runs.push((text.get(start..).unwrap_or_default(), was_dense));
    runs
}

/// Returns the words of a run, each without the signs around it, but with those of `C++` and `C#`.
fn words(run: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let trimmed = move |word: &'_ str| -> (usize, usize) {
        let tail = word.trim_start_matches(|c| !is_letter(c));
        let end = tail.trim_end_matches(|c| !is_letter(c) && !matches!(c, '+' | '#')).len();
        (word.len() - tail.len(), word.len() - tail.len() + end)
    };
    run.split(split::is_break).filter_map(move |word| {
        let (start, end) = trimmed(word);
        word.get(start..end).filter(|word| !word.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::Language;

    fn typed(analysis: &Analysis, question: &str) -> Vec<String> {
        analysis.typed(question, &analysis.query(question))
    }

    #[test]
    fn words_are_told_as_they_were_typed_and_each_term_once() {
        let english = Analysis::english();
        for (question, promised) in [
            ("Is the practice of the dentist Dr. Marsh closed? Dentists!", "practice dentist Dr Marsh closed"),
            ("Who bought the café's children?", "bought café's children"),
            ("Where is order E-4471-B (or charlie@example.org)?", "order E-4471-B charlie@example.org"),
            ("parseHttpHeader in C++, C#", "parseHttpHeader C++ C#"),
            ("the price of 1.250 or 12,50", "price 1.250 12,50"),
            ("they want 1 000 000", "want 1 000 1000000"),
            ("wann ist mein Zahnarzttermin in Köln", "wann ist mein Zahnarzttermin Köln"),
            ("Когда приедет посылка?", "Когда приедет посылка"),
            ("to be or not to be", "to be or not"),
            ("", ""),
        ] {
            assert_eq!(typed(&english, question).join(" "), promised, "{question}");
        }
        let german = Analysis::of(Language::German);
        assert_eq!(typed(&german, "Wann sind die Zahnarzttermine in Köln?"), ["Zahnarzttermine", "Köln"]);
    }

    #[test]
    fn neighbours_in_a_script_without_spaces_are_told_together() {
        let english = Analysis::english();
        for (question, promised) in [
            ("我的牙医什么时候有空？", "我的牙医 有空"),
            ("東京都庁と Tokyo 東京都庁", "東京都庁と Tokyo"),
            ("谢谢谢", "谢谢谢"),
            ("猫", "猫"),
            ("ที่นี่", "ที่นี่"),
        ] {
            assert_eq!(typed(&english, question).join(" "), promised, "{question}");
        }
    }

    #[test]
    fn only_what_is_sought_is_told_and_no_word_at_full_length() {
        let english = Analysis::english();
        let terms: Vec<Term> = english.query("dentist");
        assert_eq!(english.typed("the Dentists of my parcels", &terms), ["Dentists"]);
        assert_eq!(typed(&english, &"k9".repeat(400)), [format!("{}…", "k9".repeat(MOST / 2))]);
    }

    proptest! {
        #[test]
        fn whatever_is_sought_is_told(question in "\\PC{0,40}") {
            let analysis = Analysis::english();
            let terms = analysis.query(&question);
            let typed = analysis.typed(&question, &terms);
            prop_assert_eq!(typed.is_empty(), terms.is_empty());
            prop_assert!(typed.len() <= terms.len());
        }
    }
}
