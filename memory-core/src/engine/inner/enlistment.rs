//! The enlistment of an index with truth, as this process knows it.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::store::upkeep::{Incarnation, IndexName, Upkeep};
use crate::sync::Lock;
use crate::time::Timestamp;

/// How many items are noted in one step: few enough that nobody waits long.
pub(crate) const NOTED_IN_ONE_STEP: usize = 500;

/// The enlistment of an index with truth, as this process knows it.
#[derive(Debug)]
pub(crate) struct Enlistment(Lock<EnlistmentState>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct EnlistmentState {
    pub(crate) incarnation: Option<Incarnation>,
    /// Whether truth has noted everything that was stored before.
    pub(crate) is_noted: bool,
    /// When the index was last asked for its incarnation.
    pub(crate) asked: Timestamp,
    /// Whether this process has retired it. It is then not enlisted again.
    pub(crate) is_retired: bool,
}

impl Enlistment {
    /// Enlists an index with both truth stores, and notes the first stored items for it; the first pass of upkeep notes the
    /// rest. Notes that were given up are retried. Returns none if truth is open for reading only and does not know the index.
    pub(crate) async fn begin(
        index: &IndexName,
        incarnation: Result<Incarnation>,
        truths: [&Arc<dyn Upkeep>; 2],
        now: Timestamp,
    ) -> Result<Option<Self>> {
        if let Err(error) = &incarnation {
            tracing::warn!(%error, index = index.as_str(), "an index does not tell its incarnation");
        }
        let incarnation = incarnation.ok();
        let (mut is_noted, mut follows) = (true, true);
        for truth in truths {
            match truth.enlist(index, incarnation, NOTED_IN_ONE_STEP).await {
                // What the index holds can be searched all the same.
                Err(Error::ReadOnly { .. }) => follows = false,
                outcome => {
                    is_noted &= outcome?;
                    truth.revive(index).await?;
                }
            }
        }
        Ok(follows.then_some(Self(Lock::new(EnlistmentState { incarnation, is_noted, asked: now, is_retired: false }))))
    }

    /// Returns the enlistment of an index that truth could not be told of yet.
    pub(crate) fn later(now: Timestamp) -> Self {
        Self(Lock::new(EnlistmentState { incarnation: None, is_noted: false, asked: now, is_retired: false }))
    }

    pub(crate) fn known(&self) -> EnlistmentState {
        *self.0.lock()
    }

    pub(crate) fn set(&self, known: EnlistmentState) {
        *self.0.lock() = known;
    }
}
