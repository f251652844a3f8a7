//! The receipt of a forget.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::scope::Epoch;
use crate::store::{Erased, ErasureLevel};

/// What one store did in an erasure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreErasure {
    /// What the store is used for.
    pub part: &'static str,
    /// The backend's name.
    pub backend: &'static str,
    /// Items removed by this call.
    pub removed: u64,
    /// Items still there; `None` if the store did not answer.
    pub remaining: Option<u64>,
    /// How thoroughly it erased.
    pub level: Option<ErasureLevel>,
    /// Why it is not done, in one clause.
    pub why: Option<String>,
}

/// An index that follows truth but is not open in this process, so that it could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unasked {
    /// The index's name.
    pub index: String,
    /// How many notes of the owner are still pending for it; `None` if truth did not tell.
    pub notes: Option<u64>,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForgetReceipt {
    /// Messages and records removed from truth.
    pub removed: u64,
    /// How many of them are records and summaries derived from what was to be forgotten.
    pub derived: u64,
    /// The owner's new epoch, if everything was forgotten.
    pub epoch: Option<Epoch>,
    /// What each store did, if everything was forgotten; else the indexes that failed.
    pub stores: Vec<StoreErasure>,
    /// The indexes that could not be asked, because this process has not opened them. The forget is noted for them; it is done
    /// once they have no notes of the owner left, which the same call tells. Retire an index that nobody opens any more.
    pub unasked: Vec<Unasked>,
    /// Whether nothing is left: a last look into truth found nothing derived, every index asked confirmed its deletion and has the
    /// records that stay without what was taken back from them, by this call or an earlier one in this process, no other index has
    /// notes of the owner, and no erasure of everything stopped half-way.
    ///
    /// If false, upkeep completes the indexes, including what an earlier call that was cut off left there. Nothing can be
    /// recalled meanwhile, because truth does not hold it. A cache that did not answer is not asked again until its entries
    /// have expired; other processes that reach it may see them until then. A board that did not answer is emptied by upkeep, or
    /// by the owner's next call if that comes first.
    pub complete: bool,
}

/// Returns the entry of a receipt for the answer of one store.
pub(super) fn erasure(part: &'static str, backend: &'static str, answer: Result<Erased>) -> StoreErasure {
    match answer {
        Ok(Erased { removed, remaining, level }) => {
            StoreErasure { part, backend, removed, remaining: Some(remaining), level: Some(level), why: None }
        }
        Err(error) => {
            let why = Some(error.with_causes());
            StoreErasure { part, backend, removed: 0, remaining: None, level: None, why }
        }
    }
}

impl ForgetReceipt {
    /// Adds the indexes that could not be asked; `Err` if truth did not tell which indexes follow it.
    pub(super) fn with_unasked(mut self, unasked: Result<Vec<Unasked>>) -> Self {
        match unasked {
            Ok(unasked) => {
                self.complete &= unasked.iter().all(|index| index.notes == Some(0));
                self.unasked = unasked;
            }
            Err(error) => {
                self.complete = false;
                self.stores.push(erasure("indexes", "truth", Err(error)));
            }
        }
        self
    }

    /// Adds the failures of a cache to invalidate its entries. This process does not ask the cache until they have expired.
    pub(super) fn without_cache(mut self, errors: Vec<Error>) -> Self {
        let is_named = self.stores.iter().any(|store| store.part == "cache" && store.why.is_some());
        let errors: Vec<Error> = if is_named { Vec::new() } else { errors };
        self.complete &= errors.is_empty();
        self.stores.extend(errors.into_iter().map(|error| erasure("cache", "cache", Err(error))));
        self
    }
}

/// A receipt in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// How many of the items asked for were there.
    pub(super) removed: u64,
    /// How many items fell with them.
    pub(super) derived: u64,
    /// Whether the last look for derived records still found some.
    pub(super) is_unsettled: bool,
    /// The indexes that failed.
    pub(super) failures: Vec<(&'static str, Error)>,
}

impl Draft {
    pub(super) fn finish(self) -> ForgetReceipt {
        let stores = self.failures.into_iter().map(|(part, error)| erasure(part, "index", Err(error)));
        let stores: Vec<_> = stores.collect();
        ForgetReceipt {
            removed: self.removed + self.derived,
            derived: self.derived,
            epoch: None,
            complete: stores.is_empty() && !self.is_unsettled,
            stores,
            unasked: Vec::new(),
        }
    }
}
