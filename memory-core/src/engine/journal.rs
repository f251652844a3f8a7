//! What an owner can see and do of a journal before conversations.

use crate::error::{Error, Result};
use crate::id::{MessageId, SessionId};
use crate::message::Message;

use super::handle::{Scoped, Session};
use super::memory::JournalStatus;

/// A message that was queued and then refused. It is set aside in the journal, and in no conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The conversation that it was meant for.
    pub session: SessionId,
    /// The message.
    pub message: Message,
    /// Why it was refused, in one clause.
    pub why: String,
}

impl Session {
    /// Sends the messages of this conversation that wait in the journal to the store. Call it when a request or a conversation ends.
    /// Does nothing without a journal.
    ///
    /// # Errors
    /// The failure of the store. The messages still wait then, unless they were refused for good.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session, now: memory_core::Timestamp) -> memory_core::Result<()> {
    /// use memory_core::{Message, Role};
    ///
    /// session.append(vec![Message::new(Role::User, "That was all, thank you.", now)]).await?;
    /// session.flush().await?; // in the store, with its number
    /// # Ok(())
    /// # }
    /// ```
    pub async fn flush(&self) -> Result<()> {
        match &self.scoped().inner().behind {
            Some(behind) => behind.flush(self.scoped().scope(), self.id()).await,
            None => Ok(()),
        }
    }
}

impl Scoped {
    /// Returns how much of this owner waits in the journal, and how much was refused; none without a journal. What other owners
    /// wrote does not count. The store is not asked.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) {
    /// if let Some(journal) = ada.journal().await {
    ///     println!("{} messages of {} bytes wait", journal.waiting, journal.bytes);
    /// }
    /// # }
    /// ```
    pub async fn journal(&self) -> Option<JournalStatus> {
        let behind = self.inner().behind.as_ref()?;
        let (waiting, bytes) = behind.waiting_of_owner(self.scope());
        Some(JournalStatus { waiting, bytes, refused: behind.refused_count(Some(self.scope())).await })
    }

    /// Returns up to `limit` messages of this owner that were queued and then refused, the oldest first.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// for refused in ada.refused(100).await? {
    ///     println!("{}: {}", refused.session.name(), refused.why);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn refused(&self, limit: usize) -> Result<Vec<Refused>> {
        let Some(behind) = &self.inner().behind else { return Ok(Vec::new()) };
        let refused = behind.refused(Some(self.scope()), limit).await?.into_iter();
        let shown = refused.map(|refused| Refused {
            session: refused.queued.session,
            message: refused.queued.new.message.as_ref().clone(),
            why: refused.why,
        });
        Ok(shown.collect())
    }

    /// Queues refused messages again, behind what waits; returns how many. One that was refused because its conversation had been
    /// erased goes to the conversation that is there now. Goes on to its end, also if the future is dropped; a repeat completes what
    /// failed half way.
    ///
    /// # Errors
    /// `Invalid` without a journal; `Overloaded` if other calls for the owner queue or forget messages for too long; else the failure
    /// of the store, which is asked for the state of the conversations.
    pub async fn retry(&self, ids: &[MessageId]) -> Result<usize> {
        let Some(behind) = &self.inner().behind else { return Err(Error::invalid("there is no journal")) };
        behind.retry(self.scope(), ids).await
    }

    /// Forgets refused messages for good; returns how many.
    ///
    /// # Errors
    /// `Invalid` without a journal.
    pub async fn discard(&self, ids: &[MessageId]) -> Result<u64> {
        let Some(behind) = &self.inner().behind else { return Err(Error::invalid("there is no journal")) };
        behind.discard(self.scope(), ids).await
    }
}
