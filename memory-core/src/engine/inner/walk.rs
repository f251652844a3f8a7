//! The walk that compares an index with truth: where it stands, and when its next step is due.

use std::time::Duration;

use crate::id::ItemId;
use crate::scope::Scope;
use crate::sync::Lock;
use crate::time::Timestamp;

/// The pause between two steps.
const PAUSE: Duration = Duration::from_secs(10);

/// Where the walk through an index stands.
#[derive(Debug)]
pub(crate) struct Walk(Lock<Step>);

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// When the last step was taken.
    at: Timestamp,
    /// The owner that was visited last.
    pub(crate) owner: Option<Scope>,
    /// The item of this owner that was visited last; none if the owner is done.
    pub(crate) item: Option<ItemId>,
}

impl Walk {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(Lock::new(Step { at: now, owner: None, item: None }))
    }

    /// Takes the next step, if it is due.
    pub(crate) fn take(&self, now: Timestamp) -> Option<Step> {
        let mut step = self.0.lock();
        // A clock that was set back does not tell how long ago the step was.
        if step.at <= now && now.since(step.at) < PAUSE {
            return None;
        }
        step.at = now;
        Some(step.clone())
    }

    pub(crate) fn stands_at(&self, owner: Option<Scope>, item: Option<ItemId>) {
        let mut step = self.0.lock();
        *step = Step { at: step.at, owner, item };
    }
}
