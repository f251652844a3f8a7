//! What the layer, its stores and its task share.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, RwLock, watch};
use tokio::time::{Instant, timeout};

use crate::error::{Cause, Error, Result, Transience};
use crate::id::{MessageId, SessionId};
use crate::scope::Scope;
use crate::store::chat::{ChatStore, Placement, SessionState};
use crate::store::journal::Journal;
use crate::store::{Durability, Health};
use crate::sync::Lock;

use super::gates::Gates;
use super::queue::Queue;

/// How long closing waits for what is about to be queued, then for what waits, then for what is under way to the primary.
pub(super) const CLOSING: Duration = Duration::from_secs(5);

/// How many sessions are read or sent at once for one call, so that an owner of whom much waits leaves the primary room for others.
pub(super) const SESSIONS_AT_ONCE: usize = 16;

/// What becomes of messages that were queued.
#[derive(Clone, Debug)]
pub(crate) enum Flushed {
    /// The primary has them.
    Taken { scope: Scope, state: SessionState, placed: Vec<Placed> },
    /// The primary refused one for good; it is set aside.
    Refused { scope: Scope, session: SessionId, message: MessageId, why: String },
    /// Their session or owner was erased since they were queued.
    Dropped { scope: Scope, session: SessionId, count: usize },
}

/// A message that the primary has.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) id: MessageId,
    pub(crate) tokens: u64,
    pub(crate) bytes: u64,
    pub(crate) placement: Placement,
}

/// Who is told of flushes.
pub(super) type Listener = Box<dyn Fn(&Flushed) + Send + Sync>;

/// What the layer, its stores and its task share.
pub(super) struct Shared {
    pub(super) inner: Arc<dyn ChatStore>,
    pub(super) journal: Arc<dyn Journal>,
    /// What waits to go to the primary. Locked for a moment only.
    pub(super) queue: Lock<Queue>,
    /// How durable what the primary has is, as it last said.
    pub(super) primary: Lock<Durability>,
    /// Messages that need not go any more and that the journal has not removed yet. They come here before they leave the queue.
    pub(super) kept: Lock<BTreeSet<u64>>,
    /// Messages that were erased, and of which something may remain where the journal stands.
    pub(super) erased: Lock<BTreeSet<u64>>,
    /// How many flushes succeeded.
    pub(super) taken: AtomicU64,
    /// Wakes the task.
    pub(super) wake: Arc<Notify>,
    /// Rises whenever a flush ended.
    pub(super) landings: watch::Sender<u64>,
    /// Whether appends are refused. Whoever queues messages reads it while it holds `pushes`.
    pub(super) is_closing: AtomicBool,
    /// Held by whoever queues messages until they are in the queue; alone by closing, which waits for all of them.
    pub(super) pushes: RwLock<()>,
    pub(super) gates: Gates,
    /// Whether the task has ended.
    pub(super) is_closed: AtomicBool,
    pub(super) listener: OnceLock<Listener>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.queue.lock().count();
        f.debug_struct("WriteBehind").field("journal", &self.journal).field("waiting", &waiting).finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The task ends.
        self.wake.notify_one();
    }
}

impl Shared {
    /// Fails once appends are refused. Whoever queues messages asks while it holds `pushes`.
    pub(super) fn check_open(&self) -> Result<()> {
        let is_closing = self.is_closing.load(Ordering::Acquire);
        if is_closing { Err(self.unqueued("the memory is closed", Transience::Permanent)) } else { Ok(()) }
    }

    /// Returns the error for messages that could not be queued.
    pub(super) fn unqueued(&self, why: &'static str, transience: Transience) -> Error {
        Error::Backend { backend: self.inner.backend(), doing: "queue a message", transience, source: Cause::new(why) }
    }

    /// Returns how durable a message is that was acknowledged: no more than in the primary, where it goes.
    pub(super) fn durability(&self) -> Durability {
        self.journal.durability().min(*self.primary.lock())
    }

    /// Returns the health of the primary behind the journal.
    pub(super) fn health(&self, primary: Health) -> Health {
        self.learn(primary.durability);
        Health { durability: self.durability(), ..primary }
    }

    /// Notes how durable what the primary has is.
    pub(super) fn learn(&self, primary: Durability) {
        *self.primary.lock() = primary;
    }

    /// Tells who listens what became of messages.
    pub(super) fn tell(&self, flushed: &Flushed) {
        if let Some(listener) = self.listener.get() {
            listener(flushed);
        }
    }
}

impl Shared {
    /// Sends all that waits; returns how much still waits after `within`.
    pub(super) async fn drain(&self, within: Duration) -> usize {
        let mut landings = self.landings.subscribe();
        let _hurry = Hurry::begin(self);
        let emptied = async { while self.queue.lock().count() > 0 && landings.changed().await.is_ok() {} };
        let _ = timeout(within, emptied).await;
        self.queue.lock().count()
    }

    /// Refuses appends from now on, and waits a while for those that are queuing messages.
    pub(super) async fn refuse(&self) {
        self.is_closing.store(true, Ordering::Release);
        let _ = timeout(CLOSING, self.pushes.write()).await;
    }

    /// Ends the task, and waits a while for what is under way.
    pub(super) async fn end(&self) {
        let mut landings = self.landings.subscribe();
        self.is_closed.store(true, Ordering::Release);
        self.wake.notify_one();
        let landed = async { while self.queue.lock().flights() > 0 && landings.changed().await.is_ok() {} };
        let _ = timeout(CLOSING, landed).await;
    }
}

/// As long as it lives, whatever waits goes at once.
struct Hurry<'a>(&'a Shared);

impl<'a> Hurry<'a> {
    fn begin(shared: &'a Shared) -> Self {
        shared.queue.lock().hurry(Instant::now());
        shared.wake.notify_one();
        Self(shared)
    }
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.queue.lock().slow_down();
    }
}
