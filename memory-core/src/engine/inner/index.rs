//! An index of a memory: a text store or a vector store, under one interface.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::analysis::Analysis;
use crate::engine::inner::{Enlistment, EnlistmentState, KeptVectors, Unindexed, Walk};
use crate::engine::receipt::Stage;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{ItemId, Version};
use crate::model::Embedder;
use crate::scope::Scope;
use crate::store::Store;
use crate::store::text::{Deletion, TextStore};
use crate::store::upkeep::{Incarnation, IndexName, Upkeep};
use crate::store::vectors::VectorStore;
use crate::time::Timestamp;

/// How long its store may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// An index, and how far it follows truth.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) name: IndexName,
    pub(crate) kind: Kind,
    /// None if truth is open for reading only and does not know the index.
    pub(crate) enlistment: Option<Enlistment>,
    /// How far the comparison with truth has come.
    pub(crate) walk: Walk,
    /// What this process wrote and the index may not have yet. If it is lost, the next pass of upkeep makes it findable.
    pub(crate) unindexed: Unindexed,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Text(Arc<dyn TextStore>),
    Vectors(Box<Vectors>),
}

/// A vector store with its embedder.
#[derive(Debug)]
pub(crate) struct Vectors {
    pub(crate) store: Arc<dyn VectorStore>,
    pub(crate) embedder: Arc<dyn Embedder>,
    /// Which items are embedded.
    pub(crate) embedded: Filter,
    /// The cache of recent vectors.
    pub(crate) kept: KeptVectors,
}

impl Index {
    /// Returns a text index.
    ///
    /// # Errors
    /// `Invalid` if the store holds terms of another analysis.
    pub(crate) fn of_text(store: Arc<dyn TextStore>, analysis: &Analysis, now: Timestamp) -> Result<Self> {
        if store.analysis() != analysis.name() {
            let what = format!("the text store holds terms of {}, not of {}", store.analysis(), analysis.name());
            return Err(Error::invalid(what));
        }
        let name = IndexName::new(&format!("text/{}", analysis.name()))?;
        Ok(Self::new(name, Kind::Text(store), now))
    }

    /// Returns a vector index.
    ///
    /// # Errors
    /// `SpaceMismatch` if the embedder's space is not the store's.
    pub(crate) fn of_vectors(vectors: Vectors, now: Timestamp) -> Result<Self> {
        let space = vectors.store.space();
        space.check(vectors.embedder.space())?;
        let name = IndexName::of_space(space);
        Ok(Self::new(name, Kind::Vectors(Box::new(vectors)), now))
    }

    fn new(name: IndexName, kind: Kind, now: Timestamp) -> Self {
        Self { name, kind, enlistment: None, walk: Walk::new(now), unindexed: Unindexed::default() }
    }

    /// Enlists it with both truth stores; if they may be away and are, the first pass of upkeep does.
    pub(crate) async fn enlisted(
        self,
        truths: [&Arc<dyn Upkeep>; 2],
        now: Timestamp,
        may_be_away: bool,
    ) -> Result<Self> {
        let enlistment = match Enlistment::begin(&self.name, self.incarnation().await, truths, now).await {
            Err(error) if may_be_away && error.is_retryable() => Some(Enlistment::later(now)),
            begun => begun?,
        };
        Ok(Self { enlistment, ..self })
    }

    /// Returns the use of its store, as [`StoreStatus`](super::StoreStatus) names it.
    pub(crate) fn part(&self) -> &'static str {
        match self.kind {
            Kind::Text(_) => "text",
            Kind::Vectors(_) => "vectors",
        }
    }

    /// Returns the stage of a search in which it is asked.
    pub(crate) fn stage(&self) -> Stage {
        match self.kind {
            Kind::Text(_) => Stage::Text,
            Kind::Vectors(_) => Stage::Vector,
        }
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match &self.kind {
            Kind::Text(store) => store.clone(),
            Kind::Vectors(vectors) => vectors.store.clone(),
        }
    }

    /// Returns whether its store answers at all, be it by refusing.
    pub(crate) async fn answers(&self) -> bool {
        let answer = timeout(PATIENCE, self.store().ping()).await;
        answer.is_ok_and(|health| health.err().is_none_or(|error| !error.is_retryable()))
    }

    pub(crate) fn as_text(&self) -> Option<&Arc<dyn TextStore>> {
        match &self.kind {
            Kind::Text(store) => Some(store),
            Kind::Vectors(_) => None,
        }
    }

    pub(crate) fn as_vectors(&self) -> Option<&Vectors> {
        match &self.kind {
            Kind::Text(_) => None,
            Kind::Vectors(vectors) => Some(vectors.as_ref()),
        }
    }

    /// Returns whether texts with these fields are embedded for it.
    pub(crate) fn embeds(&self, fields: &Fields) -> bool {
        self.as_vectors().is_some_and(|vectors| vectors.embedded.matches(fields))
    }

    pub(crate) async fn incarnation(&self) -> Result<Incarnation> {
        match &self.kind {
            Kind::Text(store) => store.incarnation().await,
            Kind::Vectors(vectors) => vectors.store.incarnation().await,
        }
    }

    pub(crate) async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        match &self.kind {
            Kind::Text(store) => store.versions(scope, items).await,
            Kind::Vectors(vectors) => vectors.store.versions(scope, items).await,
        }
    }

    pub(crate) async fn scan(
        &self,
        scope: &Scope,
        after: Option<&ItemId>,
        limit: usize,
    ) -> Result<Vec<(ItemId, Version)>> {
        match &self.kind {
            Kind::Text(store) => store.scan(scope, after, limit).await,
            Kind::Vectors(vectors) => vectors.store.scan(scope, after, limit).await,
        }
    }

    pub(crate) async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        if matches!(what, Deletion::Items(items) if items.is_empty()) {
            return Ok(());
        }
        self.drop_kept(scope);
        match &self.kind {
            Kind::Text(store) => store.delete(scope, what).await,
            Kind::Vectors(vectors) => vectors.store.delete(scope, what).await,
        }
    }

    /// Deletes all entries of an owner, whatever state they are in.
    pub(crate) async fn clear(&self, scope: &Scope) -> Result<()> {
        self.drop_kept(scope);
        match &self.kind {
            Kind::Text(store) => store.clear(scope).await,
            Kind::Vectors(vectors) => vectors.store.clear(scope).await,
        }
    }

    /// Makes everything put into it findable.
    pub(crate) async fn flush(&self) -> Result<()> {
        match &self.kind {
            Kind::Text(store) => store.flush().await,
            Kind::Vectors(vectors) => vectors.store.flush().await,
        }
    }

    /// Drops an owner's vectors from the cache.
    pub(crate) fn drop_kept(&self, scope: &Scope) {
        if let Some(vectors) = self.as_vectors() {
            vectors.kept.forget(scope);
        }
    }

    /// Returns whether it follows truth and this process has not retired it.
    pub(crate) fn is_filled(&self) -> bool {
        self.enlistment.as_ref().is_some_and(|enlistment| !enlistment.known().is_retired)
    }

    /// Stops filling it: it is retired.
    pub(crate) fn let_go(&self) {
        if let Some(enlistment) = &self.enlistment {
            enlistment.set(EnlistmentState { is_retired: true, ..enlistment.known() });
        }
    }
}
