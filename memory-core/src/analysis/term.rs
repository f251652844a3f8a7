//! Encoding any text as the letters and digits of a [`Term`].

use sha2::{Digest as _, Sha256};

use crate::store::text::Term;

/// Returns the term of `text`; none for the empty text, which has no term.
pub(super) fn of(text: &str) -> Option<Term> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if text.len() <= Term::MAX_BYTES && text.bytes().all(is_plain) {
        return Term::new(text).ok();
    }
    Term::new(&encode(text)).ok()
}

/// Encodes `text` injectively in ASCII letters and digits: `a-z0-9` stand for themselves, any other character becomes `X`, `Y`
/// or `Z` and 2, 4 or 6 hex digits. A term that would be too long is `H` and the start of its hash.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c) {
            _ if c.is_ascii_lowercase() || c.is_ascii_digit() => out.push(c),
            code @ 0..=0xff => push_hex(&mut out, 'X', code, 2),
            code @ 0x100..=0xffff => push_hex(&mut out, 'Y', code, 4),
            code => push_hex(&mut out, 'Z', code, 6),
        }
        if out.len() > Term::MAX_BYTES {
            return shorten(text);
        }
    }
    out
}

fn push_hex(out: &mut String, prefix: char, code: u32, digits: u32) {
    out.push(prefix);
    for place in (0..digits).rev() {
        let digit = code >> (4 * place) & 0xf;
        out.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
}

fn shorten(text: &str) -> String {
    let mut out = String::from("H");
    for byte in Sha256::digest(text).iter().take(20) {
        for digit in [byte >> 4, byte & 0xf] {
            out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Undoes the encoding, so that two texts with one encoding would be caught.
    fn decode(encoded: &str) -> String {
        let mut out = String::new();
        let mut rest = encoded.chars();
        while let Some(c) = rest.next() {
            let digits = match c {
                'X' => 2,
                'Y' => 4,
                'Z' => 6,
                plain => {
                    out.push(plain);
                    continue;
                }
            };
            let hex: String = rest.by_ref().take(digits).collect();
            out.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
        }
        out
    }

    proptest! {
        #[test]
        fn every_short_text_is_read_back_from_its_term(text in "\\PC{1,18}") {
            prop_assert_eq!(decode(of(&text).unwrap().as_str()), text);
        }

        #[test]
        fn every_text_but_the_empty_one_has_a_term(text in "\\PC{0,300}") {
            prop_assert_eq!(of(&text).is_none(), text.is_empty());
        }
    }

    #[test]
    fn plain_words_stand_for_themselves_and_long_ones_keep_apart() {
        assert_eq!(encode("run2"), "run2");
        assert_eq!(encode("e-4"), "eX2d4");
        assert_eq!(encode("東京"), "Y6771Y4eac");
        let (a, b) = ("a".repeat(129), "a".repeat(130));
        assert_ne!(encode(&a), encode(&b));
        assert_eq!(encode(&a).len(), 41);
        assert_eq!(encode(&"a".repeat(128)).len(), 128);
    }
}
