//! The [`Bed`] that every scenario is given: an open store, a way to open it again, a tenant of its own, and a clock.

use std::future::Future;
use std::sync::Arc;

use memory_core::model::{Embedder, Summarizer};
use memory_core::store::blackboard::{Blackboard, Keep};
use memory_core::store::cache::Cache;
use memory_core::store::chat::ChatStore;
use memory_core::store::journal::Journal;
use memory_core::store::records::RecordStore;
use memory_core::store::text::TextStore;
use memory_core::store::vectors::VectorStore;
use memory_core::store::{Durability, Health, Store};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Clock, Result, Scope, Truth};
use uuid::Uuid;

use crate::boxed::Boxed;
use crate::doubles::ManualClock;

/// A conversation store with its upkeep.
pub type Chat = Truth<dyn ChatStore>;
/// A record store with its upkeep.
pub type Records = Truth<dyn RecordStore>;
/// A text store.
pub type Texts = Arc<dyn TextStore>;
/// A vector store.
pub type Vectors = Arc<dyn VectorStore>;
/// A cache.
pub type Caches = Arc<dyn Cache>;
/// A blackboard.
pub type Boards = Arc<dyn Blackboard>;
/// A journal.
pub type Journals = Arc<dyn Journal>;
/// An embedder.
pub type Embedders = Arc<dyn Embedder>;
/// A summariser.
pub type Summarizers = Arc<dyn Summarizer>;

/// The settings that a backend is opened with. A backend ignores those that it does not need.
///
/// Opening twice with equal settings opens the same data: the second time is a restart or a second process. A store that
/// lives in the process may return the same object again, from a map by `name`.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The clock that decides when something expires.
    pub clock: Arc<dyn Clock>,
    /// A fresh name for the scenario's data: 33 ASCII letters and digits, the first a letter.
    ///
    /// Upkeep crosses owners, so truth stores need a file, a schema or a prefix of their own by this name. All others may
    /// share one, for tenants are fresh in any case.
    pub name: String,
    /// The space of a vector store.
    pub space: EmbeddingSpace,
    /// The analysis of a text store.
    pub analysis: String,
    /// The capacity of a blackboard, in entries, and of a journal, in messages.
    pub capacity: usize,
    /// What keeps an entry on a full blackboard.
    pub keep: Keep,
    /// The URL of the server that the suite found; empty if it needs none.
    pub url: String,
}

impl Setting {
    /// Returns a setting with a fresh name, dimension 8 and capacity 16.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let space =
            EmbeddingSpace { model: "test".to_owned(), dimension: 8, normalised: false, recipe: "plain-1".to_owned() };
        let name = format!("t{}", Uuid::now_v7().simple());
        Self {
            clock,
            name,
            space,
            analysis: "test-1".to_owned(),
            capacity: 16,
            keep: Keep::default(),
            url: String::new(),
        }
    }
}

/// A function that opens a store of the backend with the given settings.
pub type Opener<S> = Arc<dyn Fn(Setting) -> Boxed<'static, Result<S>> + Send + Sync>;

/// Wraps an async function as an [`Opener`].
pub fn opener<S, F, R>(open: F) -> Opener<S>
where
    F: Fn(Setting) -> R + Send + Sync + 'static,
    R: Future<Output = Result<S>> + Send + 'static,
{
    Arc::new(move |setting| Box::pin(open(setting)))
}

/// A function that opens the store under test again, over the same data.
pub type Open<S> = Arc<dyn Fn() -> Boxed<'static, Result<S>> + Send + Sync>;

/// A store, or several, that a scenario tests: it reports its health and can be closed.
pub trait Subject: Clone + Send + Sync + 'static {
    /// Returns the store's health.
    fn health(&self) -> Boxed<'_, Result<Health>>;

    /// Closes the store.
    fn close(&self) -> Boxed<'_, Result<()>>;
}

impl<T: Store + ?Sized> Subject for Truth<T> {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        Box::pin(async { self.store().ping().await })
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        Box::pin(async { self.store().close().await })
    }
}

macro_rules! subject {
    ($($store:ident),*) => {$(
        impl Subject for Arc<dyn $store> {
            fn health(&self) -> Boxed<'_, Result<Health>> {
                Box::pin(async { self.ping().await })
            }

            fn close(&self) -> Boxed<'_, Result<()>> {
                Box::pin(async { Store::close(self.as_ref()).await })
            }
        }
    )*};
}

subject!(TextStore, VectorStore, Cache, Blackboard);

impl Subject for Arc<dyn Journal> {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        let durability = self.durability();
        Box::pin(async move { Ok(Health::new("", "", durability)) })
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        Box::pin(async { Journal::close(self.as_ref()).await })
    }
}

impl Subject for Arc<dyn Embedder> {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        let EmbeddingSpace { model, recipe, .. } = self.space().clone();
        Box::pin(async move { Ok(Health::new(model, recipe, Durability::Volatile)) })
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

impl Subject for Arc<dyn Summarizer> {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        Box::pin(async { Ok(Health::new("", "", Durability::Volatile)) })
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The environment of one scenario: the store under test, and everything around it.
pub struct Bed<S> {
    /// The store under test.
    pub store: S,
    /// Opens it again, over the same data.
    pub open: Open<S>,
    /// A tenant that no other scenario uses.
    pub tenant: String,
    /// The clock that the store reads.
    pub clock: Arc<ManualClock>,
    /// The durability that the store reports.
    pub durability: Durability,
    /// The seed of everything random in the scenario. It is printed if the scenario fails.
    pub seed: u64,
    /// The settings that the store was opened with.
    pub setting: Setting,
    opener: Opener<S>,
}

impl<S: Subject> Bed<S> {
    /// Opens a store with fresh settings and reads its health.
    ///
    /// # Errors
    /// The error of opening the store or of reading its health.
    pub async fn make(open: &Opener<S>, seed: u64) -> Result<(Self, Health)> {
        let clock = Arc::new(ManualClock::default());
        let setting = Setting::new(clock.clone());
        Self::on(setting, clock, open.clone(), seed).await
    }

    /// Makes a second bed with data of its own. `change` adjusts its fresh settings before the store is opened.
    ///
    /// # Errors
    /// The error of opening the store or of reading its health.
    pub async fn another(&self, change: impl FnOnce(&mut Setting)) -> Result<Self> {
        let mut setting = Setting::new(self.clock.clone());
        change(&mut setting);
        let (bed, _) = Self::on(setting, self.clock.clone(), self.opener.clone(), self.seed).await?;
        Ok(bed)
    }

    async fn on(setting: Setting, clock: Arc<ManualClock>, opener: Opener<S>, seed: u64) -> Result<(Self, Health)> {
        let (again, like) = (opener.clone(), setting.clone());
        let open: Open<S> = Arc::new(move || again(like.clone()));
        let store = open().await?;
        let health = store.health().await?;
        let tenant = Uuid::now_v7().to_string();
        let bed = Self { store, open, tenant, clock, durability: health.durability, seed, setting, opener };
        Ok((bed, health))
    }

    /// Opens the store a second time while the first stays open, as another process would.
    ///
    /// # Errors
    /// The error of opening the store.
    pub async fn reopen(&self) -> Result<S> {
        (self.open)().await
    }

    /// Drops the store, then opens it again, as a restart does.
    ///
    /// # Errors
    /// The error of opening the store.
    pub async fn restart(self) -> Result<Self> {
        let Self { store, open, tenant, clock, durability, seed, setting, opener } = self;
        drop(store);
        let store = open().await?;
        Ok(Self { store, open, tenant, clock, durability, seed, setting, opener })
    }
}

impl<S> Bed<S> {
    /// Returns the scope of `subject` in the scenario's tenant.
    ///
    /// # Errors
    /// `Invalid` if `subject` is no legal name.
    pub fn scope(&self, subject: &str) -> Result<Scope> {
        Scope::new(&self.tenant, subject)
    }
}
