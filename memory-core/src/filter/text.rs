//! The text form of filters: `role = user and at >= 2024-01-01 and tag in (a, b)`.
//!
//! A condition compares a field with a value by `=`, `!=`, `<`, `<=`, `>` or `>=`, tests it against a list, `tag in (a, b)`, or
//! a range, `seq in [10, 20)`, or tests its presence, `exists(speaker)`. `not`, `and` and `or`, which bind in this order, and
//! parentheses join conditions; `all` matches everything.
//!
//! Fields are `unit session seq role speaker agent run kind tag trust source at expires_at valid_from valid_to
//! superseded_at`, and `meta.key` or `meta."any key"`. A value is a word or a `"quoted \" text"`. Times are RFC 3339 or a date,
//! and trust is the name of a level. A metadata value looks like its type: `true` or `false`, a whole number, another number,
//! or else a text. A value of another type than that is written `int(5)`, `float(1.5)`, `bool(true)` or `text(5)`.
//!
//! An `and` or `or` of fewer than two is written `and()`, `or(role = user)`. The tree has no node for `<=`: `x <= 5` is read as
//! `x < 6` and, if there is no next value, `speaker <= b` as `speaker < b or speaker = b`.

mod lexer;
mod names;
mod parser;
mod printer;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use super::Filter;
use crate::error::{Error, Result};
use crate::limits::Limits;

impl Filter {
    /// Parses the text form, within `limits`: `role = user and at >= 2024-01-01 and tag in (a, b)`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is not a filter, with the place and what was expected there, or that exceeds the
    /// limits.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self> {
        let filter = parser::parse(text, limits)?;
        filter.check(limits)?;
        Ok(filter)
    }
}

impl FromStr for Filter {
    type Err = Error;

    /// Parses the text form within the default limits; see [`Filter::parse`].
    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text, &Limits::default())
    }
}

/// Writes the text form, which parses to the same filter.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        printer::filter(self, f)
    }
}
