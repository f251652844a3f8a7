//! How far an index is compared with truth.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::id::ItemId;
use crate::scope::Scope;
use crate::time::Timestamp;

/// How long after a step the next one comes.
const PAUSE: Duration = Duration::from_secs(10);

/// How far the walk through an index is.
#[derive(Debug)]
pub(crate) struct Walk(Mutex<Step>);

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// When the last step was taken.
    at: Timestamp,
    /// The owner that was looked at last.
    pub(crate) owner: Option<Scope>,
    /// Which item of this owner was looked at last; none if no other is left.
    pub(crate) item: Option<ItemId>,
}

impl Walk {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(Mutex::new(Step { at: now, owner: None, item: None }))
    }

    /// Takes the next step, if it is time.
    pub(crate) fn take(&self, now: Timestamp) -> Option<Step> {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back tells nothing of how long ago that was.
        if step.at <= now && now.since(step.at) < PAUSE {
            return None;
        }
        step.at = now;
        Some(step.clone())
    }

    pub(crate) fn stands_at(&self, owner: Option<Scope>, item: Option<ItemId>) {
        let mut step = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *step = Step { at: step.at, owner, item };
    }
}
