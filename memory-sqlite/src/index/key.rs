//! The keys of stored items.

use memory_core::{Error, ItemId, Result};

use crate::error::BACKEND;

/// Returns the item that a stored key names.
pub(crate) fn read_key(key: &str) -> Result<ItemId> {
    ItemId::from_key(key).map_err(|_| corrupt("an item has a key that is none"))
}

/// Returns the error for an index whose tables are inconsistent.
pub(crate) fn corrupt(what: &'static str) -> Error {
    Error::corrupt(BACKEND, what)
}
