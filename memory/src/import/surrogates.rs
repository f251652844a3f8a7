//! Half a character in JSON: programs that cut texts by UTF-16 leave one of two surrogates, such as `\ud83d` alone, which is no
//! character. U+FFFD takes its place, as browsers show it; nothing moves, because its escape is as long.

use std::io::{self, Read};

/// The bytes of one escape.
const ESCAPE: usize = 6;
const REPLACEMENT: &[u8; ESCAPE] = b"\\ufffd";
/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// What stands at a backslash.
enum Escape {
    /// A unit of UTF-16.
    Unit(u16),
    /// Another one, of two bytes.
    Other,
    /// The bytes end within it.
    Cut,
}

impl Escape {
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            [_, b'u', digits @ ..] => match digits.first_chunk::<4>() {
                None => Self::Cut,
                Some(digits) => Self::of_digits(digits),
            },
            [_, _, ..] => Self::Other,
            _ => Self::Cut,
        }
    }

    fn of_digits(digits: &[u8; 4]) -> Self {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        let unit = digits.iter().try_fold(0, |unit, byte| Some(unit * 16 + digit(byte)?));
        unit.and_then(|unit| u16::try_from(unit).ok()).map_or(Self::Other, Self::Unit)
    }

    fn is_low(&self) -> bool {
        matches!(self, Self::Unit(0xdc00..=0xdfff))
    }
}

/// Puts U+FFFD in the place of each half character of a text in JSON.
///
/// ```
/// let mut line = br#"{"title": "Party \ud83c", "icon": "\ud83c\udf89"}"#.to_vec();
/// memory::import::mend_surrogates(&mut line);
/// assert_eq!(line, br#"{"title": "Party \ufffd", "icon": "\ud83c\udf89"}"#);
/// ```
pub fn mend_surrogates(json: &mut [u8]) {
    mend(json, true);
}

/// Mends what is whole, and returns how many bytes that is. Behind them an escape is cut off, unless this `is_all`.
fn mend(json: &mut [u8], is_all: bool) -> usize {
    let mut at = 0;
    while let Some(rest) = json.get_mut(at..)
        && let Some(next) = rest.iter().position(|byte| *byte == b'\\')
        && let Some(rest) = rest.get_mut(next..)
    {
        at += next;
        let first = Escape::of(rest);
        let second = match first {
            Escape::Unit(0xd800..=0xdbff) => match rest.get(ESCAPE..).unwrap_or_default() {
                [] => Escape::Cut,
                behind @ [b'\\', ..] => Escape::of(behind),
                _ => Escape::Other,
            },
            _ => Escape::Other,
        };
        let is_cut = matches!((&first, &second), (Escape::Cut, _) | (_, Escape::Cut));
        if is_cut && !is_all {
            return at;
        }
        at += match first {
            Escape::Unit(0xd800..=0xdbff) if second.is_low() => 2 * ESCAPE,
            Escape::Unit(0xd800..=0xdfff) => {
                rest.iter_mut().zip(REPLACEMENT).for_each(|(byte, mended)| *byte = *mended);
                ESCAPE
            }
            Escape::Unit(_) => ESCAPE,
            Escape::Other | Escape::Cut => 2,
        };
    }
    json.len()
}

/// A file in JSON whose half characters are mended.
pub(super) struct Mended<R> {
    inner: R,
    bytes: Vec<u8>,
    /// How many of the bytes were taken, and how many are mended.
    taken: usize,
    mended: usize,
}

impl<R> Mended<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, bytes: Vec::new(), taken: 0, mended: 0 }
    }
}

impl<R: Read> Read for Mended<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.mended {
            self.bytes.drain(..self.taken);
            let left = self.bytes.len();
            self.bytes.resize(left + BLOCK, 0);
            let read = self.inner.read(self.bytes.get_mut(left..).unwrap_or_default());
            self.bytes.truncate(left + read.as_ref().copied().unwrap_or(0));
            self.taken = 0;
            self.mended = 0;
            let is_all = read? == 0;
            self.mended = mend(&mut self.bytes, is_all);
            if is_all && self.mended == 0 {
                return Ok(0);
            }
        }
        let mended = self.bytes.get(self.taken..self.mended).unwrap_or_default();
        let read = Read::read(&mut &*mended, into)?;
        self.taken += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }

    fn mended(json: &str) -> String {
        let mut bytes = json.as_bytes().to_vec();
        mend_surrogates(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn half_characters_alone_are_replaced() {
        for (json, expected) in [
            (r"\ud83d", r"\ufffd"),
            (r"\uDE00 x", r"\ufffd x"),
            (r"\ud83d\ude00", r"\ud83d\ude00"),
            (r"\uD83D\uDE00\ude00", r"\uD83D\uDE00\ufffd"),
            (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
            (r"\ud83d\n", r"\ufffd\n"),
            (r"\ud83dude00", r"\ufffdude00"),
            // A backslash that is escaped begins no escape.
            (r"\\ud83d", r"\\ud83d"),
            (r"\\\ud83d", r"\\\ufffd"),
            (r"\u00e9\u20ac", r"\u00e9\u20ac"),
            (r"\ud83", r"\ud83"),
            (r"\uzzzz\ud83d", r"\uzzzz\ufffd"),
            ("\\", "\\"),
            ("", ""),
        ] {
            assert_eq!(mended(json), expected, "{json}");
        }
    }

    #[test]
    fn a_file_is_mended_as_its_text_is_however_it_is_read() {
        let parts = [r"\ud83d", r"\ude00", r"\\", r"\n", "u", "d83d", "é", ""];
        for number in 0..parts.len().pow(5) {
            let json: String = (0..5).map(|place| parts[number / parts.len().pow(place) % parts.len()]).collect();
            let mut read = String::new();
            Mended::new(Slowly(json.as_bytes(), 1 + number % 8)).read_to_string(&mut read).unwrap();
            assert_eq!(read, mended(&json), "{json}");
            assert!(serde_json::from_str::<String>(&format!("\"{read}\"")).is_ok(), "{json}");
        }
    }
}
