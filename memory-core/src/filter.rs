//! One filter language for every backend: an expression tree, its meaning, and a text form for people.

mod normal;
mod text;

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::fields::{Fields, Seen};
use crate::limits::Limits;
use crate::time::Timestamp;

pub use normal::{Bounds, Normal, Test};

/// A field that filters can see.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// `message`, `record` or `span`.
    Unit,
    /// The session's name; a record may have been told in several.
    Session,
    /// A message's number.
    Seq,
    /// A message's role.
    Role,
    /// A message's speaker.
    Speaker,
    /// The agent that it belongs to.
    Agent,
    /// A run in which it was said or told.
    Run,
    /// A record's kind.
    Kind,
    /// A tag.
    Tag,
    /// The level of trust, 0 (untrusted) to 4 (system).
    Trust,
    /// The key of an item that it was derived from ([`crate::ItemId::key`]).
    Source,
    /// When it was said or made, in microseconds.
    At,
    /// When it expires, in microseconds.
    ExpiresAt,
    /// When it begins to be true, in microseconds.
    ValidFrom,
    /// When it ends being true, in microseconds.
    ValidTo,
    /// When it was superseded, in microseconds.
    SupersededAt,
    /// A value of the metadata.
    Metadata(String),
}

/// A value to compare with. Values of different types never match: 1 is not 1.0 and not `"1"`.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number. Never NaN, and never -0.0, which is 0.0.
    Float(f64),
    /// A text, compared byte by byte.
    Text(String),
}

impl Scalar {
    /// Returns a number that is not whole, with -0.0 as 0.0.
    pub fn float(number: f64) -> Self {
        Self::Float(if number == 0.0 { 0.0 } else { number })
    }

    /// Returns the order of two values of one type; none for values of different types.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(a.cmp(b)),
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            _ => None,
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Scalar {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<f64> for Scalar {
    fn from(number: f64) -> Self {
        Self::float(number)
    }
}

impl From<bool> for Scalar {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<Timestamp> for Scalar {
    fn from(time: Timestamp) -> Self {
        Self::Int(time.0)
    }
}

/// Which items a call may return. Every backend gives the answer of [`Filter::matches`], before any limit.
///
/// Two-valued: on a missing field every leaf is false except `Ne`, which is `not Eq`. A list matches if one of its
/// elements does. Types never compare across.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// Everything.
    All,
    /// The field holds the value.
    Eq(Field, Scalar),
    /// The field does not hold the value, or is missing.
    Ne(Field, Scalar),
    /// The field holds one of the values; none for an empty list.
    In(Field, Vec<Scalar>),
    /// The field holds a value with `from <= value < until`; an end that is none is open. With both ends none, the
    /// field exists.
    Range {
        /// The field.
        field: Field,
        /// The first value that matches.
        from: Option<Scalar>,
        /// The first value that does not match any more.
        until: Option<Scalar>,
    },
    /// The field holds a value.
    Exists(Field),
    /// All of them; everything for an empty list.
    And(Vec<Filter>),
    /// One of them; nothing for an empty list.
    Or(Vec<Filter>),
    /// Not it.
    Not(Box<Filter>),
}

impl Filter {
    /// Returns the filter for items whose `field` holds `value`.
    pub fn eq(field: Field, value: impl Into<Scalar>) -> Self {
        Self::Eq(field, value.into())
    }

    /// Returns the filter for items whose `field` holds a value in `from..until`.
    pub fn range(field: Field, from: Option<Scalar>, until: Option<Scalar>) -> Self {
        Self::Range { field, from, until }
    }

    /// Returns the filter for what matches both; [`Filter::All`] adds nothing.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, only) | (only, Self::All) => only,
            (Self::And(mut list), other) => {
                list.push(other);
                Self::And(list)
            }
            (first, second) => Self::And(vec![first, second]),
        }
    }

    /// Returns the filter for what does not match.
    #[must_use]
    pub fn negate(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Returns the filter for what has not expired at `now`; superseded items are let through.
    pub fn unexpired(now: Timestamp) -> Self {
        Self::later(Field::ExpiresAt, now)
    }

    /// Returns the filter for what is current at `now`: not expired, true, and not superseded.
    pub fn current(now: Timestamp) -> Self {
        Self::And(vec![Self::unexpired(now), Self::true_at(now), Self::Exists(Field::SupersededAt).negate()])
    }

    /// Returns the filter for what was current at `at`: true then, and not superseded before.
    ///
    /// Expiry is no matter of the past: what has expired at `now` is never returned.
    pub fn as_of(at: Timestamp, now: Timestamp) -> Self {
        let made = Self::range(Field::At, None, Some(Scalar::Int(at.0.saturating_add(1))));
        let list = vec![Self::unexpired(now), made, Self::true_at(at), Self::later(Field::SupersededAt, at)];
        Self::And(list)
    }

    fn true_at(at: Timestamp) -> Self {
        let begun = Self::range(Field::ValidFrom, None, Some(Scalar::Int(at.0.saturating_add(1))));
        let from = Self::Or(vec![Self::Exists(Field::ValidFrom).negate(), begun]);
        from.and(Self::later(Field::ValidTo, at))
    }

    /// Missing, or later than `now`.
    fn later(field: Field, now: Timestamp) -> Self {
        let after = Self::range(field.clone(), Some(Scalar::Int(now.0.saturating_add(1))), None);
        Self::Or(vec![Self::Exists(field).negate(), after])
    }

    /// Returns whether an item with these fields matches. The definition that every backend has to agree with.
    pub fn matches(&self, fields: &Fields) -> bool {
        let is = |found: Seen<'_>, value: &Scalar| found.compare(value) == Some(Ordering::Equal);
        match self {
            Self::All => true,
            Self::Eq(field, value) => fields.any(field, &mut |found| is(found, value)),
            Self::Ne(field, value) => !fields.any(field, &mut |found| is(found, value)),
            Self::In(field, values) => fields.any(field, &mut |found| values.iter().any(|value| is(found, value))),
            Self::Range { field, from, until } => fields.any(field, &mut |found| {
                let from = from.as_ref().is_none_or(|from| found.compare(from).is_some_and(Ordering::is_ge));
                from && until.as_ref().is_none_or(|until| found.compare(until).is_some_and(Ordering::is_lt))
            }),
            Self::Exists(field) => fields.any(field, &mut |_| true),
            Self::And(list) => list.iter().all(|filter| filter.matches(fields)),
            Self::Or(list) => list.iter().any(|filter| filter.matches(fields)),
            Self::Not(filter) => !filter.matches(fields),
        }
    }

    /// Returns `Ok` if the filter keeps the limits: its clauses, its depth, and numbers that are numbers.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        let mut clauses = 0;
        self.count(limits, 1, &mut clauses)
    }

    fn count(&self, limits: &Limits, depth: usize, clauses: &mut usize) -> Result<()> {
        let values = match self {
            Self::Eq(_, value) | Self::Ne(_, value) => std::slice::from_ref(value),
            Self::In(_, values) => values,
            _ => &[],
        };
        *clauses += 1 + values.len();
        if *clauses > limits.filter_clauses || depth > limits.filter_depth {
            return Err(Error::invalid("the filter is too large"));
        }
        let ends = match self {
            Self::Range { from, until, .. } => [from.as_ref(), until.as_ref()],
            _ => [None, None],
        };
        let mut numbers = values.iter().chain(ends.into_iter().flatten());
        if numbers.any(|value| matches!(value, Scalar::Float(number) if number.is_nan())) {
            return Err(Error::invalid("a filter compares with a number that is none"));
        }
        match self {
            Self::And(list) | Self::Or(list) => list.iter().try_for_each(|f| f.count(limits, depth + 1, clauses)),
            Self::Not(filter) => filter.count(limits, depth + 1, clauses),
            _ => Ok(()),
        }
    }
}
