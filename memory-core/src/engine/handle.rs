//! The handles: a memory gives one for each owner, and an owner gives one for each conversation.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::scope::{Epoch, Scope};
use crate::store::chat::{Fence, Page, Slice};
use crate::window::BufferConfig;

use super::inner::Inner;

/// A memory: stores, indexes and the rules between them. Cheap to clone; `Send + Sync`.
///
/// # Examples
/// ```
/// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
/// use memory_core::{Scope, SessionId};
///
/// let ada = memory.of(&Scope::new("acme", "ada")?);
/// let support = ada.session(&SessionId::new("support")?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Memory {
    pub(super) inner: Arc<Inner>,
}

/// One owner's memory. Cheap to clone; every call it makes names the owner.
#[derive(Clone, Debug)]
pub struct Scoped {
    memory: Memory,
    scope: Scope,
    /// The epoch of the owner's records, as the handle first saw it.
    epoch: Arc<OnceLock<Epoch>>,
    /// The same of the owner's conversations. Those that are opened with the handle see no later one.
    said: Arc<OnceLock<Epoch>>,
}

/// A conversation. Cheap to clone; opening one calls no store.
///
/// # Examples
/// ```
/// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
/// use memory_core::{Message, Role, SessionId};
///
/// let session = ada.session(&SessionId::new("support")?);
/// session.append(vec![Message::new(Role::User, "Where is my order?", ada.memory().now())]).await?;
/// let context = session.context("Where is my order?", 2_000).await?; // at most 2,000 tokens
/// let request = context.to_openai(); // what a model is sent
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    scoped: Scoped,
    id: SessionId,
    buffer: BufferConfig,
    fence: Arc<OnceLock<Fence>>,
}

impl Memory {
    pub(super) fn from_inner(inner: Inner) -> Self {
        let inner = Arc::new(inner);
        inner.follow_journal();
        Self { inner }
    }

    /// Returns the handle of one owner, which is the only way to data.
    ///
    /// A call without an owner does not compile:
    /// ```compile_fail,E0061
    /// # fn f(memory: memory_core::engine::Memory) {
    /// memory.of();
    /// # }
    /// ```
    /// and the memory itself has no data methods:
    /// ```compile_fail,E0599
    /// # async fn f(memory: memory_core::engine::Memory) {
    /// memory.search(memory_core::engine::Search::new("who else is there")).await;
    /// # }
    /// ```
    #[doc(alias = "MemoryManager")]
    pub fn of(&self, scope: &Scope) -> Scoped {
        Scoped { memory: self.clone(), scope: scope.clone(), epoch: Arc::default(), said: Arc::default() }
    }
}

impl Scoped {
    /// Returns the owner.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the memory that the handle belongs to.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.memory.inner
    }

    /// Returns the handle of a session without calling a store. A session begins with its first message.
    #[doc(alias = "BufferMemory")]
    #[doc(alias = "create_agent_buffer")]
    #[doc(alias = "ChatMemoryBuffer")]
    #[doc(alias = "ChatSummaryMemoryBuffer")]
    #[doc(alias = "SimpleComposableMemory")]
    pub fn session(&self, id: &SessionId) -> Session {
        Session { scoped: self.clone(), id: id.clone(), buffer: self.inner().buffers.common, fence: Arc::default() }
    }

    /// Returns the present fence of the owner's records, which every write of records carries.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle first asked.
    pub(super) async fn fence(&self) -> Result<Fence> {
        let fence = self.inner().records.store().fence(&self.scope).await?;
        // Not under a lock: a caller who does not poll would keep it from all others.
        let epoch = *self.epoch.get_or_init(|| fence.epoch);
        if fence.epoch == epoch { Ok(fence) } else { Err(Error::Fenced) }
    }

    /// Returns the owner's present epoch, which what is noted carries.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle first asked.
    pub(super) async fn present_epoch(&self) -> Result<Epoch> {
        // That of conversations rises first, and is never behind that of records.
        let now = self.inner().chat.upkeep().epoch(&self.scope).await?;
        self.check_epoch(now)?;
        Ok(now)
    }

    /// Returns `Ok` if the owner was not erased since this handle first saw the epoch of the conversations.
    fn check_epoch(&self, now: Epoch) -> Result<()> {
        if now == *self.said.get_or_init(|| now) { Ok(()) } else { Err(Error::Fenced) }
    }

    /// Returns the epoch that restored records carry.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle first asked, for records or for conversations.
    pub(super) async fn whole_epoch(&self) -> Result<Epoch> {
        // In this order: where the conversations are of the epoch that was seen, no later one of the records was read before.
        let records = self.fence().await?.epoch;
        self.present_epoch().await?;
        Ok(records)
    }

    /// Returns `Ok` if the owner was not erased since this handle was first used, which may be now. After a later erasure, the
    /// handle and the conversations opened with it refuse to restore, remember and append.
    ///
    /// Call it before a long series of writes, such as an import.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased.
    pub async fn check(&self) -> Result<()> {
        self.whole_epoch().await.map(drop)
    }
}

impl Session {
    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the handle with settings of its own, for the contexts, searches and appends that are made with it.
    ///
    /// Upkeep folds the window by the settings of the last append, be it of no messages, that was made with the same memory; it knows
    /// those of 10,000 conversations. They are not stored. So the upkeep of another process folds what it indexes by the settings of its
    /// own memory ([`MemoryBuilder::buffer`](super::MemoryBuilder::buffer)), and so does that of this one from a restart to the next
    /// append: also where the conversation has a larger capacity here, or [`Folding::Off`](crate::window::Folding::Off). What was folded
    /// stays in the log, and [`Session::unfold`] brings it back. Only a token limit is stored, with the next message: the largest one counts
    /// for every process whose settings say none.
    ///
    /// # Errors
    /// `Invalid` for settings that cannot be kept: [`BufferConfig::check`].
    ///
    /// # Examples
    /// ```
    /// # fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::SessionId;
    /// use memory_core::window::BufferConfig;
    ///
    /// let talk = ada.session(&SessionId::new("talk")?).with(BufferConfig::conversational())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(self, buffer: BufferConfig) -> Result<Self> {
        buffer.check()?;
        Ok(Self { buffer, ..self })
    }

    /// Returns the settings that the handle works with.
    pub fn buffer(&self) -> &BufferConfig {
        &self.buffer
    }

    /// Returns the owner's handle.
    pub fn scoped(&self) -> &Scoped {
        &self.scoped
    }

    /// Returns the fence of the conversation as this handle first saw it. Every append carries it.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since the owner's handle was first used.
    pub(super) async fn fence(&self) -> Result<Fence> {
        if let Some(fence) = self.fence.get() {
            return Ok(*fence);
        }
        let slice = {
            let chat = self.scoped.inner().chat.store();
            chat.read(self.scoped.scope(), &self.id, &Page::newest(0)).await?
        };
        let fence = slice.state.fence;
        if !slice.complete {
            // Truth did not tell it: what is assumed now may turn out to be wrong.
            return Ok(fence);
        }
        self.scoped.check_epoch(fence.epoch)?;
        // Not under a lock: a caller who does not poll would keep it from all others.
        Ok(*self.fence.get_or_init(|| fence))
    }

    /// Reads a page from truth, neither from the cache nor with what waits in a journal.
    ///
    /// # Errors
    /// `Fenced` if the conversation or its owner was erased since this handle, or the owner's, was first used.
    pub(super) async fn read_own(&self, page: &Page) -> Result<Slice> {
        let slice = self.scoped.inner().bare.chat.read(self.scoped.scope(), &self.id, page).await?;
        let fence = slice.state.fence;
        self.scoped.check_epoch(fence.epoch)?;
        if fence == *self.fence.get_or_init(|| fence) { Ok(slice) } else { Err(Error::Fenced) }
    }
}
