//! The lexer: turns the text of a filter into tokens.

use super::names::METADATA;
use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Quoted(String),
    /// A quoted key of the metadata.
    Key(String),
    Operator(Operator),
    Open,
    Close,
    Bracket,
    Comma,
    End,
}

impl Token<'_> {
    /// Returns the kind of the token, without its content.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Word(_) => "a word",
            Self::Quoted(_) => "a quoted text",
            Self::Key(_) => "a key of the metadata",
            Self::Operator(_) => "an operator",
            Self::Open => "an opening parenthesis",
            Self::Close => "a closing parenthesis",
            Self::Bracket => "an opening bracket",
            Self::Comma => "a comma",
            Self::End => "the end",
        }
    }
}

/// Yields the tokens of a text one by one.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// The byte after the last token.
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token and where it begins.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>)> {
        let rest = self.rest().trim_start();
        self.at = self.text.len() - rest.len();
        let begin = self.at;
        let Some(first) = rest.chars().next() else { return Ok((begin, Token::End)) };
        let token = match first {
            '(' => self.take(1, Token::Open),
            ')' => self.take(1, Token::Close),
            '[' => self.take(1, Token::Bracket),
            ',' => self.take(1, Token::Comma),
            '=' => self.take(1, Token::Operator(Operator::Equal)),
            '<' if rest.starts_with("<=") => self.take(2, Token::Operator(Operator::LessOrEqual)),
            '<' => self.take(1, Token::Operator(Operator::Less)),
            '>' if rest.starts_with(">=") => self.take(2, Token::Operator(Operator::GreaterOrEqual)),
            '>' => self.take(1, Token::Operator(Operator::Greater)),
            '!' if rest.starts_with("!=") => self.take(2, Token::Operator(Operator::NotEqual)),
            '"' => Token::Quoted(self.quoted()?),
            letter if is_word(letter) => self.word(rest)?,
            _ => return Err(self.error(begin, "expected a condition, found a character that has no meaning")),
        };
        Ok((begin, token))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, bytes: usize, token: Token<'a>) -> Token<'a> {
        self.at += bytes;
        token
    }

    fn word(&mut self, rest: &'a str) -> Result<Token<'a>> {
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        self.at += end;
        if word == METADATA && after.starts_with('"') {
            return Ok(Token::Key(self.quoted()?));
        }
        Ok(Token::Word(word))
    }

    /// Reads a quoted text, its quotation marks included.
    fn quoted(&mut self) -> Result<String> {
        let begin = self.at;
        let mut out = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at = begin + offset + 1;
                    return Ok(out);
                }
                '\\' => {
                    let escaped = letters.next().map(|(_, letter)| letter);
                    let meant = match escaped {
                        Some('"' | '\\') => escaped,
                        Some('n') => Some('\n'),
                        Some('r') => Some('\r'),
                        Some('t') => Some('\t'),
                        Some('u') => code_point(&mut letters),
                        _ => None,
                    };
                    let unknown = || self.error(begin + offset, "an escape that has no meaning");
                    out.push(meant.ok_or_else(unknown)?);
                }
                plain => out.push(plain),
            }
        }
        Err(self.error(begin, "the quoted text does not end"))
    }

    /// Returns the error `what` at the byte `at`, which it gives as the number of the character.
    pub(super) fn error(&self, at: usize, what: &str) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        Error::invalid(format!("filter, character {}: {what}", before.chars().count() + 1))
    }
}

/// Reads `{1f600}`.
fn code_point(letters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let (_, '{') = letters.next()? else { return None };
    let mut code = 0_u32;
    for (_, letter) in letters {
        if letter == '}' {
            return char::from_u32(code);
        }
        code = code.checked_mul(16)?.checked_add(letter.to_digit(16)?)?;
    }
    None
}

fn is_word(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control() && !r#"()[],"'`\=<>!;{}"#.contains(letter)
}
