//! The journal: the durable queue of write-behind.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::id::SessionId;
use crate::scope::Scope;
use crate::store::Durability;
use crate::store::chat::{Append, Fence, NewMessage};

/// A message in the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// Its number in the queue; numbers rise and are never reused.
    pub number: u64,
    /// The owner.
    pub scope: Scope,
    /// The session.
    pub session: SessionId,
    /// The fence that the caller's handle saw.
    pub fence: Option<Fence>,
    /// The largest budget asked for, as in [`Append::asked`].
    pub asked: u64,
    /// The message.
    pub new: NewMessage,
}

/// A message that the primary refused for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The message.
    pub queued: Queued,
    /// Why, in one clause without payload.
    pub why: String,
}

/// Holds messages, in order, until the primary has them. The primary numbers them.
#[async_trait]
pub trait Journal: Debug + Send + Sync + 'static {
    /// Returns how durable a pushed message is.
    fn durability(&self) -> Durability;

    /// Appends messages, all or none, and returns the number of the last one. They are durable when it returns.
    ///
    /// # Errors
    /// `QueueFull` if the queue would exceed its bound; nothing is dropped.
    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64>;

    /// Returns up to `limit` queued messages in order, of one owner, of one session, or of all.
    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>>;

    /// Removes messages that the primary has; absent numbers are skipped.
    async fn acknowledge(&self, numbers: &[u64]) -> Result<()>;

    /// Moves a message from the queue to the rejected ones.
    async fn reject(&self, number: u64, why: &str) -> Result<()>;

    /// Returns up to `limit` rejected messages.
    async fn rejected(&self, limit: usize) -> Result<Vec<Rejection>>;

    /// Puts rejected messages back at the end of the queue.
    async fn revive(&self, numbers: &[u64]) -> Result<()>;

    /// Removes all messages of an owner, or of one session, including rejected ones; returns how many.
    async fn erase(&self, scope: &Scope, session: Option<&SessionId>) -> Result<u64>;
}
