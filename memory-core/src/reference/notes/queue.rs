//! The notes of one index: found by target, taken by due time.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::id::Seq;
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::{Backlog, Note, Outcome, Target, latest_due};
use crate::time::Timestamp;

use super::row::{Mark, Row};

/// Before every time, so that a note is due at once.
const AT_ONCE: Timestamp = Timestamp(i64::MIN);

#[derive(Debug, Default)]
pub(super) struct Queue {
    owners: BTreeMap<Scope, BTreeMap<Target, Row>>,
    due: BTreeMap<(Timestamp, u64), (Scope, Target)>,
    dead: u64,
}

impl Queue {
    /// Notes a change of a target. `number` was never used before.
    pub(super) fn mark(&mut self, scope: &Scope, target: &Target, epoch: Epoch, mark: Mark, number: u64) {
        let Some(row) = self.owners.get_mut(scope).and_then(|rows| rows.get_mut(target)) else {
            let (from, upto) = mark.range();
            let place = Some((AT_ONCE, number));
            let row = Row { epoch, from, upto, stamp: number, attempts: 0, gone: mark.is_gone(), place };
            self.due.insert((AT_ONCE, number), (scope.clone(), target.clone()));
            self.owners.entry(scope.clone()).or_default().insert(target.clone(), row);
            return;
        };
        row.take(epoch, mark, number);
        // The target has changed since it failed, so the wait is pointless. An append does not change what failed.
        if row.stamp == number || row.place.is_none() {
            row.attempts = 0;
            self.dead -= u64::from(row.place.is_none());
            Self::put_in_place(&mut self.due, (scope, target), row, Some((AT_ONCE, number)));
        }
    }

    pub(super) fn forget(&mut self, scope: &Scope, below: Epoch) {
        let Some(rows) = self.owners.get_mut(scope) else { return };
        rows.retain(|target, row| {
            let is_kept = *target == Target::Owner || row.epoch >= below;
            if !is_kept {
                self.dead -= u64::from(row.place.is_none());
                Self::put_in_place(&mut self.due, (scope, target), row, None);
            }
            is_kept
        });
        if rows.is_empty() {
            self.owners.remove(scope);
        }
    }

    pub(super) fn pending(&self, now: Timestamp, limit: usize) -> Vec<Note> {
        let misdated = self.due.range((Bound::Excluded((latest_due(now), u64::MAX)), Bound::Unbounded));
        let due = self.due.range(..=(now, u64::MAX)).chain(misdated).take(limit);
        due.filter_map(|(_, (scope, target))| {
            let row = self.owners.get(scope)?.get(target)?;
            let Row { epoch, from, upto, stamp, attempts, gone, place: _ } = *row;
            Some(Note { scope: scope.clone(), target: target.clone(), epoch, from, upto, stamp, attempts, gone })
        })
        .collect()
    }

    /// Applies the outcome of `note`, unless its target has changed since the note was read.
    pub(super) fn settle(&mut self, note: &Note, outcome: &Outcome, number: u64) {
        let key = (&note.scope, &note.target);
        let Some(row) = self.owners.get_mut(key.0).and_then(|rows| rows.get_mut(key.1)) else { return };
        if row.stamp != note.stamp {
            return;
        }
        // Computed from the note, not from the row, so that a repeated settlement counts once.
        let attempts = row.attempts.max(note.attempts.saturating_add(1));
        match outcome {
            Outcome::Retry { .. } if row.place.is_none() => {}
            Outcome::Retry { at, why: _ } => {
                row.attempts = attempts;
                Self::put_in_place(&mut self.due, key, row, Some((*at, number)));
            }
            // Messages appended since have not been tried.
            Outcome::Dead { .. } if row.upto != note.upto => row.attempts = attempts,
            Outcome::Dead { why: _ } => {
                row.attempts = attempts;
                self.dead += u64::from(row.place.is_some());
                Self::put_in_place(&mut self.due, key, row, None);
            }
            Outcome::Done { through } => self.done(note, *through, number),
        }
    }

    fn done(&mut self, note: &Note, through: Seq, number: u64) {
        let key = (&note.scope, &note.target);
        let Some(rows) = self.owners.get_mut(key.0) else { return };
        let Some(row) = rows.get_mut(key.1) else { return };
        self.dead -= u64::from(row.place.is_none());
        let through = through.min(note.upto);
        let is_settled = through >= row.upto || row.from > row.upto;
        if !is_settled {
            row.from = row.from.max(Seq(through.0 + 1));
        }
        (row.attempts, row.gone) = (0, false);
        let place = (!is_settled).then_some((AT_ONCE, number));
        Self::put_in_place(&mut self.due, key, row, place);
        if is_settled {
            rows.remove(key.1);
            if rows.is_empty() {
                self.owners.remove(key.0);
            }
        }
    }

    /// Makes the dead notes due again, numbered from after `last`; returns how many there were.
    pub(super) fn revive(&mut self, last: u64) -> u64 {
        let mut number = last;
        for (scope, rows) in &mut self.owners {
            for (target, row) in rows.iter_mut().filter(|(_, row)| row.place.is_none()) {
                number += 1;
                (row.attempts, row.stamp) = (0, number);
                Self::put_in_place(&mut self.due, (scope, target), row, Some((AT_ONCE, number)));
            }
        }
        std::mem::take(&mut self.dead)
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog { pending: self.due.len() as u64, dead: self.dead }
    }

    pub(super) fn backlog_of(&self, scope: &Scope) -> Backlog {
        let rows = || self.owners.get(scope).into_iter().flat_map(BTreeMap::values);
        let dead = rows().filter(|row| row.place.is_none()).count() as u64;
        Backlog { pending: rows().count() as u64 - dead, dead }
    }

    fn put_in_place(
        due: &mut BTreeMap<(Timestamp, u64), (Scope, Target)>,
        (scope, target): (&Scope, &Target),
        row: &mut Row,
        place: Option<(Timestamp, u64)>,
    ) {
        if let Some(old) = row.place.take() {
            due.remove(&old);
        }
        if let Some(new) = place {
            due.insert(new, (scope.clone(), target.clone()));
        }
        row.place = place;
    }
}
