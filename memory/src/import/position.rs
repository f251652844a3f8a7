//! Where something stands in a file: its line, and its place within the line, because a whole file may stand on one.

use std::fmt;

use serde::Serialize;

/// Where something stands within a line. It is displayed as a clause, which is empty if the line is all that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Within {
    /// The element of the list that the file is, counted from 1; none in a file that is no list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<u64>,
    /// The message of the conversation that stands there, counted from 1; none if it is all of what stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.element, self.message) {
            (Some(element), Some(message)) => write!(f, "element {element}, message {message}"),
            (Some(element), None) => write!(f, "element {element}"),
            (None, Some(message)) => write!(f, "message {message}"),
            (None, None) => Ok(()),
        }
    }
}

/// Where something stands in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The line that the value begins on in which it stands. The end of a value moves when the value grows, its beginning does not.
    pub(super) begin: u64,
    /// The line that it ends on.
    pub(super) line: u64,
    pub(super) within: Within,
}

impl Position {
    /// Returns the place of what stands on one line.
    pub(super) fn new(line: u64, within: Within) -> Self {
        Self { begin: line, line, within }
    }

    /// Returns the place of an element of a list.
    pub(super) fn of_element(line: u64, element: u64) -> Self {
        Self::new(line, Within { element: Some(element), message: None })
    }

    /// Sets the line that the value begins on.
    pub(super) fn begun_on(self, begin: u64) -> Self {
        Self { begin, ..self }
    }

    /// Returns the place of the message at `index` of the conversation that stands here, counted from 0.
    pub(super) fn of_message(mut self, index: u64) -> Self {
        self.within.message = Some(index.saturating_add(1));
        self
    }
}

impl From<u64> for Position {
    fn from(line: u64) -> Self {
        Self::new(line, Within::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_within_a_line_is_told_as_far_as_it_is_known() {
        assert_eq!(Position::from(7u64).within.to_string(), "");
        assert_eq!(Position::from(7u64).of_message(0).within.to_string(), "message 1");
        assert_eq!(Position::of_element(7, 3).within.to_string(), "element 3");
        assert_eq!(Position::of_element(7, 3).of_message(1).within.to_string(), "element 3, message 2");
    }
}
