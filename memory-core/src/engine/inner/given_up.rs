//! The items that upkeep has given up: reports name them, the status counts them.

use std::collections::BTreeMap;

use crate::id::ItemId;
use crate::scope::{Epoch, Scope};
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

/// How many items were given up although their notes were carried out, by index and owner, in the owner's epoch. Its truth store
/// counts a note that was given up as a whole.
#[derive(Debug, Default)]
pub(crate) struct GivenUpCounts(Lock<BTreeMap<(IndexName, Scope), (Epoch, u64)>>);

impl GivenUpCounts {
    /// Counts items of an owner that a note of this epoch named. With those of an earlier one it has nothing to do.
    pub(crate) fn add(&self, scope: &Scope, index: &IndexName, epoch: Epoch, count: u64) {
        let (mut counts, key) = (self.0.lock(), (index.clone(), scope.clone()));
        if counts.len() >= COUNTS && !counts.contains_key(&key) {
            return;
        }
        let counted = counts.entry(key).or_default();
        if counted.0 < epoch {
            *counted = (epoch, 0);
        }
        if counted.0 == epoch {
            counted.1 += count;
        }
    }

    pub(crate) fn of(&self, scope: &Scope, index: &IndexName) -> u64 {
        self.0.lock().get(&(index.clone(), scope.clone())).map_or(0, |(_, count)| *count)
    }

    pub(crate) fn of_all(&self, index: &IndexName) -> u64 {
        self.0.lock().iter().filter(|((name, _), _)| name == index).map(|(_, (_, count))| count).sum()
    }

    /// Drops the counts of an owner from before an epoch.
    pub(crate) fn forget(&self, scope: &Scope, below: Epoch) {
        self.0.lock().retain(|(_, owner), (epoch, _)| owner != scope || *epoch >= below);
    }
}
