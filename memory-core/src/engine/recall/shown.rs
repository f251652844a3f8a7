//! A row as a context shows it.

use crate::message::StoredMessage;

/// A row as a context shows it.
#[derive(Debug)]
pub(crate) enum Shown {
    /// The window's row at this index.
    Row(usize),
    /// The newest summary.
    Summary,
    /// The message at this index among those under summaries.
    Under(usize),
    /// A copy of the window's row at this index, with the middle of its texts cut out.
    Copy(usize, Box<StoredMessage>),
}
