//! An opened file: what its connections share.

use memory_core::store::Durability;

use super::place::FilePlace;
use crate::config::SqliteConfig;

/// An opened file, without its connections.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) config: SqliteConfig,
    pub(super) place: FilePlace,
    /// How durable a committed write is.
    pub(super) durability: Durability,
}
