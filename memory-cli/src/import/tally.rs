//! What became of what was read, and what was left out of it.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::item::LeftOut;

/// Rejections, notes and conversations with something left out that are told one by one.
const TOLD: usize = 1_000;

/// Something that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Rejection {
    /// The line of the file that it ends on.
    pub(crate) line: u64,
    /// Why, one clause.
    pub(crate) why: String,
}

/// What became of what was read.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Stored now.
    pub(crate) added: u64,
    /// Stored before.
    pub(crate) already: u64,
    /// Stored before and forgotten since: not stored again.
    pub(crate) forgotten: u64,
    /// Not taken.
    pub(crate) rejected: u64,
    /// The first of those not taken.
    pub(crate) rejections: Vec<Rejection>,
    /// What is left out of each kind, although nothing is wrong with it.
    pub(crate) left_out: BTreeMap<LeftOut, u64>,
    /// The same of the first conversations that lack something.
    pub(crate) left_out_of: BTreeMap<String, BTreeMap<LeftOut, u64>>,
    /// What else is to be said.
    pub(crate) notes: Vec<String>,
    /// Instructions that do not come in as such.
    pub(super) quoted: u64,
    /// Instructions that an export brings.
    pub(super) instructions: u64,
    /// Whether what came is an export's.
    pub(super) is_export: bool,
    /// Messages that were stored before with another trust.
    pub(super) trusted_before: u64,
    pub(super) sessions: HashSet<u64>,
}

impl Tally {
    /// Returns how many sessions the items belong to.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Returns how many items are durable.
    pub(crate) fn committed(&self) -> u64 {
        self.added + self.already + self.forgotten
    }

    pub(super) fn reject(&mut self, line: u64, why: String) {
        self.rejected += 1;
        if self.rejections.len() < TOLD {
            self.rejections.push(Rejection { line, why });
        }
    }

    pub(super) fn leave_out(&mut self, session: String, what: LeftOut) {
        *self.left_out.entry(what).or_default() += 1;
        if self.left_out_of.len() < TOLD || self.left_out_of.contains_key(&session) {
            *self.left_out_of.entry(session).or_default().entry(what).or_default() += 1;
        }
    }

    pub(super) fn note(&mut self, text: String) {
        if self.notes.len() < TOLD {
            self.notes.push(text);
        }
    }

    /// Ends the import: what is told comes in order, and who speaks in what came in is said.
    pub(super) fn finish(&mut self) {
        self.rejections.sort_by_key(|rejection| rejection.line);
        let Self { quoted, instructions, is_export, trusted_before, .. } = *self;
        if is_export {
            self.notes.push(format!(
                "roles and trust are kept as the export says, with {instructions} instructions: import only what you exported"
            ));
        }
        if quoted > 0 {
            self.notes.push(format!(
                "{quoted} messages of the roles system and developer are no instructions of yours: contexts leave them out \
                 (--trust-roles makes them instructions)"
            ));
        }
        if trusted_before > 0 {
            self.notes.push(format!("{trusted_before} messages keep the trust with which they were stored before"));
        }
    }
}

/// Returns kinds with their counts as one clause.
pub(crate) fn counts(left_out: &BTreeMap<LeftOut, u64>) -> String {
    let counts: Vec<String> = left_out.iter().map(|(what, count)| format!("{count} {}", what.name())).collect();
    counts.join(", ")
}
