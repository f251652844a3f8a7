//! Decisions about records.

mod put;
mod restore;
mod row;
#[cfg(test)]
mod tests;

pub use put::{Batch, Planned};
pub use restore::Restoration;
pub use row::{Known, Row, Stored};

pub(crate) use put::check;
