//! A row of a window as it is shown.

use crate::message::StoredMessage;

/// A row of a context.
#[derive(Debug)]
pub(crate) enum Shown {
    /// The row of this index.
    Row(usize),
    /// The newest summary.
    Summary,
    /// The message of this index among those under summaries.
    Under(usize),
    /// The row of this index, whose texts lost their middle.
    Copy(usize, Box<StoredMessage>),
}
