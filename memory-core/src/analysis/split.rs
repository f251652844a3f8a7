//! Splitting normalised text into words, joined names with their parts, and pairs of dense scripts.

use unicode_normalization::char::is_combining_mark;

use super::piece::{Piece, Sink};
use super::{dense, numbers};

/// A word that changes between cases or kinds more often than this is not split: it is a key or a hash.
const MAX_PARTS: usize = 8;

/// A word that changes between letters and digits more often than this is not split there.
const MAX_DIGIT_CHANGES: usize = 2;

/// How an apostrophe within a word is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apostrophes {
    /// `'s` and short forms of auxiliaries are dropped, `n't` stays, and a name gives the whole and its parts.
    English,
    /// It ends a word.
    Split,
}

/// How case is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Casing {
    /// By Unicode, without a language.
    Common,
    /// With the dotted and the dotless i of Turkish.
    Turkish,
}

/// Gives `sink` the pieces of `text`, which is in NFKC.
pub(super) fn pieces(text: &str, apostrophes: Apostrophes, casing: Casing, sink: Sink<'_>) {
    let mut splitter = Splitter { apostrophes, casing, lower: String::new(), sink };
    let mut run = Run { start: 0, is_dense: false };
    let mut previous = ' ';
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        if letters > 0 && !run.is_dense {
            // Most of most texts.
            previous = 'a';
            at += letters;
            continue;
        }
        let mut chars = rest.chars();
        let (c, next) = (chars.next().unwrap_or(' '), chars.next().unwrap_or(' '));
        let class = match class(c) {
            Class::Mark if run.is_dense => Class::Dense,
            Class::Mark => Class::Word,
            Class::Comma if previous.is_ascii_digit() && next.is_ascii_digit() => Class::Word,
            Class::Comma => Class::Break,
            Class::Repeatable if previous == c || next == c => Class::Break,
            Class::Repeatable => Class::Word,
            class => class,
        };
        if class == Class::Break || run.is_dense != (class == Class::Dense) {
            splitter.run(text.get(run.start..at).unwrap_or_default(), run.is_dense);
            let start = if class == Class::Break { at + c.len_utf8() } else { at };
            run = Run { start, is_dense: class == Class::Dense };
        }
        previous = c;
        at += c.len_utf8();
    }
    splitter.run(text.get(run.start..).unwrap_or_default(), run.is_dense);
}

struct Run {
    start: usize,
    is_dense: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter, a digit or a sign that joins.
    Word,
    /// A mark on the character before it.
    Mark,
    /// A sign that joins unless it is doubled.
    Repeatable,
    /// A comma, which joins digits.
    Comma,
    Dense,
    Break,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '\'' => Class::Word,
        '.' | '-' => Class::Repeatable,
        ',' => Class::Comma,
        _ if c.is_ascii() => {
            if is_strong(c) {
                Class::Word
            } else {
                Class::Break
            }
        }
        _ if dense::is_dense(c) => Class::Dense,
        _ if is_combining_mark(c) => Class::Mark,
        _ if c.is_alphanumeric() => Class::Word,
        _ => Class::Break,
    }
}

/// Returns whether `c` ends a word, whatever stands around it.
pub(super) fn is_break(c: char) -> bool {
    class(c) == Class::Break
}

/// Returns whether `c` joins names to a path, an address or a pair.
fn is_strong(c: char) -> bool {
    matches!(c, '/' | '\\' | ':' | '@' | '=' | '?' | '&' | '#' | '%' | '+' | '~')
}

/// Returns whether `c` joins words to a name.
fn is_weak(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | ',')
}

fn is_sign(c: char) -> bool {
    is_strong(c) || is_weak(c) || c == '\''
}

struct Splitter<'a> {
    apostrophes: Apostrophes,
    casing: Casing,
    /// A buffer for one lower-case piece.
    lower: String,
    sink: Sink<'a>,
}

impl Splitter<'_> {
    fn run(&mut self, run: &str, is_dense: bool) {
        if is_dense {
            return dense::pairs(run, self.sink);
        }
        if !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return (self.sink)(Piece::Word, run);
        }
        let name = run.trim_matches(is_sign);
        if name.is_empty() {
            return;
        }
        if name.chars().all(|c| !is_sign(c)) {
            self.word(name);
        } else {
            self.chain(name);
        }
        let tail = run.trim_start_matches(is_sign).strip_prefix(name).unwrap_or_default();
        if matches!(tail, "++" | "#") && name.chars().all(char::is_alphabetic) {
            // Names such as C++ and C#.
            self.give(Piece::Whole, &[name, tail]);
        }
    }

    /// Splits a text at strong signs, and gives the whole too.
    fn chain(&mut self, chain: &str) {
        let mut links = 0;
        for link in chain.split(is_strong).map(|link| link.trim_matches(is_sign)).filter(|link| !link.is_empty()) {
            self.link(link);
            links += 1;
        }
        if links > 1 {
            self.give(Piece::Whole, &[chain]);
        }
    }

    /// Splits a text at weak signs, and gives the whole too; as a word if people also write it as one.
    fn link(&mut self, link: &str) {
        let atoms = || link.split(is_weak).map(|atom| atom.trim_matches('\'')).filter(|atom| !atom.is_empty());
        for atom in atoms() {
            self.atom(atom);
        }
        if atoms().count() < 2 {
            return;
        }
        let is_joined_by = |sign| link.chars().all(|c| !is_weak(c) || c == sign);
        let is_compound = is_joined_by('-') && link.chars().all(|c| c == '-' || c.is_alphabetic());
        let is_acronym =
            is_joined_by('.') && atoms().all(|atom| atom.chars().count() == 1 && atom.chars().all(char::is_alphabetic));
        let is_number = is_joined_by(',') || is_joined_by('.') || is_joined_by('-');
        let is_thousands = is_joined_by(',') && atoms().skip(1).all(|atom| atom.len() == 3);
        let is_one = is_number && numbers::is_one(&atoms(), is_joined_by('-'));
        if is_compound || is_acronym || is_thousands || is_one {
            let atoms: Vec<&str> = atoms().collect();
            self.give(Piece::Word, &atoms);
        }
        if !is_compound && !is_acronym && !is_thousands {
            self.give(Piece::Whole, &[link]);
        }
    }

    /// Splits a word at its apostrophes.
    fn atom(&mut self, atom: &str) {
        let Some((head, tail)) = atom.rsplit_once('\'') else { return self.word(atom) };
        let parts: Vec<&str> = atom.split('\'').filter(|part| !part.is_empty()).collect();
        if self.apostrophes == Apostrophes::Split {
            return parts.iter().for_each(|part| self.word(part));
        }
        let is = |ending: &str| tail.eq_ignore_ascii_case(ending);
        if is("t") && head.ends_with(['n', 'N']) {
            self.give(Piece::Word, &parts);
        } else if ["s", "m", "re", "ve", "ll", "d"].into_iter().any(is) {
            self.name(head);
        } else {
            self.name(atom);
        }
    }

    /// Gives a word that may hold apostrophes as a whole, and its parts if there are several.
    fn name(&mut self, name: &str) {
        let parts: Vec<&str> = name.split('\'').filter(|part| !part.is_empty()).collect();
        if let [part] = *parts {
            return self.word(part);
        }
        self.give(Piece::Word, &parts);
        parts.iter().for_each(|part| self.word(part));
    }

    /// Gives a word, and its parts if it changes between cases or between letters and digits.
    fn word(&mut self, word: &str) {
        self.give(Piece::Word, &[word]);
        if word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) || word.bytes().all(|byte| byte.is_ascii_digit())
        {
            return;
        }
        let parts = parts(word);
        if parts.len() > 1 {
            parts.iter().for_each(|part| self.give(Piece::Word, &[part]));
        }
    }

    fn give(&mut self, piece: Piece, parts: &[&str]) {
        self.lower.clear();
        for part in parts {
            lower(part, self.casing, &mut self.lower);
        }
        (self.sink)(piece, &self.lower);
    }
}

/// Appends `text` in lower case to `out`.
pub(super) fn lower(text: &str, casing: Casing, out: &mut String) {
    for c in text.chars() {
        match c {
            'I' if casing == Casing::Turkish => out.push('ı'),
            'İ' if casing == Casing::Turkish => out.push('i'),
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            _ => out.extend(c.to_lowercase()),
        }
    }
}

/// Returns the parts of `word`: none if there would be too many.
fn parts(word: &str) -> Vec<&str> {
    let mut cuts = Vec::new();
    let mut digit_cuts = 0;
    let mut before = (' ', ' ');
    let mut before_at = 0;
    for (at, c) in word.char_indices().filter(|(_, c)| !is_combining_mark(*c)) {
        let (second, last) = before;
        if at > 0 && last.is_numeric() != c.is_numeric() {
            cuts.push((at, true));
            digit_cuts += 1;
        } else if last.is_lowercase() && c.is_uppercase() {
            cuts.push((at, false));
        } else if second.is_uppercase() && last.is_uppercase() && c.is_lowercase() {
            cuts.push((before_at, false));
        }
        before = (last, c);
        before_at = at;
        if cuts.len() > MAX_PARTS * 4 {
            return Vec::new();
        }
    }
    cuts.retain(|(_, is_digit)| !is_digit || digit_cuts <= MAX_DIGIT_CHANGES);
    if cuts.is_empty() || cuts.len() >= MAX_PARTS {
        return Vec::new();
    }
    let starts = std::iter::once(0).chain(cuts.iter().map(|(at, _)| *at));
    let ends = cuts.iter().map(|(at, _)| *at).chain(std::iter::once(word.len()));
    starts.zip(ends).filter_map(|(start, end)| word.get(start..end)).filter(|part| !part.is_empty()).collect()
}
