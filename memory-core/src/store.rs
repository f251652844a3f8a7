//! The trait that all stores share: health, closing, and the erasure of an owner.

pub mod blackboard;
pub mod cache;
pub mod chat;
pub mod journal;
pub mod records;
pub mod text;
pub mod truth;
pub mod upkeep;
pub mod vectors;

use std::fmt::Debug;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::scope::{Epoch, Scope};

/// How durable an acknowledged write is, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Lost if the process or the machine fails.
    Volatile,
    /// Synced to the local journal, not yet in the primary.
    Queued,
    /// Durable in the primary.
    Committed,
}

/// The health of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The server's product name, as it reports it.
    pub server: String,
    /// The server's version, as it reports it.
    pub version: String,
    /// The strongest durability that its settings allow.
    pub durability: Durability,
    /// Whether the server itself keeps owners apart, besides the owner's key in every call. In PostgreSQL: whether row-level
    /// security binds the role that is logged in. None if a server has no such wall.
    pub is_walled: Option<bool>,
    /// Whether it only reads: every write is [`crate::Error::ReadOnly`].
    pub is_read_only: bool,
}

impl Health {
    /// Returns the health of a server that takes writes and has no wall of its own.
    #[must_use]
    pub fn new(server: impl Into<String>, version: impl Into<String>, durability: Durability) -> Self {
        Self { server: server.into(), version: version.into(), durability, is_walled: None, is_read_only: false }
    }
}

/// How thoroughly an erasure removed its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErasureLevel {
    /// No call returns it; bytes may remain in files until the server reuses them.
    Logical,
    /// No byte of it remains in the store's files.
    Purged,
}

/// The result of an erasure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Items removed by this call. Two concurrent erasures may both count an item.
    pub removed: u64,
    /// Items still there, counted after the removal; 0 means done.
    pub remaining: u64,
    /// How thoroughly they were removed.
    pub level: ErasureLevel,
}

/// What all stores can do.
#[async_trait]
pub trait Store: Debug + Send + Sync + 'static {
    /// Returns the backend's name, such as `sqlite`, for errors, receipts and metrics.
    fn backend(&self) -> &'static str;

    /// Returns the store's health.
    ///
    /// # Errors
    /// Any, if the store cannot serve.
    async fn ping(&self) -> Result<Health>;

    /// Closes the connections of this store, of its clones, and of stores that share its client, once the calls under way have
    /// ended. Stores opened separately stay open.
    ///
    /// Acknowledged writes stay. Later calls open connections again, or fail. May be repeated.
    ///
    /// # Errors
    /// Any, if something could not be closed. Acknowledged writes are safe even then.
    async fn close(&self) -> Result<()>;

    /// Removes everything of `scope` written in an epoch before `below`, then counts what is left of it.
    ///
    /// From then on the store accepts nothing of an older epoch for this owner: a late put changes nothing, a late append is
    /// `Fenced`. May be repeated. Touches no other owner.
    ///
    /// # Errors
    /// `Invalid`, from a truth store, if no epoch could follow `below` ([`Epoch::check`]).
    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased>;
}
