//! The counters of a session.

use super::{Restoration, Row};
use crate::error::{Error, Result};
use crate::id::{Seq, SessionId};
use crate::number::{loaded, stored};
use crate::scope::Epoch;
use crate::store::chat::{Fence, SessionState, revision_after_deletion};
use crate::time::Timestamp;

/// The counters of a session; all 0 if it has no row yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// How often it was deleted.
    pub generation: i64,
    /// Rises with every change of its window.
    pub revision: i64,
    /// The number of the newest message.
    pub head: i64,
    /// Messages in the window, summaries included.
    pub active_messages: i64,
    /// Their tokens.
    pub active_tokens: i64,
    /// The largest budget that contexts asked for.
    pub asked: i64,
    /// When its newest message was said.
    pub last_at: Option<i64>,
}

impl Counters {
    /// Returns the state of the session called `name`, of an owner in `epoch`. Errors name `backend`.
    ///
    /// # Errors
    /// `Corrupt` if a counter is negative.
    pub fn state(&self, backend: &'static str, name: &SessionId, epoch: i64) -> Result<SessionState> {
        let count = |number| loaded(backend, number);
        Ok(SessionState {
            session: name.clone(),
            fence: Fence { epoch: Epoch(count(epoch)?), generation: count(self.generation)? },
            revision: count(self.revision)?,
            head: Seq(count(self.head)?),
            active_messages: count(self.active_messages)?,
            active_tokens: count(self.active_tokens)?,
            asked: count(self.asked)?,
            last_at: Timestamp(self.last_at.unwrap_or_default()),
        })
    }

    /// Returns `Ok` if `fence` is the one of the session, of an owner in `epoch`, or none.
    ///
    /// # Errors
    /// `Fenced`.
    pub fn check(&self, epoch: i64, fence: Option<Fence>) -> Result<()> {
        let Some(fence) = fence else { return Ok(()) };
        let is_now = |number: u64, now: i64| i64::try_from(number) == Ok(now);
        let is_present = is_now(fence.epoch.0, epoch) && is_now(fence.generation, self.generation);
        if is_present { Ok(()) } else { Err(Error::Fenced) }
    }

    /// Takes in what is restored. It counts on, because a window may hold all that was ever said, and a restore comes in many parts.
    pub fn restore<F>(&mut self, plan: &Restoration<'_, F>) {
        for (position, row) in &plan.messages {
            self.push(position.seq, row);
        }
        for (position, row) in plan.messages.iter().chain(&plan.summaries) {
            if position.archived_by.is_none() && row.content.is_some() {
                self.active_messages = self.active_messages.saturating_add(1);
                self.active_tokens = self.active_tokens.saturating_add(row.tokens);
            }
        }
    }

    /// Takes in the newest message. The counters of the window are updated separately.
    pub fn push<F>(&mut self, seq: i64, row: &Row<F>) {
        self.head = seq;
        self.last_at = self.last_at.max(row.content.as_ref().map(|content| content.message.at.0));
    }

    /// Returns the counters of the session after its deletion. Only those stay that keep old handles fenced.
    ///
    /// # Errors
    /// As [`Counters::state`].
    pub fn emptied(&self, backend: &'static str) -> Result<Self> {
        let revision = stored(revision_after_deletion(loaded(backend, self.revision)?))?;
        Ok(Self { generation: self.generation + 1, revision, ..Self::default() })
    }
}
