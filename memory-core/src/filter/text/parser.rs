//! The parser: turns tokens into a filter.

use super::lexer::{Lexer, Operator, Token};
use super::names::{FIELDS, Kind, METADATA};
use crate::error::{Error, Result};
use crate::filter::{Field, Filter, Scalar};
use crate::limits::Limits;
use crate::message::Trust;
use crate::time::Timestamp;

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Filter> {
    let mut lexer = Lexer::new(text);
    let (at, next) = lexer.next()?;
    // Only bounds the work: the text has parentheses and ends of ranges that do not count in the tree.
    let (left, depth) = (limits.filter_clauses.saturating_mul(4), limits.filter_depth.saturating_mul(2).min(200));
    let mut parser = Parser { lexer, next, at, left, depth };
    let filter = parser.any_of()?;
    if parser.next != Token::End {
        return Err(parser.expected("and, or, or the end"));
    }
    Ok(filter)
}

/// A parser that looks one token ahead.
struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token<'a>,
    /// Where `next` begins.
    at: usize,
    /// How many more terms and values are allowed.
    left: usize,
    /// How many more levels are allowed.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<Token<'a>> {
        let (at, next) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Takes the next token if it is `token`.
    fn take(&mut self, token: &Token<'_>) -> Result<bool> {
        let is_next = self.next == *token;
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Takes the next token if it is the word `word`, ignoring case.
    fn take_word(&mut self, word: &str) -> Result<bool> {
        let is_next = self.is_word(word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.next, Token::Word(next) if next.eq_ignore_ascii_case(word))
    }

    fn need(&mut self, token: &Token<'_>) -> Result<()> {
        if self.take(token)? { Ok(()) } else { Err(self.expected(token.kind())) }
    }

    fn expected(&self, what: &str) -> Error {
        self.lexer.error(self.at, &format!("expected {what}, found {}", self.next.kind()))
    }

    /// Counts a term or a value.
    fn count(&mut self) -> Result<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| self.lexer.error(self.at, "the filter is too large"))?;
        Ok(())
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth = self.depth.checked_sub(1).ok_or_else(|| self.lexer.error(self.at, "the filter is too deep"))?;
        let found = inner(self)?;
        self.depth += 1;
        Ok(found)
    }

    fn any_of(&mut self) -> Result<Filter> {
        self.joined("or", Self::all_of, Filter::Or)
    }

    fn all_of(&mut self) -> Result<Filter> {
        self.joined("and", Self::term, Filter::And)
    }

    fn joined(
        &mut self,
        word: &str,
        item: impl Fn(&mut Self) -> Result<Filter>,
        join: impl Fn(Vec<Filter>) -> Filter,
    ) -> Result<Filter> {
        let first = item(self)?;
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut list = vec![first];
        while self.take_word(word)? {
            list.push(item(self)?);
        }
        Ok(join(list))
    }

    fn term(&mut self) -> Result<Filter> {
        self.count()?;
        if self.take(&Token::Open)? {
            let inner = self.nested(Self::any_of)?;
            self.need(&Token::Close)?;
            return Ok(inner);
        }
        if self.take_word("not")? {
            return Ok(self.nested(Self::term)?.negate());
        }
        if self.take_word("and")? {
            return Ok(Filter::And(self.few()?));
        }
        if self.take_word("or")? {
            return Ok(Filter::Or(self.few()?));
        }
        if self.take_word("all")? {
            return Ok(Filter::All);
        }
        if self.take_word("exists")? {
            self.need(&Token::Open)?;
            let field = self.field()?;
            self.need(&Token::Close)?;
            return Ok(Filter::Exists(field));
        }
        let field = self.field()?;
        self.condition(field)
    }

    /// Reads the parentheses of `and()` and `or(role = user)`.
    fn few(&mut self) -> Result<Vec<Filter>> {
        self.need(&Token::Open)?;
        if self.take(&Token::Close)? {
            return Ok(Vec::new());
        }
        let only = self.nested(Self::any_of)?;
        self.need(&Token::Close)?;
        Ok(vec![only])
    }

    fn field(&mut self) -> Result<Field> {
        let field = match &self.next {
            Token::Key(key) => Some(Field::Metadata(key.clone())),
            Token::Word(word) => match word.strip_prefix(METADATA).filter(|key| !key.is_empty()) {
                Some(key) => Some(Field::Metadata(key.to_owned())),
                None => FIELDS.into_iter().find(|(name, _)| name == word).map(|(_, field)| field),
            },
            _ => None,
        };
        let field = field.ok_or_else(|| {
            let names: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
            self.expected(&format!("one of the fields {} or meta.KEY", names.join(", ")))
        })?;
        self.advance()?;
        Ok(field)
    }

    fn condition(&mut self, field: Field) -> Result<Filter> {
        if self.take_word("in")? {
            return self.membership(field);
        }
        let Token::Operator(operator) = self.next else { return Err(self.expected("an operator or in")) };
        self.advance()?;
        let value = self.value(&field)?;
        Ok(comparison(field, operator, value))
    }

    fn membership(&mut self, field: Field) -> Result<Filter> {
        if self.take(&Token::Bracket)? {
            let from = if self.next == Token::Comma { None } else { Some(self.value(&field)?) };
            self.need(&Token::Comma)?;
            let until = if self.next == Token::Close { None } else { Some(self.value(&field)?) };
            self.need(&Token::Close)?;
            return Ok(Filter::Range { field, from, until });
        }
        if !self.take(&Token::Open)? {
            return Err(self.expected("a list in parentheses or a stretch such as [1, 5)"));
        }
        let mut values = Vec::new();
        while self.next != Token::Close {
            values.push(self.value(&field)?);
            if self.next != Token::Close {
                self.need(&Token::Comma)?;
            }
        }
        self.need(&Token::Close)?;
        Ok(Filter::In(field, values))
    }

    fn value(&mut self, field: &Field) -> Result<Scalar> {
        self.count()?;
        let (at, kind) = (self.at, self.next.kind());
        let (text, is_quoted) = match self.next.clone() {
            Token::Word(word) => (word.to_owned(), false),
            Token::Quoted(text) => (text, true),
            _ => return Err(self.expected("a value")),
        };
        self.advance()?;
        if !is_quoted && self.next == Token::Open {
            return self.typed(at, &text);
        }
        let expected = |what: &str| self.lexer.error(at, &format!("expected {what}, found {kind}"));
        match Kind::of(field) {
            Kind::Text => Ok(Scalar::Text(text)),
            Kind::Any if is_quoted => Ok(Scalar::Text(text)),
            Kind::Any => by_looks(text).ok_or_else(|| expected("a number within range")),
            Kind::Number => whole(&text).ok_or_else(|| expected("a whole number")),
            Kind::Trust => trust(&text).ok_or_else(|| expected("a level of trust such as tool or user")),
            Kind::Time => {
                let time = text.parse::<Timestamp>();
                time.map(Scalar::from).map_err(|_| expected("a time such as 2024-05-17 or 2024-05-17T18:30:00Z"))
            }
        }
    }

    /// Reads the parentheses of `int(5)`, `float(1.5)`, `bool(true)` and `text(5)`.
    fn typed(&mut self, at: usize, kind: &str) -> Result<Scalar> {
        self.need(&Token::Open)?;
        let text = match self.advance()? {
            Token::Word(word) => word.to_owned(),
            Token::Quoted(text) => text,
            _ => return Err(self.lexer.error(at, "expected one value between the parentheses")),
        };
        let value = match kind {
            "int" => whole(&text),
            "float" => text.parse().ok().filter(|number: &f64| !number.is_nan()).map(Scalar::float),
            "bool" => text.parse().ok().map(Scalar::Bool),
            "text" => Some(Scalar::Text(text)),
            _ => None,
        };
        self.need(&Token::Close)?;
        value.ok_or_else(|| self.lexer.error(at, "expected int, float, bool or text with such a value"))
    }
}

fn whole(text: &str) -> Option<Scalar> {
    text.parse().ok().map(Scalar::Int)
}

fn trust(text: &str) -> Option<Scalar> {
    let levels = [Trust::Untrusted, Trust::Tool, Trust::Assistant, Trust::User, Trust::System];
    let level = levels.into_iter().find(|level| level.name() == text);
    level.map(|level| Scalar::Int(level as i64)).or_else(|| whole(text))
}

/// Returns the value that a metadata word looks like; none for a number that is too large.
fn by_looks(word: String) -> Option<Scalar> {
    let digits = word.trim_start_matches(['+', '-', '.']);
    let looks_like_number = word.len() - digits.len() < 3 && digits.starts_with(|letter: char| letter.is_ascii_digit());
    match word.as_str() {
        "true" => Some(Scalar::Bool(true)),
        "false" => Some(Scalar::Bool(false)),
        _ if !looks_like_number => Some(Scalar::Text(word)),
        number => match (number.parse().map(Scalar::Int), number.parse::<f64>()) {
            (Ok(whole), _) => Some(whole),
            (_, Ok(number)) => number.is_finite().then(|| Scalar::float(number)),
            _ => Some(Scalar::Text(word)),
        },
    }
}

fn comparison(field: Field, operator: Operator, value: Scalar) -> Filter {
    match operator {
        Operator::Equal => Filter::Eq(field, value),
        Operator::NotEqual => Filter::Ne(field, value),
        Operator::Less => Filter::range(field, None, Some(value)),
        Operator::GreaterOrEqual => Filter::range(field, Some(value), None),
        Operator::LessOrEqual => match successor(&value) {
            Some(next) => Filter::range(field, None, Some(next)),
            None => Filter::Or(vec![Filter::range(field.clone(), None, Some(value.clone())), Filter::Eq(field, value)]),
        },
        Operator::Greater => match (successor(&value), value) {
            (Some(next), _) => Filter::range(field, Some(next), None),
            // `not =` would be wrong for a list that holds the value and a larger one; the next text is exact for both.
            (None, Scalar::Text(text)) => Filter::range(field, Some(Scalar::Text(text + "\0")), None),
            (None, _) => Filter::Or(Vec::new()),
        },
    }
}

/// Returns the next value of the type; none for a text, and for the largest value.
fn successor(value: &Scalar) -> Option<Scalar> {
    match value {
        Scalar::Bool(flag) => (!flag).then_some(Scalar::Bool(true)),
        Scalar::Int(number) => number.checked_add(1).map(Scalar::Int),
        Scalar::Float(number) => (*number < f64::INFINITY).then(|| Scalar::float(number.next_up())),
        Scalar::Text(_) => None,
    }
}
