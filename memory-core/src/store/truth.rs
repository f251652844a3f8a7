//! A truth store with its upkeep, both of one object, so that messages and notes belong together.

use std::sync::Arc;

use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::upkeep::Upkeep;

/// A truth store and the upkeep of the same object.
#[derive(Debug)]
pub struct Truth<S: ?Sized> {
    store: Arc<S>,
    upkeep: Arc<dyn Upkeep>,
}

impl<S: ?Sized> Clone for Truth<S> {
    fn clone(&self) -> Self {
        Self { store: Arc::clone(&self.store), upkeep: Arc::clone(&self.upkeep) }
    }
}

impl Truth<dyn ChatStore> {
    /// Takes a conversation store.
    pub fn chat<T: ChatStore + Upkeep>(store: Arc<T>) -> Self {
        Self { store: store.clone(), upkeep: store }
    }
}

impl Truth<dyn RecordStore> {
    /// Takes a record store.
    pub fn records<T: RecordStore + Upkeep>(store: Arc<T>) -> Self {
        Self { store: store.clone(), upkeep: store }
    }
}

impl<S: ?Sized> Truth<S> {
    /// Returns the store.
    pub fn store(&self) -> &Arc<S> {
        &self.store
    }

    /// Returns the upkeep.
    pub fn upkeep(&self) -> &Arc<dyn Upkeep> {
        &self.upkeep
    }

    /// Wraps the store in a layer; the upkeep stays that of the object underneath.
    #[must_use]
    pub fn layered(self, wrap: impl FnOnce(Arc<S>) -> Arc<S>) -> Self {
        Self { store: wrap(self.store), upkeep: self.upkeep }
    }

    /// Wraps the upkeep in a layer, as [`Truth::layered`] wraps the store.
    #[must_use]
    pub fn layered_upkeep(self, wrap: impl FnOnce(Arc<dyn Upkeep>) -> Arc<dyn Upkeep>) -> Self {
        Self { store: self.store, upkeep: wrap(self.upkeep) }
    }
}
