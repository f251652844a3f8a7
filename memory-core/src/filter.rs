//! Filters: one expression tree for all backends, its meaning, and a text form for people.

mod check;
mod field;
mod normal;
mod text;

use std::cmp::Ordering;

use crate::fields::{Fields, Seen};
use crate::time::Timestamp;

pub use field::{Field, Scalar};
pub use normal::{Bounds, Normal, Test};

/// Which items a call may return. Every backend agrees with [`Filter::matches`], and filters before any limit.
///
/// Two-valued logic: on a missing field every leaf is false except `Ne`, which is `not Eq`. A list matches if one of its
/// elements does. Values of different types never match.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// Everything.
    All,
    /// The field holds the value.
    Eq(Field, Scalar),
    /// The field does not hold the value, or is missing.
    Ne(Field, Scalar),
    /// The field holds one of the values; an empty list matches nothing.
    In(Field, Vec<Scalar>),
    /// The field holds a value with `from <= value < until`. An end that is `None` is open; with both open, the field must
    /// exist.
    Range {
        /// The field.
        field: Field,
        /// The first value that matches.
        from: Option<Scalar>,
        /// The first value that no longer matches.
        until: Option<Scalar>,
    },
    /// The field holds a value.
    Exists(Field),
    /// All filters match; an empty list matches everything.
    And(Vec<Filter>),
    /// One of the filters matches; an empty list matches nothing.
    Or(Vec<Filter>),
    /// The filter does not match.
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

    /// Returns the filter for what matches both. [`Filter::All`] adds nothing.
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

    /// Returns the filter for what has not expired at `now`, including superseded items.
    pub fn unexpired(now: Timestamp) -> Self {
        Self::later(Field::ExpiresAt, now)
    }

    /// Returns the filter for what is current at `now`: not expired, true, and not superseded.
    pub fn current(now: Timestamp) -> Self {
        Self::And(vec![Self::unexpired(now), Self::true_at(now), Self::Exists(Field::SupersededAt).negate()])
    }

    /// Returns the filter for what was current at `at`: true then, and not superseded before.
    ///
    /// What has expired at `now` is never returned, even if it had not expired at `at`.
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

    /// Returns the filter for a field that is missing, or later than `now`.
    fn later(field: Field, now: Timestamp) -> Self {
        let after = Self::range(field.clone(), Some(Scalar::Int(now.0.saturating_add(1))), None);
        Self::Or(vec![Self::Exists(field).negate(), after])
    }

    /// Returns whether an item with these fields matches. This defines the meaning of filters for every backend.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Seq, SessionId};

    #[test]
    fn a_negated_filter_matches_what_the_filter_does_not() {
        let fields = Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0));
        let matches = |filter: Filter| [filter.matches(&fields), filter.negate().matches(&fields)];
        assert_eq!(matches(Filter::All), [true, false]);
        assert_eq!(matches(Filter::Exists(Field::Tag)), [false, true]);
    }
}
