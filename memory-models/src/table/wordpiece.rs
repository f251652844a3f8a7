//! Cuts texts into word pieces, as BERT's uncased tokenizer does.
//!
//! The rules are those of `BertTokenizer` with `do_lower_case`: control characters go, letters lose their accents and their
//! case, words end at white space, at punctuation and around ideographs. A word is cut into the longest pieces of the
//! vocabulary from left to right; what cannot be cut whole has no pieces at all. A mark such as `[SEP]` is text like other text.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory as Category, GeneralCategoryGroup as Group, UnicodeGeneralCategory};

/// A word of more characters has no pieces.
const LONGEST_WORD: usize = 100;

/// A hash of eight bytes at once, much faster than the usual one. Nobody can choose pieces that collide: they are given.
#[derive(Clone, Debug)]
struct PieceHash(u64);

impl Default for PieceHash {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for PieceHash {
    fn write(&mut self, bytes: &[u8]) {
        let mut take = |number: u64| self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let (eights, rest) = bytes.as_chunks::<8>();
        eights.iter().for_each(|eight| take(u64::from_le_bytes(*eight)));
        take(rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Numbers = HashMap<&'static str, u32, BuildHasherDefault<PieceHash>>;

/// The pieces that texts are cut into, numbered from 0.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Pieces that begin a word.
    first: Numbers,
    /// Pieces that go on with a word, without their mark `##`.
    further: Numbers,
    /// The length of the longest piece, in bytes.
    longest: usize,
}

impl Vocabulary {
    /// Numbers the pieces in order. There are about `count`, for which there is room from the beginning; a fifth of them go on with
    /// a word.
    pub(super) fn of(pieces: impl Iterator<Item = &'static str>, count: usize) -> Self {
        let room = |count| Numbers::with_capacity_and_hasher(count, BuildHasherDefault::default());
        let mut vocabulary = Self { first: room(count), further: room(count / 4), longest: 0 };
        for (piece, number) in pieces.zip(0..) {
            vocabulary.longest = vocabulary.longest.max(piece.len());
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => vocabulary.further.insert(rest, number),
                _ => vocabulary.first.insert(piece, number),
            };
        }
        vocabulary
    }

    /// Calls `take` with each word of a text: its pieces, or none if it is unknown.
    pub(super) fn cut(&self, text: &str, mut take: impl FnMut(&[u32])) {
        let (mut word, mut pieces) = (String::new(), Vec::new());
        let mut end = |word: &mut String| {
            if !word.is_empty() {
                self.cut_word(word, &mut pieces);
                take(&pieces);
                word.clear();
            }
        };
        let spaced = text.chars().filter(|c| !is_dropped(*c)).flat_map(|c| {
            let around = is_ideograph(c).then_some(' ');
            around.into_iter().chain([c]).chain(around)
        });
        for c in spaced.nfd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase) {
            let is_apart = is_punctuation(c);
            if is_apart || c.is_whitespace() {
                end(&mut word);
            }
            if !c.is_whitespace() {
                word.push(c);
            }
            if is_apart {
                end(&mut word);
            }
        }
        end(&mut word);
    }

    fn cut_word(&self, word: &str, pieces: &mut Vec<u32>) {
        pieces.clear();
        if word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD {
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let known = if pieces.is_empty() { &self.first } else { &self.further };
            let ends = (1..=rest.len().min(self.longest)).rev();
            let found = ends
                .filter_map(|end| rest.split_at_checked(end))
                .find_map(|(piece, left)| known.get(piece).map(|number| (*number, left)));
            let Some((number, left)) = found else {
                pieces.clear();
                return;
            };
            pieces.push(number);
            rest = left;
        }
    }
}

/// Returns whether a character is neither text nor white space.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        c if c.is_ascii() => c.is_ascii_control(),
        c => matches!(c.general_category(), Category::Control | Category::Format | Category::PrivateUse),
    }
}

fn is_accent(c: char) -> bool {
    !c.is_ascii() && c.general_category() == Category::NonspacingMark
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { c.general_category_group() == Group::Punctuation }
}

/// The blocks of ideographs that BERT sets apart. Kana and Hangul are not among them.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}
