//! Plans for writes of conversations.

mod append;
mod counters;
mod fold;
mod page;
mod restore;
mod row;
#[cfg(test)]
mod tests;

pub use append::{Batch, Places};
pub use counters::Counters;
pub use fold::{Change, Fold};
pub(crate) use page::take;
pub use restore::{Restoration, Restored, There};
pub use row::{Content, KnownRow, Position, Row};

use crate::error::Error;
use crate::id::MessageId;

/// Returns the error for other content under an id that is taken.
pub(crate) fn id_conflict(id: MessageId) -> Error {
    Error::IdConflict { id: id.to_string() }
}
