//! Long text in windows that the model reads whole, without its tokenizer: an estimate that is rather too high for English, and
//! too low for short words that the model does not know, which come in bits. Of those the model leaves out what is too much.

/// Tokens that the model reads, without the two that it adds.
const TOKENS: usize = 126;

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window<'a> {
    pub(super) text: &'a str,
    /// How many tokens it is taken for.
    pub(super) tokens: usize,
}

/// Cuts `text` between words, or within ones that are longer than a window. Only blanks are lost.
pub(super) fn windows(text: &str) -> impl Iterator<Item = Window<'_>> {
    let mut atoms = atoms(text).peekable();
    std::iter::from_fn(move || {
        let (start, mut end, mut tokens) = atoms.next()?;
        while let Some((_, next, more)) = atoms.next_if(|(_, _, more)| tokens + more <= TOKENS) {
            end = next;
            tokens += more;
        }
        Some(Window { text: text.get(start..end)?, tokens })
    })
}

/// Returns start, end and tokens of what is never cut: runs of up to 32 bytes of letters, or digits, and single signs.
fn atoms(text: &str) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let (start, first) = rest.next()?;
        let kind = Kind::of(first);
        let mut end = start + first.len_utf8();
        if kind != Kind::Sign {
            while let Some((at, c)) = rest.next_if(|(at, c)| Kind::of(*c) == kind && at - start < 32) {
                end = at + c.len_utf8();
            }
        }
        Some((start, end, kind.tokens(end - start)))
    })
}

/// What a character is to the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    /// Punctuation, and everything beyond the Latin letters: a token each.
    Sign,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | 'À'..='ɏ' => Self::Letter,
            '0'..='9' => Self::Digit,
            _ => Self::Sign,
        }
    }

    /// Short words are mostly in the model's vocabulary; long ones and numbers come in bits.
    fn tokens(self, bytes: usize) -> usize {
        match self {
            Self::Letter if bytes <= 6 => 1,
            Self::Letter => bytes.div_ceil(4),
            Self::Digit => bytes.div_ceil(2),
            Self::Sign => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn windows_hold_the_whole_text_and_are_read_whole(text in "(\\PC|\\s|[a-z]{1,40} ){0,400}") {
            let found: Vec<Window> = windows(&text).collect();
            prop_assert!(found.iter().all(|window| (1..=TOKENS).contains(&window.tokens)));
            let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
            let joined: String = found.iter().map(|window| without_blanks(window.text)).collect();
            prop_assert_eq!(joined, without_blanks(&text));
        }
    }

    #[test]
    fn short_text_is_one_window_and_long_text_few() {
        let count = |text: &str| windows(text).count();
        assert_eq!(count("Where did Caroline go in May?"), 1);
        assert_eq!(count(&"word ".repeat(126)), 1);
        assert_eq!(count(&"word ".repeat(127)), 2);
        assert_eq!(count(&"漢".repeat(127)), 2);
        assert_eq!(count(" \n"), 0);
        assert_eq!(count(&"x".repeat(64 << 10)), 137);
    }
}
