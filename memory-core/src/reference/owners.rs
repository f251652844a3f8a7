//! The data of each owner behind its own lock, so that owners do not wait for each other, nor readers for readers.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::scope::Scope;
use crate::sync::Lock;

/// The data of all owners. Its `Debug` shows nothing of it.
pub(super) struct Owners<T>(Lock<HashMap<Scope, Arc<Owned<T>>>>);

/// The data of one owner. The lock survives a panic of its holder.
pub(super) struct Owned<T>(RwLock<T>);

impl<T> Owners<T> {
    pub(super) fn new() -> Self {
        Self(Lock::default())
    }

    /// Returns an owner's data, if there is any.
    pub(super) fn get(&self, scope: &Scope) -> Option<Arc<Owned<T>>> {
        self.0.lock().get(scope).cloned()
    }

    /// Returns an owner's data, made by `new` if there is none.
    pub(super) fn get_or_insert_with(&self, scope: &Scope, new: impl FnOnce() -> T) -> Arc<Owned<T>> {
        let mut owners = self.0.lock();
        let owned = owners.entry(scope.clone()).or_insert_with(|| Arc::new(Owned(RwLock::new(new()))));
        Arc::clone(owned)
    }
}

impl<T> Owned<T> {
    pub(super) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Owners<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
