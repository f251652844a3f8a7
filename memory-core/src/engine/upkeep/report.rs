//! The report of an upkeep pass.

use crate::engine::inner::GivenUp;
use crate::error::Error;
use crate::extract::FactCounts;
use crate::id::SessionId;
use crate::scope::Scope;
use crate::store::text::Rejected;

/// How many items a report names at most.
const NAMED: usize = 100;

/// What was forgotten because it is not kept any longer ([`Retention`](crate::engine::Retention)): the receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapse {
    /// The owner.
    pub scope: Scope,
    /// The conversation whose messages these were; none for records.
    pub session: Option<SessionId>,
    /// Messages and records removed.
    pub removed: u64,
    /// How many of them are records and summaries derived from what is not kept.
    pub derived: u64,
    /// Whether nothing is left of it: [`ForgetReceipt::complete`](crate::engine::ForgetReceipt::complete).
    pub complete: bool,
}

/// What a pass of upkeep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Entries put into indexes.
    pub indexed: usize,
    /// Entries given up, because an index or its embedder refused them, or failed for them in several attempts. Only other
    /// indexes find their items.
    pub rejected: usize,
    /// Their items, at most a hundred.
    pub given_up: Vec<GivenUp>,
    /// Notes that failed and will be retried.
    pub retried: usize,
    /// Notes given up.
    pub dead: usize,
    /// Entries deleted from indexes because truth does not hold their items any more.
    pub cleaned: usize,
    /// Expired records deleted, and expired entries of boards and notes.
    pub expired: u64,
    /// Messages and records forgotten because they are not kept any longer.
    pub lapsed: u64,
    /// Whose they were, each time that some were forgotten.
    pub lapses: Vec<Lapse>,
    /// Windows whose oldest part was summarised.
    pub summarised: usize,
    /// Messages that left their window, each behind a summary or, by [`Folding::Archive`](crate::window::Folding), without.
    pub archived: usize,
    /// Summaries that the summariser left incomplete: numbers, ids and names were added to them.
    pub completed: usize,
    /// Summaries that failed the checks and were replaced by an extract. The failures say why.
    pub replaced: usize,
    /// Facts that were found in what was said, and carried out ([`Extractor`](crate::extract::Extractor)): in this pass, and beside
    /// everything else since the pass before.
    pub facts: usize,
    /// What came of them, and how many answers of the extractor were refused.
    pub fact_counts: FactCounts,
    /// Halves of synopses that were built.
    pub synopses: usize,
    /// The errors with their causes, each once, on one line, without payload.
    pub failures: Vec<String>,
}

impl UpkeepReport {
    pub(crate) fn give_up(&mut self, scope: &Scope, rejected: &Rejected) {
        if self.given_up.len() < NAMED {
            let why = rejected.error.with_causes();
            self.given_up.push(GivenUp { scope: scope.clone(), item: rejected.item.clone(), why });
        }
    }

    pub(crate) fn lapse(&mut self, lapse: Lapse) {
        self.lapsed = self.lapsed.saturating_add(lapse.removed);
        self.lapses.push(lapse);
    }

    pub(crate) fn fail(&mut self, error: &Error) {
        self.fail_because(error.with_causes());
    }

    pub(crate) fn fail_because(&mut self, why: String) {
        if !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}
