//! Filters that the SQL indexes of sessions or of the table of values can answer.

use memory_core::{Field, Filter, Scalar};

use super::values;

/// The most values that one statement looks up.
const MOST: usize = 1_000;

/// The sessions or sources that are all that a filter asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lead<'f> {
    list: i64,
    values: &'f [Scalar],
}

impl<'f> Lead<'f> {
    /// Returns the sessions or sources of `filter`, if it asks for nothing else. None for an empty list, because SQLite drops a
    /// condition that is always false, and with it the index.
    pub(crate) fn of(filter: &'f Filter) -> Option<Self> {
        let (field, values) = filter.among().filter(|(_, values)| values.len() <= MOST)?;
        let list = match field {
            Field::Session => values::SESSION,
            Field::Source => values::SOURCE,
            _ => return None,
        };
        let is_led = !values.is_empty() && values.iter().all(|value| matches!(value, Scalar::Text(_)));
        is_led.then_some(Self { list, values })
    }

    /// Returns the number of the field in the table of values.
    pub(crate) fn list(&self) -> i64 {
        self.list
    }

    /// Returns whether it asks for sessions.
    pub(crate) fn is_session(&self) -> bool {
        self.list == values::SESSION
    }

    /// Returns the texts.
    pub(crate) fn values(&self) -> &'f [Scalar] {
        self.values
    }
}
