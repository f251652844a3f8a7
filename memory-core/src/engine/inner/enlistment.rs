//! What this process knows of an index that it has enlisted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::store::upkeep::{Incarnation, IndexName, Upkeep};
use crate::time::Timestamp;

/// Items that are noted in one step, which nobody has to wait for long.
pub(crate) const NOTED_IN_ONE_STEP: usize = 500;

/// What this process knows of an index that it has enlisted.
#[derive(Debug)]
pub(crate) struct Enlistment(Mutex<Known>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) incarnation: Option<Incarnation>,
    /// Whether truth has noted all that was stored before.
    pub(crate) is_noted: bool,
    /// When the place was asked last.
    pub(crate) asked: Timestamp,
    /// Retired here, it is not enlisted again.
    pub(crate) is_retired: bool,
}

impl Enlistment {
    /// Enlists an index with both truth stores, and notes the first of what is stored; the first pass of upkeep notes the
    /// rest. What was given up for it is tried again. Returns none where truth may only be read and does not know the index.
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
                // What is indexed can be searched all the same.
                Err(Error::ReadOnly { .. }) => follows = false,
                outcome => {
                    is_noted &= outcome?;
                    truth.revive(index).await?;
                }
            }
        }
        Ok(follows.then_some(Self(Mutex::new(Known { incarnation, is_noted, asked: now, is_retired: false }))))
    }

    pub(crate) fn known(&self) -> Known {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, known: Known) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }
}
