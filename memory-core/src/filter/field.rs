//! The fields of items and the values that filters compare.

use std::cmp::Ordering;

use crate::time::Timestamp;

/// A field that filters can test.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// `message`, `record` or `span`.
    Unit,
    /// The session's name; a record may have several.
    Session,
    /// A message's number.
    Seq,
    /// A message's role.
    Role,
    /// A message's speaker.
    Speaker,
    /// The agent that it belongs to.
    Agent,
    /// A run of an agent in which it was said or told.
    Run,
    /// A record's kind.
    Kind,
    /// A tag.
    Tag,
    /// The level of trust, 0 (untrusted) to 4 (system).
    Trust,
    /// The key of an item that it was derived from ([`crate::ItemId::key`]).
    Source,
    /// When the message was said, or the record made, in microseconds.
    At,
    /// When it expires, in microseconds.
    ExpiresAt,
    /// When it begins to be true, in microseconds.
    ValidFrom,
    /// When it ceases to be true, in microseconds.
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
    /// Returns a floating-point value; -0.0 becomes 0.0.
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
