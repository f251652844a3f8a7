//! Analysis: turns text into search terms, for every text store alike.

mod arabic;
mod asks;
mod dense;
mod excerpt;
mod fold;
mod foreign;
mod irregular;
mod language;
mod numbers;
mod persons;
mod piece;
mod reader;
mod split;
mod term;
mod terms;
#[cfg(test)]
mod tests;
mod times;
mod typed;
mod words;

use std::fmt;
use std::sync::{Arc, LazyLock};

use foldhash::{HashMap, HashSet};
use rust_stemmers::Stemmer;

use crate::store::text::Term;
use crate::time::Timestamp;

use piece::Piece;
use split::{Apostrophes, Casing, pieces};

pub use excerpt::{Excerpt, Excerpts};
pub use language::Language;
pub use times::Period;

pub(crate) use dense::is_dense;
pub(crate) use fold::normalise;
pub(crate) use reader::{Counts, Reader};
pub(crate) use words::months;

/// The version of the rules. It rises whenever the same text gives other terms, or entries are made from terms in another way.
/// The index is then another one, and is built anew.
const RECIPE: u32 = 3;

/// How many bytes of a text are searched, from its beginning: 256 KiB, some 40,000 words.
pub const DOCUMENT_BYTES: usize = 256 << 10;

/// How many different words of a text are searched. A novel of 30,000 words has about as many.
pub const DOCUMENT_WORDS: usize = 4_096;

/// The longest word that is stemmed, in bytes. No language has longer words.
const MAX_STEMMED_BYTES: usize = 96;

/// Turns text into [`Term`]s, in the same way for every backend. Cheap to clone.
///
/// - Text is normalised (NFKC), case is folded, and invisible characters are dropped.
/// - Stop words are dropped from documents and queries, question words from queries.
/// - Words are stemmed in the language of the analysis, if they are written in its script. Irregular forms in its table
///   (`bought`, `children`) count as their base.
/// - Latin and Greek letters lose their marks, so that `cafe` finds `café`. If the language's stemmer uses marks, a word with
///   marks gives two terms: the stem of the bare word, and the bare stem of the word.
/// - Scripts without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar) give pairs of neighbouring characters; a lone
///   character is a term alone. Documents also give single Han and Hangul characters, so that a word of one is found.
///   Queries also give the single Han characters that have a meaning alone.
/// - Words joined by signs (`E-4471-B`, `snake_case`, `1.2.3`, paths, addresses) give a term for the whole and the terms of
///   the parts; so do `camelCase` and words of letters and digits.
///
/// Takes time linear in the text, whatever the text.
#[derive(Clone)]
pub struct Analysis(Arc<Inner>);

struct Inner {
    name: String,
    language: Option<Language>,
    stop: HashSet<String>,
    question: HashSet<String>,
    filler: HashSet<String>,
    negation: HashSet<String>,
    first_person: HashSet<String>,
    second_person: HashSet<String>,
    saying: HashSet<String>,
    modal: HashSet<String>,
    article: HashSet<String>,
    dating: HashSet<String>,
    phatic: HashSet<String>,
    model: HashSet<String>,
    irregular: HashMap<&'static str, &'static str>,
    months: Vec<&'static str>,
}

impl Analysis {
    /// Returns the analysis for English, the default.
    pub fn english() -> Self {
        // Every builder begins with it.
        static ENGLISH: LazyLock<Analysis> = LazyLock::new(|| Analysis::of(Language::English));
        ENGLISH.clone()
    }

    /// Returns the analysis for `language`.
    pub fn of(language: Language) -> Self {
        Self::with(language.name(), Some(language), words::of(language))
    }

    /// Returns the analysis without a language: it neither stems nor drops words.
    pub fn plain() -> Self {
        Self::with("plain", None, words::Words::default())
    }

    fn with(name: &str, language: Option<Language>, words: words::Words) -> Self {
        let folded = |words: &str| words.split_whitespace().map(fold::fold_owned).collect();
        Self(Arc::new(Inner {
            name: format!("{name}-{RECIPE}"),
            language,
            stop: folded(words.stop),
            question: folded(words.question),
            filler: folded(words.filler),
            negation: folded(words.negation),
            first_person: folded(words.first_person),
            second_person: folded(words.second_person),
            saying: folded(words.saying),
            modal: folded(words.modal),
            article: folded(words.article),
            dating: folded(words.dating),
            phatic: folded(words.phatic),
            model: folded(words.model),
            irregular: irregular::table(words.irregular),
            months: words.months.split_whitespace().collect(),
        }))
    }

    /// Returns the name of the rules, such as `english-3`. Terms of another name belong to another index.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the language; none for [`Analysis::plain`].
    pub fn language(&self) -> Option<Language> {
        self.0.language
    }

    /// Returns the terms of a text to index, with their counts: each term once, sorted.
    ///
    /// Ignores what is beyond the first [`DOCUMENT_BYTES`], and words beyond the first [`DOCUMENT_WORDS`] different ones.
    pub fn document(&self, text: &str) -> Vec<(Term, u32)> {
        // Words are counted first, so that each different word is stemmed once.
        let mut words: HashMap<Box<str>, u32> = HashMap::default();
        let mut wholes: HashMap<Box<str>, u32> = HashMap::default();
        self.split(head_of(text), &mut |piece, text| {
            let is_full = words.len() + wholes.len() >= DOCUMENT_WORDS;
            let counts = if piece == Piece::Word { &mut words } else { &mut wholes };
            count(counts, text, is_full);
        });

        let is_foreign = self.tongue(words.keys().map(|word| &**word)).is_foreign();
        let mut terms: Vec<(Term, u32)> = Vec::with_capacity(words.len() + wholes.len());
        for (word, count) in &words {
            let bare = fold::fold(word);
            if !self.0.stop.contains(&*bare) {
                self.forms(word, &bare, is_foreign, &mut |form| {
                    terms.extend(term::of(form).map(|term| (term, *count)));
                });
            }
        }
        for (whole, count) in &wholes {
            terms.extend(term::of(&fold::fold(whole)).map(|term| (term, *count)));
        }
        merge(terms)
    }

    /// Returns the terms of a date in words, such as `8 May 2023`, in UTC: each once, sorted.
    ///
    /// Only day and year if the language's months are not known; nothing for years beyond the calendar.
    pub fn date(&self, at: Timestamp) -> Vec<(Term, u32)> {
        self.date_words(at).map(|words| self.document(&words)).unwrap_or_default()
    }

    fn date_words(&self, at: Timestamp) -> Option<String> {
        let (year, month, day) = at.date()?;
        let month = self.0.months.get(usize::from(month).wrapping_sub(1)).copied().unwrap_or_default();
        Some(format!("{day} {month} {year}"))
    }

    /// Returns the terms of a question, each once, in the order in which they first occur.
    ///
    /// A question of only question words keeps them, and one of only stop words keeps those.
    pub fn query(&self, text: &str) -> Vec<Term> {
        let text = fold::normalise(text);
        let pieces = self.asked(&foreign::without_phrases(&text));
        let is_foreign = self.tongue_of(&pieces).is_foreign();
        let Inner { stop, question, .. } = &*self.0;
        let is_kept: [&dyn Fn(&str) -> bool; 2] =
            [&|word| !stop.contains(word) && !question.contains(word), &|word| !stop.contains(word)];
        let terms = |is_kept: &&dyn Fn(&str) -> bool| self.terms(&pieces, is_foreign, is_kept);
        let found = is_kept.iter().map(terms).find(|terms| !terms.is_empty());
        found.unwrap_or_else(|| self.terms(&self.asked(&text), is_foreign, &|_| true))
    }

    /// Returns the terms of a question by which something can be relevant to it: those of [`Analysis::query`] without the
    /// words of small talk. Empty for "hello there", "go on" and "what do you think?".
    pub(crate) fn informative(&self, text: &str) -> Vec<Term> {
        let mut terms = Vec::new();
        self.each_informative(text, &mut |term| {
            terms.push(term);
            true
        });
        terms
    }

    /// Gives `sink` the terms that [`Analysis::informative`] returns, until it returns `false`.
    pub(crate) fn each_informative(&self, text: &str, sink: &mut dyn FnMut(Term) -> bool) {
        let pieces = self.asked(&foreign::without_small_talk(&fold::normalise(text)));
        let tongue = self.tongue_of(&pieces);
        let Inner { stop, question, phatic, .. } = &*self.0;
        let is_silent = |word: &str| stop.contains(word) || question.contains(word) || phatic.contains(word);
        let is_kept = |word: &str| !is_silent(word) && !tongue.drops(word) && !foreign::is_phatic(word);
        self.each_term(&pieces, tongue.is_foreign(), &is_kept, sink);
    }

    fn split(&self, text: &str, sink: &mut dyn FnMut(Piece, &str)) {
        self.split_normalised(&fold::normalise(text), sink);
    }

    fn split_normalised(&self, text: &str, sink: &mut dyn FnMut(Piece, &str)) {
        let language = self.0.language;
        let apostrophes = if language == Some(Language::English) { Apostrophes::English } else { Apostrophes::Split };
        pieces(text, apostrophes, self.casing(), sink);
        numbers::spaced(text, sink);
    }

    /// Gives `sink` the words and names of a text in order, in lower case; `camelCase` is not split.
    pub(crate) fn words(&self, text: &str, sink: &mut dyn FnMut(&str)) {
        let text = fold::normalise(text);
        let mut lower = String::with_capacity(text.len());
        split::lower(&text, self.casing(), &mut lower);
        pieces(&lower, Apostrophes::Split, self.casing(), &mut |piece, word| {
            if piece != Piece::Single {
                sink(word);
            }
        });
    }

    /// Returns the first letter of a plain English word, or the first digit of a number. Each of its terms begins with it, or with a
    /// capital, as those of the endings of foreign words do. None for a word whose terms may begin otherwise, such as `bought`.
    fn initial(&self, word: &str) -> Option<u8> {
        let (first, rest) = word.as_bytes().split_first()?;
        let is_word = first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase);
        let is_plain = is_word || word.bytes().all(|byte| byte.is_ascii_digit());
        let is_english = self.0.language == Some(Language::English);
        let irregular = &self.0.irregular;
        let is_irregular = || match first.is_ascii_uppercase() {
            true => irregular.contains_key(&*word.to_ascii_lowercase()),
            false => irregular.contains_key(word),
        };
        (is_english && is_plain && word.len() < Term::MAX_BYTES && !is_irregular()).then(|| first.to_ascii_lowercase())
    }

    /// Returns whether the terms of a word begin with none of `initials`, which are lower-case letters and digits: to find these terms
    /// takes far longer. False for a word whose terms may begin otherwise than it does.
    fn begins_otherwise(&self, word: &str, initials: &HashSet<u8>) -> bool {
        let first = word.bytes().next().map(|first| first.to_ascii_lowercase());
        first.is_some_and(|first| !initials.contains(&first)) && self.initial(word).is_some()
    }

    /// Returns whether a statement means the same with and without `word`.
    pub(crate) fn is_filler(&self, word: &str) -> bool {
        self.0.filler.contains(&*fold::fold(word))
    }

    /// Returns whether `word` turns a statement into its opposite.
    pub(crate) fn is_negation(&self, word: &str) -> bool {
        self.0.negation.contains(&*fold::fold(word))
    }

    fn casing(&self) -> Casing {
        if self.0.language == Some(Language::Turkish) { Casing::Turkish } else { Casing::Common }
    }

    /// Gives `sink` the stems of a lower-case word, and its beginning and ending if the text is in another language.
    fn forms(&self, word: &str, bare: &str, is_foreign: bool, sink: &mut dyn FnMut(&str)) {
        self.stem(word, bare, sink);
        if self.0.language.is_some() && (is_foreign || foreign::is_of_other_script(bare)) && !arabic::writes(bare) {
            foreign::ends(bare, sink);
        }
    }

    /// Gives `sink` the stems of a lower-case word: one, or two if it has marks that matter. `bare` is the word without marks.
    fn stem(&self, word: &str, bare: &str, sink: &mut dyn FnMut(&str)) {
        let (word, bare) = self.0.irregular.get(bare).map_or((word, bare), |base| (*base, *base));
        let Some(language) = self.0.language else { return sink(bare) };
        if language != Language::Arabic && arabic::writes(bare) {
            return sink(&arabic::light(bare));
        }
        let stemmer = Stemmer::create(language.algorithm());
        let is_stemmed = |word: &str| word.len() <= MAX_STEMMED_BYTES && word.chars().all(|c| language.writes(c));
        let stem_of_bare = if is_stemmed(bare) { stemmer.stem(bare) } else { bare.into() };
        sink(&stem_of_bare);
        if bare != word && language.has_marks() && is_stemmed(word) {
            let stem = stemmer.stem(word);
            let bare_stem = fold::fold(&stem);
            if *bare_stem != *stem_of_bare {
                sink(&bare_stem);
            }
        }
    }
}

impl Default for Analysis {
    fn default() -> Self {
        Self::english()
    }
}

impl fmt::Debug for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Analysis({})", self.name())
    }
}

/// Returns the part of a text that is searched: at most its first [`DOCUMENT_BYTES`].
pub(crate) fn head_of(text: &str) -> &str {
    text.get(..text.floor_char_boundary(DOCUMENT_BYTES)).unwrap_or_default()
}

/// Sorts terms and adds up the counts of equal ones.
fn merge(mut terms: Vec<(Term, u32)>) -> Vec<(Term, u32)> {
    terms.sort_unstable();
    terms.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        is_same
    });
    terms
}

fn count(counts: &mut HashMap<Box<str>, u32>, text: &str, is_full: bool) {
    if let Some(count) = counts.get_mut(text) {
        *count = count.saturating_add(1);
    } else if !is_full {
        counts.insert(text.into(), 1);
    }
}
