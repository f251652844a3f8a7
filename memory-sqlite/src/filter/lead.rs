//! The filters that indexes of sessions and of the table of values answer.

use memory_core::{Field, Filter, Scalar};

use super::values;

/// The most values that one statement asks for.
const MOST: usize = 1_000;

/// The sessions or sources that a filter asks for, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lead<'f> {
    list: i64,
    values: &'f [Scalar],
}

impl<'f> Lead<'f> {
    /// Returns what `filter` asks for, if it asks for texts as sessions or sources, and for nothing else. Not where it asks for
    /// none at all: SQLite drops what is always false, and the index with it.
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

    /// Returns whether sessions are sought.
    pub(crate) fn is_session(&self) -> bool {
        self.list == values::SESSION
    }

    /// Returns the texts.
    pub(crate) fn values(&self) -> &'f [Scalar] {
        self.values
    }
}
