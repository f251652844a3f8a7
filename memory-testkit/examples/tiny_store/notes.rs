//! Notes of what is still to be indexed, one per index and target.

use std::collections::BTreeMap;

use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target, latest_due};
use memory_core::{Epoch, Scope, Seq, Timestamp};

/// What happened to a target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Messages were added at the end.
    Appended,
    /// Something that an index may hold is different now.
    Changed,
    /// The session was deleted.
    Gone,
}

/// A note, and when it is due; none once it was given up.
#[derive(Debug)]
pub(crate) struct Row {
    note: Note,
    due: Option<Timestamp>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) indexes: BTreeMap<IndexName, BTreeMap<(Scope, Target), Row>>,
    /// What is known of each, and through what it has notes of all that was stored before.
    pub(crate) enlisted: BTreeMap<IndexName, (Enlisted, Option<(Scope, Target)>)>,
    /// The last stamp: never one twice, so that no late settlement fits a later note.
    last: u64,
}

const AT_ONCE: Option<Timestamp> = Some(Timestamp(i64::MIN));

impl Notes {
    /// Begins to keep notes for an index, anew in another incarnation. Returns through what it has notes of all that was
    /// stored before; none if that is everything.
    pub(crate) fn enlist(&mut self, index: &IndexName, told: Option<Incarnation>) -> Option<Option<(Scope, Target)>> {
        self.indexes.entry(index.clone()).or_default();
        let new = || (Enlisted { name: index.clone(), incarnation: told, is_noted: false }, None);
        let known = self.enlisted.entry(index.clone()).or_insert_with(new);
        if told.is_some() && told != known.0.incarnation {
            *known = new();
        }
        (!known.0.is_noted).then(|| known.1.clone())
    }

    pub(crate) fn noted(&mut self, index: &IndexName, through: Option<(Scope, Target)>, is_noted: bool) {
        if let Some((known, place)) = self.enlisted.get_mut(index) {
            known.is_noted = is_noted;
            *place = through.or(place.take());
        }
    }

    /// Notes a change for one index, or for all of them.
    pub(crate) fn mark(
        &mut self,
        only: Option<&IndexName>,
        (scope, target): (&Scope, &Target),
        epoch: Epoch,
        (from, upto): (Seq, Seq),
        change: Change,
    ) {
        self.last += 1;
        let (stamp, gone) = (self.last, change == Change::Gone);
        // Nothing of a message that is forgotten lies with those who find facts.
        let is_redaction = only.is_none() && change == Change::Changed && *target != Target::Owner;
        for (name, rows) in &mut self.indexes {
            if only.is_some_and(|only| only != name) || is_redaction && name.finds_facts() {
                continue;
            }
            let fresh =
                || Note { scope: scope.clone(), target: target.clone(), epoch, from, upto, stamp, attempts: 0, gone };
            let row = rows.entry((scope.clone(), target.clone()));
            let row = row.or_insert_with(|| Row { note: fresh(), due: AT_ONCE });
            if change == Change::Gone {
                row.note = fresh();
            }
            (row.note.from, row.note.upto) = (row.note.from.min(from), row.note.upto.max(upto));
            row.note.epoch = epoch;
            if change != Change::Appended {
                row.note.stamp = stamp;
            }
            if change != Change::Appended || row.due.is_none() {
                (row.note.attempts, row.due) = (0, AT_ONCE);
            }
        }
    }

    /// Drops an owner's notes from before `below`, but for that of the burial.
    pub(crate) fn forget(&mut self, scope: &Scope, below: Epoch) {
        for rows in self.indexes.values_mut() {
            rows.retain(|(owner, target), row| owner != scope || *target == Target::Owner || row.note.epoch >= below);
        }
    }

    pub(crate) fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Vec<Note> {
        let rows = self.indexes.get(index).into_iter().flat_map(BTreeMap::values);
        // What waits for longer than a note can was put off while the clock was wrong.
        let is_due = |due: Timestamp| due <= now || due > latest_due(now);
        let mut due: Vec<_> = rows.filter(|row| row.due.is_some_and(is_due)).collect();
        due.sort_by_key(|row| row.due);
        due.into_iter().take(limit).map(|row| row.note.clone()).collect()
    }

    pub(crate) fn settle(&mut self, index: &IndexName, note: &Note, outcome: &Outcome) {
        let Some(rows) = self.indexes.get_mut(index) else { return };
        let key = (note.scope.clone(), note.target.clone());
        let Some(row) = rows.get_mut(&key).filter(|row| row.note.stamp == note.stamp) else { return };
        match outcome {
            Outcome::Done { through } => {
                let through = note.upto.min(*through);
                if through >= row.note.upto {
                    rows.remove(&key);
                    return;
                }
                let from = row.note.from.max(Seq(through.0 + 1));
                row.note = Note { from, attempts: 0, gone: false, ..row.note.clone() };
                row.due = AT_ONCE;
            }
            // Counted from the note, so that a repeat counts once.
            Outcome::Retry { at, .. } => (row.note.attempts, row.due) = (note.attempts + 1, Some(*at)),
            Outcome::Dead { .. } if row.note.upto == note.upto => row.due = None,
            Outcome::Dead { .. } => {}
        }
    }

    pub(crate) fn revive(&mut self, index: &IndexName) -> u64 {
        let dead =
            self.indexes.get_mut(index).into_iter().flat_map(BTreeMap::values_mut).filter(|row| row.due.is_none());
        let mut revived = 0;
        for row in dead {
            self.last += 1;
            (row.note.attempts, row.note.stamp, row.due) = (0, self.last, AT_ONCE);
            revived += 1;
        }
        revived
    }

    /// Counts the notes of one owner, or of all.
    pub(crate) fn backlog(&self, only: Option<&Scope>, index: &IndexName) -> Backlog {
        let rows = self.indexes.get(index).into_iter().flat_map(BTreeMap::values);
        let rows = || rows.clone().filter(|row| only.is_none_or(|only| *only == row.note.scope));
        let dead = rows().filter(|row| row.due.is_none()).count() as u64;
        Backlog { pending: rows().count() as u64 - dead, dead }
    }
}
