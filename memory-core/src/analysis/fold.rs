//! Folding: makes different spellings of a character equal.

use std::borrow::Cow;
use std::ops::Deref;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Returns `text` in NFKC without invisible characters, with one kind of apostrophe and one kind of hyphen.
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let one_kind = |c| match c {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' | '\u{2032}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        other => other,
    };
    text.chars().filter(|c| !is_invisible(*c)).map(one_kind).nfkc().collect()
}

/// Returns whether `c` is invisible: joiners, direction marks, variation selectors, soft hyphens.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// A folded text, borrowed if nothing had to change.
pub(super) struct Folded<'a>(Cow<'a, str>);

impl Deref for Folded<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Returns lower-case `text` without ligatures, and without the marks of Latin and Greek letters.
///
/// Marks of other scripts make other letters and stay, except the two dots of Cyrillic `ё`, which are seldom written.
pub(super) fn fold(text: &str) -> Folded<'_> {
    if text.is_ascii() {
        return Folded(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut drops_marks = false;
    for c in text.chars() {
        if let Some(plain) = without_stroke(c) {
            out.push_str(plain);
            drops_marks = true;
        } else if is_combining_mark(c) {
            if !drops_marks {
                out.push(c);
            }
        } else {
            let mut base = c;
            let mut is_first = true;
            decompose_canonical(c, |part| {
                if is_first {
                    base = part;
                    is_first = false;
                }
            });
            drops_marks = is_latin(base) || is_greek(base);
            out.push(if drops_marks { base } else { c });
        }
    }
    Folded(Cow::Owned(out))
}

/// Works like [`fold`], but returns an owned text.
pub(super) fn fold_owned(text: &str) -> String {
    fold(text).0.into_owned()
}

/// Returns the usual spelling of a letter that has no decomposition.
fn without_stroke(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'þ' => "th",
        'ı' => "i",
        'ħ' => "h",
        'ŧ' => "t",
        'ς' => "σ",
        'ё' => "е",
        _ => return None,
    })
}

/// Returns whether `c` is a letter of Latin script.
pub(super) fn is_latin(c: char) -> bool {
    c.is_alphabetic() && matches!(c, 'A'..='Z' | 'a'..='z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Returns whether `c` is a letter of Greek script.
pub(super) fn is_greek(c: char) -> bool {
    c.is_alphabetic() && matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_and_greek_letters_lose_their_marks_and_others_keep_them() {
        for (text, folded) in [
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("i\u{307}zmir", "izmir"),
            ("straße", "strasse"),
            ("łódź", "lodz"),
            ("việt", "viet"),
            ("αθήνα", "αθηνα"),
            ("λόγος", "λογοσ"),
            ("йод", "йод"),
            ("ёж", "еж"),
            ("กี่", "กี่"),
            ("が", "が"),
            ("हिन्दी", "हिन्दी"),
        ] {
            assert_eq!(&*fold(text), folded, "{text}");
        }
    }

    #[test]
    fn forms_that_look_alike_become_one() {
        for (text, normal) in [
            ("Ａ１", "A1"),
            ("ﬁn", "fin"),
            ("co\u{ad}op", "coop"),
            ("zero\u{200b}width", "zerowidth"),
            ("Anna’s", "Anna's"),
            ("ｶﾞ", "ガ"),
            ("e\u{301}", "é"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
        ] {
            assert_eq!(normalise(text), normal, "{text}");
        }
    }
}
