//! The messages of one session that wait, oldest first.

use std::collections::VecDeque;

use tokio::time::Instant;

use crate::id::MessageId;
use crate::store::chat::Fence;
use crate::store::journal::Queued;
use crate::time::Timestamp;

use super::judge::TRIES;

/// How many messages go to the primary in one call, and how many bytes.
const AT_ONCE: usize = 512;
const BYTES_AT_ONCE: u64 = 4 << 20;

/// A message that waits.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) queued: Queued,
    pub(super) bytes: u64,
    /// Since when it waits.
    pub(super) since: Instant,
    /// Whether the primary was asked and does not have it.
    pub(super) is_new: bool,
    /// Whether the primary was asked, and the message was forgotten there: it is shown to nobody.
    pub(super) is_forgotten: bool,
    /// How often the primary refused it for a reason that may lie in it.
    pub(super) tries: u32,
    /// How many flushes had succeeded when that was first so.
    pub(super) taken: u64,
}

impl Row {
    pub(super) fn new(queued: Queued, since: Instant) -> Self {
        let bytes = queued.new.message.encoded_len() as u64;
        Self { queued, bytes, since, is_new: false, is_forgotten: false, tries: 0, taken: u64::MAX }
    }

    pub(super) fn id(&self) -> MessageId {
        self.queued.new.message.id
    }
}

/// Which messages of a session are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Sent,
    All,
}

/// The messages of a session that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) rows: VecDeque<Row>,
    pub(super) bytes: u64,
    /// What they add to their session.
    pub(super) tokens: u64,
    pub(super) asked: u64,
    pub(super) last_at: Timestamp,
    /// How many of the oldest were sent and not answered yet.
    pub(super) sent: usize,
    /// The flight on which they were sent.
    pub(super) flight: u64,
    /// Whether an answer was lost, so that the primary may have the oldest ones, or get them later.
    pub(super) is_in_doubt: bool,
    /// Differs whenever messages were sent or left.
    pub(super) change: u64,
    /// When the oldest ones go to the primary.
    pub(super) due: Instant,
    /// How many go at once: fewer once the primary refused some.
    pub(super) at_once: usize,
    /// How many of the oldest were refused just now, one right after the other. Each of them was refused often.
    pub(super) passed: usize,
}

impl Waiting {
    pub(super) fn new(change: u64, due: Instant) -> Self {
        Self {
            rows: VecDeque::new(),
            bytes: 0,
            tokens: 0,
            asked: 0,
            last_at: Timestamp(i64::MIN),
            sent: 0,
            flight: 0,
            is_in_doubt: false,
            change,
            due,
            at_once: AT_ONCE,
            passed: 0,
        }
    }

    /// Adds a message where its number belongs: pushes that run at once end in any order.
    pub(super) fn insert(&mut self, row: Row) {
        let later = |other: &&Row| other.queued.number > row.queued.number;
        let behind = self.rows.iter().rev().take_while(later).count();
        // What was sent is with the primary, and stays in front.
        let place = (self.rows.len() - behind).max(self.sent);
        self.bytes += row.bytes;
        self.tokens = self.tokens.saturating_add(row.queued.new.tokens);
        self.asked = self.asked.max(row.queued.asked);
        self.last_at = self.last_at.max(row.queued.new.message.at);
        self.rows.insert(place, row);
    }

    /// Marks the oldest messages as sent that may go together, and returns them with their fence: those of one fence, as many as
    /// the primary took lately.
    pub(super) fn send(&mut self) -> Option<(Option<Fence>, Vec<Queued>)> {
        // Messages that were refused just now stand back, to see whether the next one is taken.
        let refused = self.refused();
        let skipped = if self.passed < self.rows.len() { self.passed.min(refused) } else { 0 };
        let fence = self.rows.get(skipped)?.queued.fence;
        let at_once = if refused > 0 { 1 } else { self.at_once };
        let (mut bytes, mut together) = (0, Vec::new());
        for row in self.rows.iter().skip(skipped).take(at_once) {
            bytes += row.bytes;
            let fits = together.is_empty() || bytes <= BYTES_AT_ONCE;
            if !fits || row.queued.fence != fence {
                break;
            }
            together.push(row.queued.clone());
        }
        self.sent = skipped + together.len();
        Some((fence, together))
    }

    /// Returns how many of the oldest were refused as often as they may be.
    pub(super) fn refused(&self) -> usize {
        self.rows.iter().take_while(|row| row.tries >= TRIES).count()
    }

    /// Removes messages, among those that were sent or among all.
    pub(super) fn remove(&mut self, reach: Reach, is_meant: impl Fn(&Queued) -> bool) -> Vec<Row> {
        // Others may stand now where the refused ones stood.
        self.passed = 0;
        let (sent, len) = (self.sent, self.rows.len());
        let reach = if reach == Reach::Sent { sent.min(len) } else { len };
        let (mut gone, mut rest) = (Vec::new(), Vec::new());
        for (place, row) in self.rows.drain(..reach).enumerate() {
            if is_meant(&row.queued) {
                self.sent -= usize::from(place < sent);
                self.bytes -= row.bytes;
                self.tokens = self.tokens.saturating_sub(row.queued.new.tokens);
                gone.push(row);
            } else {
                rest.push(row);
            }
        }
        rest.into_iter().rev().for_each(|row| self.rows.push_front(row));
        gone
    }

    /// Notes that the primary took messages: it may take more at once again, and what it refused before says nothing any more.
    pub(super) fn taken(&mut self) {
        self.is_in_doubt = false;
        self.at_once = (self.at_once * 2).min(AT_ONCE);
        self.rows.iter_mut().for_each(|row| (row.tries, row.taken) = (0, u64::MAX));
    }
}
