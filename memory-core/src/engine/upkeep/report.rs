//! What a pass of upkeep did.

use crate::engine::inner::GivenUp;
use crate::error::Error;
use crate::scope::Scope;
use crate::store::text::Rejected;

/// Items that a report names at the most.
const NAMED: usize = 100;

/// What a pass of upkeep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Entries put into indexes.
    pub indexed: usize,
    /// Entries that an index or its model refused, or never made in several attempts; their items are found by other
    /// indexes only.
    pub rejected: usize,
    /// Which these are, a hundred at the most.
    pub given_up: Vec<GivenUp>,
    /// Notes that failed and will be tried again.
    pub retried: usize,
    /// Notes given up.
    pub dead: usize,
    /// Entries deleted from indexes because what they were made of is not stored any more: they came too late.
    pub cleaned: usize,
    /// Expired records deleted.
    pub expired: u64,
    /// Windows whose oldest part was summarised.
    pub summarised: usize,
    /// Summaries to which numbers, ids and names were added that the summariser had left out.
    pub completed: usize,
    /// Summaries that were no good, so that an extract stands in their place; what was wrong is among the failures.
    pub replaced: usize,
    /// What failed: errors with their causes, one line each without payload, each once.
    pub failures: Vec<String>,
}

impl UpkeepReport {
    pub(crate) fn give_up(&mut self, scope: &Scope, rejected: &Rejected) {
        if self.given_up.len() < NAMED {
            let why = rejected.error.with_causes();
            self.given_up.push(GivenUp { scope: scope.clone(), item: rejected.item.clone(), why });
        }
    }

    pub(crate) fn fail(&mut self, error: &Error) {
        let why = error.with_causes();
        if !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}
