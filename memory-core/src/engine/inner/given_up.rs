//! The items that upkeep has given up: reports name them, the status counts them.

use std::collections::BTreeMap;

use crate::id::ItemId;
use crate::scope::Scope;
use crate::store::upkeep::IndexName;
use crate::sync::Lock;

/// How many pairs of owner and index are counted at most.
const COUNTS: usize = 10_000;

/// An item that an index does not hold, and will not hold until the item changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Its owner.
    pub scope: Scope,
    /// The item.
    pub item: ItemId,
    /// Why, one line without payload.
    pub why: String,
}

/// How many items were given up although their notes were carried out, by index and owner. Its truth store counts a note that
/// was given up as a whole.
#[derive(Debug, Default)]
pub(crate) struct GivenUpCounts(Lock<BTreeMap<(IndexName, Scope), u64>>);

impl GivenUpCounts {
    pub(crate) fn add(&self, scope: &Scope, index: &IndexName, count: u64) {
        let (mut counts, key) = (self.0.lock(), (index.clone(), scope.clone()));
        if counts.len() < COUNTS || counts.contains_key(&key) {
            *counts.entry(key).or_default() += count;
        }
    }

    pub(crate) fn of(&self, scope: &Scope, index: &IndexName) -> u64 {
        self.0.lock().get(&(index.clone(), scope.clone())).copied().unwrap_or(0)
    }

    pub(crate) fn of_all(&self, index: &IndexName) -> u64 {
        self.0.lock().iter().filter(|((name, _), _)| name == index).map(|(_, count)| count).sum()
    }

    /// Drops the counts of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.0.lock().retain(|(_, owner), _| owner != scope);
    }
}
