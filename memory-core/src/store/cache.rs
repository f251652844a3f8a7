//! The cache: short-lived copies and recent events, any of which may vanish at any time.

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
    /// Returns the value under `key`; none if it is absent or has expired.
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>>;

    /// Puts `value` under `key` for `ttl`, replacing what was there.
    ///
    /// # Errors
    /// `Invalid` for a `ttl` of zero.
    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()>;

    /// Deletes the values under `keys`; an empty list deletes nothing.
    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()>;

    /// Appends `value` to the list under `key`, keeps the newest `cap` values, and sets the list's time to live to `ttl`.
    ///
    /// Not idempotent: a repeat after a lost answer may add the value again. Events are hints, not truth.
    ///
    /// # Errors
    /// `Invalid` for a `ttl` or `cap` of zero.
    async fn push(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], cap: usize, ttl: Duration)
    -> Result<()>;

    /// Returns the newest `count` values of the list under `key`, oldest first.
    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>>;
}
