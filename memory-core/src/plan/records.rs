//! Plans for writes of records.

mod put;
mod restore;
mod row;
#[cfg(test)]
mod tests;

pub use put::{Batch, Planned};
pub use restore::Restoration;
pub use row::{KnownRecord, Row, Stored};

pub(crate) use put::check;
