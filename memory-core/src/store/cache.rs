//! Short-lived copies and recent events: anything here may vanish at any time.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::scope::{Epoch, Scope};
use crate::store::Store;

/// Keeps bytes for a while. Never truth: a missing entry is a miss, not a loss.
///
/// Every call names the owner's epoch: an entry written in an earlier epoch is never returned.
#[async_trait]
pub trait Cache: Store {
    /// Returns the value under `key`; none if there is none or it has expired.
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>>;

    /// Puts `value` under `key` for `ttl`, replacing what was there.
    ///
    /// # Errors
    /// `Invalid` for a `ttl` of zero.
    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()>;

    /// Deletes what is under `keys`; none for an empty list.
    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()>;

    /// Adds `value` at the end of the list under `key`, keeps its newest `cap` values, and lets it live for `ttl`.
    ///
    /// A repeat after a lost answer may add the value again: events are hints, not truth.
    ///
    /// # Errors
    /// `Invalid` for a `ttl` or `cap` of zero.
    async fn push(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], cap: usize, ttl: Duration)
    -> Result<()>;

    /// Returns the newest `count` values of the list under `key`, oldest first.
    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>>;
}
