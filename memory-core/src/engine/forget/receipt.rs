//! What a forget tells of itself.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::scope::Epoch;
use crate::store::{Erased, ErasureLevel};

/// What a store did of an erasure.
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
    /// How thoroughly.
    pub level: Option<ErasureLevel>,
    /// Why it is not done, one clause.
    pub why: Option<String>,
}

/// An index that follows what is stored and is not open in this process, so that it could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unasked {
    /// The index's name.
    pub index: String,
    /// Notes of the owner that it has not carried out yet; `None` if truth did not tell.
    pub notes: Option<u64>,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForgetReceipt {
    /// Messages and records removed from truth.
    pub removed: u64,
    /// Of them, records and summaries that were derived from what was to be forgotten.
    pub derived: u64,
    /// The owner's new epoch, if everything was forgotten.
    pub epoch: Option<Epoch>,
    /// What each store did, if everything was forgotten; else the indexes that failed.
    pub stores: Vec<StoreErasure>,
    /// The indexes that could not be asked, because this process has not opened them. What was forgotten is noted for them,
    /// and gone from them when they have no notes of the owner any more; the same call tells. One that nobody opens any more
    /// is retired.
    pub unasked: Vec<Unasked>,
    /// Whether a last look into truth found nothing derived, every index that could be asked confirmed that nothing is left,
    /// no other has notes of the owner, and no erasure of everything stopped half-way. If an index did not confirm, upkeep goes
    /// on with it, as it does with what an earlier call that was cut off left in an index; nothing can be recalled either way,
    /// because truth holds it no more. A cache that did not answer is not asked again before what it
    /// holds has expired; other processes that reach it may see that until then.
    pub complete: bool,
}

/// Tells what a store answered to an erasure.
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
    /// Names the indexes that could not be asked; `Err` if truth did not tell which follow.
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

    /// Names what a cache could not take back. This process does not ask it until that has expired.
    pub(super) fn without_cache(mut self, errors: Vec<Error>) -> Self {
        let is_named = self.stores.iter().any(|store| store.part == "cache" && store.why.is_some());
        let errors: Vec<Error> = if is_named { Vec::new() } else { errors };
        self.complete &= errors.is_empty();
        self.stores.extend(errors.into_iter().map(|error| erasure("cache", "cache", Err(error))));
        self
    }
}

/// A receipt that is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What was asked for and was there.
    pub(super) removed: u64,
    /// What fell with it.
    pub(super) derived: u64,
    /// Whether the looks for what is derived ended before a look found nothing.
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
