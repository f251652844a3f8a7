//! The notes that a pass of upkeep has carried out. It carries out each note once, and a session's note up to the end that the
//! session had when the pass first read it. So a pass ends, whatever is written meanwhile and whatever a store answers.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::id::Seq;
use crate::store::upkeep::{Note, Outcome};

/// The notes of one index in one truth store that a pass has carried out.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By a hash of owner and target, to save memory: there may be millions.
    notes: HashMap<u64, Progress>,
    state: RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    stamp: u64,
    /// How far it is carried out and settled; the largest number if it failed.
    through: Seq,
    /// How far this pass goes.
    goal: Seq,
}

impl Seen {
    /// Returns whether the pass still has to carry out the note, or its next part.
    pub(crate) fn is_new(&self, note: &Note) -> bool {
        self.notes.get(&self.key(note)).is_none_or(|progress| {
            note.stamp == progress.stamp && progress.through < note.from && note.from <= progress.goal
        })
    }

    /// Returns whether the note was settled and is there again although its target has not changed.
    pub(crate) fn is_stuck(&self, note: &Note) -> bool {
        let is_same = |progress: &Progress| progress.stamp == note.stamp && progress.through < Seq(u64::MAX);
        self.notes.get(&self.key(note)).is_some_and(|progress| is_same(progress) && note.from <= progress.through)
    }

    /// Stores the outcome of a note, and whether the truth store has settled it.
    pub(crate) fn note(&mut self, note: &Note, outcome: &Outcome, is_settled: bool) {
        let through = match outcome {
            Outcome::Done { through } if is_settled => *through,
            _ => Seq(u64::MAX),
        };
        let key = self.key(note);
        let goal = self.notes.get(&key).map_or(note.upto, |progress| progress.goal);
        self.notes.insert(key, Progress { stamp: note.stamp, through, goal });
    }

    fn key(&self, note: &Note) -> u64 {
        self.state.hash_one((&note.scope, &note.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SessionId;
    use crate::scope::{Epoch, Scope};
    use crate::store::upkeep::Target;
    use crate::time::Timestamp;

    fn note(session: &str, from: u64, upto: u64, stamp: u64) -> Note {
        let target = Target::Messages(SessionId::new(session).unwrap());
        let (from, upto, scope) = (Seq(from), Seq(upto), Scope::new("acme", "ada").unwrap());
        Note { scope, target, epoch: Epoch(0), from, upto, stamp, attempts: 0, gone: false }
    }

    fn done(through: u64) -> Outcome {
        Outcome::Done { through: Seq(through) }
    }

    #[test]
    fn a_long_session_is_carried_out_part_by_part_as_far_as_it_was_first_read() {
        let mut seen = Seen::default();
        seen.note(&note("a", 1, 10, 1), &done(4), true);
        let next = note("a", 5, 12, 1);
        assert!(seen.is_new(&next) && !seen.is_stuck(&next));
        seen.note(&next, &done(10), true);
        assert!(!seen.is_new(&note("a", 11, 12, 1)));
        assert!(seen.is_new(&note("b", 11, 12, 1)));
    }

    #[test]
    fn what_changed_or_failed_meanwhile_is_left_to_the_next_pass() {
        let mut seen = Seen::default();
        seen.note(&note("a", 1, 1, 1), &done(1), true);
        seen.note(&note("b", 1, 1, 2), &Outcome::Retry { at: Timestamp(0), why: String::new() }, true);
        seen.note(&note("c", 1, 1, 3), &done(1), false);
        for again in [note("a", 1, 1, 4), note("b", 1, 1, 2), note("c", 1, 1, 3)] {
            assert!(!seen.is_new(&again) && !seen.is_stuck(&again));
        }
    }

    #[test]
    fn a_note_that_was_settled_and_is_there_again_is_stuck() {
        for largest in [1, u64::MAX >> 1, u64::MAX - 1] {
            let mut seen = Seen::default();
            seen.note(&note("a", largest, largest, 1), &done(largest), true);
            let again = note("a", largest, largest, 1);
            assert!(!seen.is_new(&again) && seen.is_stuck(&again));
        }
    }
}
