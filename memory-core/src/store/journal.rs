//! The journal: the durable queue of write-behind.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::id::{MessageId, SessionId};
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
    /// The fence of the session when the message was queued; none if it was not known then.
    pub fence: Option<Fence>,
    /// The largest budget asked for, as in [`Append::asked`].
    pub asked: u64,
    /// The message.
    pub new: NewMessage,
}

impl Queued {
    /// Returns whether it was queued before the fence was `below`, or may have been: its own fence is lower, or unknown.
    pub fn is_before(&self, below: Fence) -> bool {
        self.fence.is_none_or(|fence| fence < below)
    }
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
///
/// A journal belongs to one process at a time. Every method may be repeated. If its future is dropped, the change happens
/// fully or not at all.
#[async_trait]
pub trait Journal: Debug + Send + Sync + 'static {
    /// Returns how durable a pushed message is.
    fn durability(&self) -> Durability;

    /// Appends messages, all or none, and returns the number of the last one. Those of one batch have numbers without gaps.
    /// They are durable when it returns.
    ///
    /// # Errors
    /// `QueueFull` if the journal would exceed its bound, to which rejected messages count too; nothing is dropped. Of the rejected
    /// messages of each other owner no more counts than an eighth of the bound, rounded up: so nobody's fill the journal for all.
    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64>;

    /// Returns up to `limit` queued messages in order, of one owner, of one session, or of all.
    ///
    /// # Errors
    /// `Corrupt` if one of them is not as it was pushed, or is missing.
    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>>;

    /// Removes messages that the primary has; absent numbers are skipped.
    async fn acknowledge(&self, numbers: &[u64]) -> Result<()>;

    /// Moves a message from the queue to the rejected ones. Rejected messages keep their numbers.
    async fn reject(&self, number: u64, why: &str) -> Result<()>;

    /// Returns up to `limit` rejected messages, of one owner or of all, in the order of their numbers.
    ///
    /// # Errors
    /// `Corrupt` as in `queued`.
    async fn rejected(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>>;

    /// Returns how many messages are rejected, of one owner or of all, and reads none of them.
    async fn count_rejected(&self, scope: Option<&Scope>) -> Result<usize>;

    /// Puts rejected messages back at the end of the queue, in the order of their numbers, each with the fence beside its
    /// number. They get new numbers.
    async fn revive(&self, revived: &[(u64, Option<Fence>)]) -> Result<()>;

    /// Removes rejected messages by their numbers, and returns how many. Others are skipped, also those that wait. Nothing of them
    /// remains where the journal stands, nor of what was acknowledged before.
    async fn discard(&self, numbers: &[u64]) -> Result<u64>;

    /// Removes the messages of an owner with these ids, rejected ones too; returns how many. Nothing of them remains where the
    /// journal stands, also where they were acknowledged before.
    async fn forget(&self, scope: &Scope, ids: &[MessageId]) -> Result<u64>;

    /// Removes the messages of an owner, or of one session, that were queued before the fence was `below`
    /// ([`Queued::is_before`]), rejected ones too; returns how many. Nothing of them remains where the journal stands, also where
    /// they were acknowledged before.
    async fn erase(&self, scope: &Scope, session: Option<&SessionId>, below: Fence) -> Result<u64>;

    /// Closes the journal, so that another process may open it. Whatever it holds stays. Later calls fail. May be repeated.
    async fn close(&self) -> Result<()>;
}
