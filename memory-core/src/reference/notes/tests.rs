use super::*;
use crate::id::RecordId;
use crate::id::Seq;

const NOW: Timestamp = Timestamp(1_000);

struct Bench {
    notes: Notes,
    index: IndexName,
    scope: Scope,
    session: SessionId,
}

impl Bench {
    fn new() -> Self {
        let index = IndexName::new("text/test").unwrap();
        let mut notes = Notes::default();
        notes.enlist(&index, None);
        Self { notes, index, scope: Scope::new("acme", "ada").unwrap(), session: SessionId::new("s").unwrap() }
    }

    fn mark(&mut self, mark: Mark) {
        self.notes.mark_session(&self.scope, &self.session, Epoch(0), mark);
    }

    fn append(&mut self, from: u64, upto: u64) {
        self.mark(Mark::Appended { from: Seq(from), upto: Seq(upto) });
    }

    fn pending(&self) -> Vec<Note> {
        self.notes.pending(&self.index, NOW, 100)
    }

    fn only(&self) -> Note {
        let notes = self.pending();
        assert_eq!(notes.len(), 1, "{notes:?}");
        notes[0].clone()
    }

    fn settle(&mut self, note: &Note, outcome: Outcome) {
        self.notes.settle(&self.index, &[(note.clone(), outcome)]);
    }

    fn counts(&self) -> (u64, u64) {
        let Backlog { pending, dead } = self.notes.backlog(&self.index);
        (pending, dead)
    }
}

fn done(through: u64) -> Outcome {
    Outcome::Done { through: Seq(through) }
}

fn retry(at: i64) -> Outcome {
    Outcome::Retry { at: Timestamp(at), why: "the index is away".to_owned() }
}

fn dead() -> Outcome {
    Outcome::Dead { why: "too long".to_owned() }
}

#[test]
fn appends_share_one_note_and_leave_its_stamp() {
    let mut bench = Bench::new();
    bench.append(1, 2);
    let first = bench.only();
    bench.append(3, 7);
    let note = bench.only();
    assert_eq!((note.from, note.upto, note.stamp), (Seq(1), Seq(7), first.stamp));
    bench.settle(&first, done(2));
    assert_eq!((bench.only().from, bench.only().upto), (Seq(3), Seq(7)));
    bench.settle(&note, done(7));
    assert_eq!(bench.counts(), (0, 0));
}

#[test]
fn a_settlement_covers_nothing_beyond_its_note() {
    let mut bench = Bench::new();
    bench.append(1, 2);
    let note = bench.only();
    bench.append(3, 3);
    bench.settle(&note, done(3));
    assert_eq!(bench.only().from, Seq(3));
}

#[test]
fn a_change_behind_the_note_undoes_settlements_under_way() {
    let mut bench = Bench::new();
    bench.append(1, 9);
    let note = bench.only();
    bench.mark(Mark::Changed { from: Seq(4), upto: Seq(6) });
    for outcome in [done(9), retry(5_000), dead()] {
        bench.settle(&note, outcome);
        let now = bench.only();
        assert!(now.stamp > note.stamp);
        assert_eq!((now.from, now.upto, now.attempts), (Seq(1), Seq(9), 0));
    }
}

#[test]
fn a_late_settlement_fits_no_later_note() {
    let mut bench = Bench::new();
    bench.append(1, 9);
    let note = bench.only();
    bench.settle(&note, done(9));
    bench.mark(Mark::Changed { from: Seq(4), upto: Seq(6) });
    bench.settle(&note, done(9));
    assert_eq!(bench.only().from, Seq(4));
}

#[test]
fn gone_stays_with_a_session_begun_again_until_it_is_settled() {
    let mut bench = Bench::new();
    bench.append(1, 9);
    bench.mark(Mark::Emptied);
    let empty = bench.only();
    assert_eq!((empty.from, empty.upto, empty.gone), (Seq(1), Seq(0), true));
    bench.append(1, 2);
    let note = bench.only();
    assert_eq!((note.from, note.upto, note.gone), (Seq(1), Seq(2), true));
    bench.settle(&empty, done(0));
    let filled = bench.only();
    assert_eq!((filled.from, filled.upto, filled.gone), (Seq(1), Seq(2), false));
    bench.settle(&filled, done(2));
    assert_eq!(bench.counts(), (0, 0));
}

#[test]
fn a_record_put_again_is_no_longer_gone() {
    let mut bench = Bench::new();
    let target = Target::Record(RecordId::fresh());
    for (version, gone) in [(1, false), (2, true), (3, false)] {
        bench.notes.mark(&bench.scope, &target, Epoch(0), Mark::Versioned { version, gone });
        let note = bench.only();
        assert_eq!((note.from, note.upto, note.gone), (Seq(version), Seq(version), gone));
    }
}

#[test]
fn retries_wait_for_their_time_and_count_once() {
    let mut bench = Bench::new();
    bench.append(1, 2);
    let note = bench.only();
    bench.settle(&note, retry(1_001));
    bench.settle(&note, retry(1_001));
    assert!(bench.pending().is_empty());
    assert_eq!(bench.counts(), (1, 0));
    bench.append(3, 3);
    assert!(bench.pending().is_empty(), "an append cures nothing");
    let later = bench.notes.pending(&bench.index, Timestamp(1_001), 1);
    assert_eq!((later[0].attempts, later[0].upto), (1, Seq(3)));
    bench.mark(Mark::Changed { from: Seq(1), upto: Seq(1) });
    assert_eq!(bench.only().attempts, 0);
}

#[test]
fn dead_notes_are_revived_when_their_target_changes() {
    let mut bench = Bench::new();
    bench.append(1, 2);
    bench.settle(&bench.only(), dead());
    assert!(bench.pending().is_empty());
    assert_eq!(bench.counts(), (0, 1));
    bench.append(3, 3);
    assert_eq!((bench.only().from, bench.only().attempts), (Seq(1), 0));
    assert_eq!(bench.counts(), (1, 0));
}

#[test]
fn what_was_appended_meanwhile_does_not_die_unread() {
    let mut bench = Bench::new();
    bench.append(1, 2);
    let note = bench.only();
    bench.append(3, 3);
    bench.settle(&note, dead());
    assert_eq!((bench.counts(), bench.only().attempts), ((1, 0), 1));
}

#[test]
fn notes_come_by_due_time_and_then_as_they_were_made() {
    let mut bench = Bench::new();
    let targets: Vec<Target> = (0..6).map(|_| Target::Record(RecordId::fresh())).collect();
    for target in targets.iter().rev() {
        bench.notes.mark(&bench.scope, target, Epoch(0), Mark::Versioned { version: 1, gone: false });
    }
    let notes = bench.pending();
    bench.settle(&notes[0], retry(900));
    bench.settle(&notes[1], retry(800));
    let order: Vec<&Target> = [2, 3, 4, 5, 1, 0].map(|at| &notes[at].target).into();
    let found = bench.pending();
    assert_eq!(found.iter().map(|note| &note.target).collect::<Vec<_>>(), order);
    assert_eq!(bench.notes.pending(&bench.index, NOW, 2), found[..2]);
}

#[test]
fn an_erasure_replaces_all_notes_of_its_owner_and_outlives_them() {
    let mut bench = Bench::new();
    let other = Scope::new("acme", "adam").unwrap();
    bench.append(1, 2);
    bench.settle(&bench.only(), dead());
    bench.notes.mark_session(&other, &bench.session, Epoch(0), Mark::Appended { from: Seq(1), upto: Seq(1) });
    bench.notes.bury(&bench.scope, Epoch(1));
    bench.notes.mark_session(&bench.scope, &bench.session, Epoch(1), Mark::Appended { from: Seq(1), upto: Seq(1) });
    bench.notes.forget(&bench.scope, Epoch(1));
    let notes = bench.pending();
    let found: Vec<_> = notes.iter().map(|note| (&note.scope, &note.target, note.epoch)).collect();
    let messages = Target::Messages(bench.session.clone());
    let expected = [(&other, &messages, 0), (&bench.scope, &Target::Owner, 1), (&bench.scope, &messages, 1)];
    assert_eq!(found, expected.map(|(scope, target, epoch)| (scope, target, Epoch(epoch))));
    for note in notes {
        bench.settle(&note, done(note.upto.0));
    }
    assert_eq!(bench.counts(), (0, 0));
}

#[test]
fn indexes_have_notes_of_their_own() {
    let mut bench = Bench::new();
    let second = IndexName::new("vector/test").unwrap();
    bench.notes.enlist(&second, None);
    bench.append(1, 2);
    bench.settle(&bench.only(), done(2));
    assert_eq!(bench.notes.pending(&second, NOW, 9).len(), 1);
    bench.notes.retire(&second);
    assert!(bench.notes.pending(&second, NOW, 9).is_empty());
}
