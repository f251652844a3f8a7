//! Write-behind: messages are acknowledged once they are in a local journal, and go to the primary afterwards, in batches.
//!
//! - An append returns when the journal has the messages: `Queued`. The primary numbers them when they get there; until then
//!   they have the numbers that they would get now. Whoever reads sees them, behind what the primary has.
//! - The messages of a session go to the primary together, in order: when they are many, large or old enough
//!   ([`WriteBehindPolicy`]), or when somebody asks for it. What was sent and not answered is sent again; the primary knows
//!   messages by their ids.
//! - While the primary is away, appends go on until the journal is full (`QueueFull`). Reads of a session then return only what
//!   waits, and say so (`complete` is false): nothing of what was sent is kept here, because another process may have forgotten it
//!   since. Everything else fails as it does without this layer.
//! - What the primary refuses for good is set aside with the reason, and the rest goes on: an id that holds other content, or a message
//!   that it refused five times or more, at last while it took others. It is listed, and sent again when somebody says so. A message
//!   that is stored but for its time counts as stored: who repeats an append while the primary is away cannot know the time of the
//!   first one.
//! - A message that was queued before its session or owner was erased is dropped, wherever the erasure was made. If the journal could
//!   not know, because the primary had not been asked since the process began, the message is set aside.
//! - Calls that change what is stored send what waits of their session first: they fail if the primary does.
//!
//! Records are not queued. Whether a record is stored, and in which version, is decided by what is stored already; an answer without
//! the primary would be a guess. So `remember` fails while the primary of the records is away.

mod aside;
mod flush;
mod gates;
mod judge;
mod overlay;
mod policy;
mod queue;
mod read;
mod shared;
mod stores;
mod task;
mod upkeep;
mod waiting;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, RwLock, watch};
use tokio::time::Instant;

use crate::error::Result;
use crate::id::{MessageId, SessionId};
use crate::scope::Scope;
use crate::store::Durability;
use crate::store::chat::ChatStore;
use crate::store::journal::{Journal, Rejection};
use crate::store::truth::Truth;
use crate::sync::Lock;

use gates::Gates;
pub use policy::WriteBehindPolicy;
use queue::Queue;
pub(crate) use shared::Flushed;
use shared::Shared;
use stores::Behind;
use upkeep::BehindUpkeep;

/// A journal before conversations, as a layer. It goes before the cache and the guard: what waits must not be cached, and what
/// is sent passes both.
///
/// ```
/// # async fn example() -> memory_core::Result<()> {
/// use std::sync::Arc;
///
/// use memory_core::Truth;
/// use memory_core::layer::{WriteBehind, WriteBehindPolicy};
/// use memory_core::reference::{MemChat, MemJournal};
///
/// let primary = Truth::chat(Arc::new(MemChat::default()));
/// let journal = Arc::new(MemJournal::new(1_000));
/// let behind = WriteBehind::open(primary, journal, WriteBehindPolicy::default()).await?;
/// let chat = behind.chat(); // to be used in place of the primary
/// # Ok(())
/// # }
/// ```
#[doc(alias = "SessionBuffer")]
#[derive(Debug)]
pub struct WriteBehind {
    shared: Arc<Shared>,
    primary: Truth<dyn ChatStore>,
}

impl WriteBehind {
    /// Opens the layer: reads what waits in the journal from an earlier process, and begins to send it. Needs a runtime, in
    /// which a task does so until the layer is dropped or closed.
    ///
    /// # Errors
    /// That of the journal, if it cannot be read.
    pub async fn open(
        primary: Truth<dyn ChatStore>,
        journal: Arc<dyn Journal>,
        policy: WriteBehindPolicy,
    ) -> Result<Arc<Self>> {
        let mut queue = Queue::new(policy);
        let now = Instant::now();
        queue.insert(journal.queued(None, None, usize::MAX).await?, now);
        for (scope, session) in queue.keys() {
            queue.change(&scope, &session, |waiting| waiting.is_in_doubt = true);
            queue.hasten(&scope, &session, now);
        }
        let shared = Arc::new(Shared {
            inner: Arc::clone(primary.store()),
            journal,
            queue: Lock::new(queue),
            primary: Lock::new(Durability::Committed),
            kept: Lock::default(),
            erased: Lock::default(),
            taken: AtomicU64::new(0),
            wake: Arc::new(Notify::new()),
            landings: watch::Sender::new(0),
            is_closing: AtomicBool::new(false),
            pushes: RwLock::default(),
            gates: Gates::default(),
            is_closed: AtomicBool::new(false),
            listener: OnceLock::new(),
        });
        task::begin(&shared);
        Ok(Arc::new(Self { shared, primary }))
    }

    /// Returns the conversations, to be used in place of the primary.
    pub fn chat(&self) -> Truth<dyn ChatStore> {
        let shared = Arc::clone(&self.shared);
        let upkeep = |inner| Arc::new(BehindUpkeep::new(inner, Arc::clone(&shared))) as _;
        self.primary.clone().layered_upkeep(upkeep).layered(|_| Arc::new(Behind::new(Arc::clone(&shared))))
    }

    /// Tells `listener` of flushes from now on. There is one.
    pub(crate) fn listen(&self, listener: impl Fn(&Flushed) + Send + Sync + 'static) {
        let _ = self.shared.listener.set(Box::new(listener));
    }

    /// Returns the newest messages of an owner that wait, each with its bytes, at most `limit`; not those of the session `but`.
    pub(crate) fn waiting_of(&self, scope: &Scope, but: Option<&SessionId>, limit: usize) -> Vec<(MessageId, u64)> {
        self.shared.queue.lock().sizes(scope, but, limit)
    }

    /// Sends messages of an owner with these ids to the primary, if they wait, and what waits before them.
    pub(crate) async fn settle(&self, scope: &Scope, ids: &[MessageId]) -> Result<()> {
        self.shared.settle(scope, None, ids).await
    }

    /// Returns how many messages wait for the primary.
    pub fn waiting(&self) -> usize {
        self.shared.queue.lock().count()
    }

    /// Returns how many bytes of messages wait for the primary.
    pub fn waiting_bytes(&self) -> u64 {
        self.shared.queue.lock().bytes()
    }

    /// Returns how many messages of an owner wait for the primary, and how many bytes they have.
    pub(crate) fn waiting_of_owner(&self, scope: &Scope) -> (usize, u64) {
        self.shared.queue.lock().of_owner(scope)
    }

    /// Sends what waits of a session to the primary, and returns when it is there.
    ///
    /// # Errors
    /// Why the primary did not take it. Then it still waits, unless it was set aside.
    pub async fn flush(&self, scope: &Scope, session: &SessionId) -> Result<()> {
        self.shared.flush_session(scope, session).await
    }

    /// Sends all waiting messages to the primary, for at most `within`, and returns how many are left. These stay in the
    /// journal.
    pub async fn drain(&self, within: Duration) -> usize {
        self.shared.drain(within).await
    }

    /// Sends nothing any more, once what is under way has landed or after a while.
    pub(crate) async fn stop(&self) {
        self.shared.end().await;
    }

    /// Returns up to `limit` messages that were set aside, of one owner or of all. Those whose session or owner was erased since, by
    /// whatever process, are removed instead.
    ///
    /// # Errors
    /// That of the primary, if it does not tell how the sessions are.
    pub async fn refused(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>> {
        self.shared.refused(scope, limit).await
    }

    /// Returns how many messages were set aside, of one owner or of all.
    pub(crate) async fn refused_count(&self, scope: Option<&Scope>) -> Result<usize> {
        self.shared.journal.count_rejected(scope).await
    }

    /// Queues messages of an owner again that were set aside; returns how many. One that was set aside because its session or
    /// owner was erased goes to the session as it is now: the caller decides whether it should. Goes on to its end, also if the
    /// future is dropped; a repeat completes what failed half way.
    ///
    /// # Errors
    /// That of the primary, if it does not tell how the sessions are; `Overloaded` if other calls for the owner queue or
    /// forget messages for too long.
    pub async fn retry(&self, scope: &Scope, ids: &[MessageId]) -> Result<usize> {
        self.shared.retry(scope, ids).await
    }

    /// Removes messages that were set aside, by their ids, and returns how many. A message that was appended again and waits
    /// is not removed.
    pub async fn discard(&self, scope: &Scope, ids: &[MessageId]) -> Result<u64> {
        let refused = self.shared.journal.rejected(Some(scope), usize::MAX).await?.into_iter();
        let meant = refused.filter(|refused| ids.contains(&refused.queued.new.message.id));
        let numbers: Vec<u64> = meant.map(|refused| refused.queued.number).collect();
        self.shared.journal.discard(&numbers).await
    }
}
