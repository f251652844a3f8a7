//! What text and vector indexes have in common: owners, items with the fields that filters see, and the choice of the
//! best candidates that match.

pub(crate) mod items;
pub(crate) mod owner;
pub(crate) mod rows;
pub(crate) mod select;

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Error, Result};

use crate::client::Sqlite;
use crate::error::BACKEND;

pub(crate) use items::Incoming;
pub(crate) use owner::Owner;
pub(crate) use select::{Candidate, Chosen, best};

/// Returns the error for an index whose tables do not fit together.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::corrupt(BACKEND, what)
}

/// Returns what an erasure did, from how many items it removed and how many are left.
pub(crate) async fn erased(file: &Sqlite, (removed, remaining): (u64, u64)) -> Result<Erased> {
    let level = if remaining == 0 { file.purge().await? } else { ErasureLevel::Logical };
    Ok(Erased { removed, remaining, level })
}
