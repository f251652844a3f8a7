//! The most tokens that a run of ASCII letters can have.
//!
//! Byte-pair encoding ends when no two neighbouring tokens form a token together. So if `th` is a token, the tokens `t` and `h`
//! are never neighbours, and if `the` is one, neither are `th` and `e`. The files list what is one token in both cl100k and
//! o200k: pairs and triples of letters, which bound every run, and frequent words.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Pairs and triples of letters, `_` for a blank at their beginning.
const GRAMS: &str = include_str!("grams.txt");
/// Words that are one token with the blank before them.
const WORDS: &str = include_str!("words.txt");

/// A blank, the small letters, the capitals.
const SYMBOLS: usize = 53;

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::read);

struct Tables {
    pairs: Bits,
    triples: Bits,
    words: HashSet<&'static [u8]>,
}

impl Tables {
    fn read() -> Self {
        let (mut pairs, mut triples) = (Bits::new(SYMBOLS.pow(2)), Bits::new(SYMBOLS.pow(3)));
        for gram in GRAMS.split_ascii_whitespace() {
            let place = gram.bytes().fold(0, |place, byte| place * SYMBOLS + symbol(byte));
            if gram.len() == 2 { pairs.set(place) } else { triples.set(place) }
        }
        Self { pairs, triples, words: WORDS.split_ascii_whitespace().map(str::as_bytes).collect() }
    }
}

/// A bit set, small enough to stay in the processor's cache.
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, place: usize) {
        if let Some(word) = self.0.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn has(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// Returns the number of a letter; 0 for a blank.
fn symbol(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a') + 1,
        b'A'..=b'Z' => usize::from(byte - b'A') + 27,
        _ => 0,
    }
}

/// Returns whether the word is one token if it follows a blank and no letter follows it.
pub(super) fn is_frequent(word: &[u8]) -> bool {
    TABLES.words.contains(word)
}

/// The most tokens of the letters so far, by the length of the last token.
#[derive(Clone, Copy, Default)]
struct Most {
    one: u64,
    two: u64,
    /// Three letters or more, or a token that begins before the run: any token may follow.
    more: u64,
}

impl Most {
    fn any(self) -> u64 {
        self.one.max(self.two).max(self.more)
    }
}

/// Returns the most tokens that lie wholly in `run`, which holds letters, perhaps after a blank.
pub(super) fn most_tokens(run: &[u8]) -> u64 {
    let tables = &*TABLES;
    let [mut third_last, mut second_last, mut last] = [Most::default(); 3];
    let (mut before, mut here): (Option<usize>, Option<usize>) = (None, None);
    let mut most = 0;
    for byte in run {
        let next = symbol(*byte);
        let is_pair = here.is_some_and(|here| tables.pairs.has(here * SYMBOLS + next));
        let both = before.zip(here);
        let is_triple =
            both.is_some_and(|(before, here)| tables.triples.has((before * SYMBOLS + here) * SYMBOLS + next));
        let unless = |is_token: bool, tokens: u64| if is_token { 0 } else { tokens };
        let now = Most {
            one: 1 + last.more.max(unless(is_pair, last.one)).max(unless(is_triple, last.two)),
            two: here.map_or(0, |_| 1 + second_last.more.max(second_last.two).max(unless(is_triple, second_last.one))),
            more: last.more.max(both.map_or(0, |_| 1 + third_last.any())),
        };
        most = most.max(now.any());
        (third_last, second_last, last) = (second_last, last, now);
        (before, here) = (here, Some(next));
    }
    most
}
