use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::message::{Message, Role};
use crate::model::CounterId;
use crate::store::chat::{Append, NewMessage, View};
use crate::time::Timestamp;

const STEPS: usize = 40;

fn new(n: u64, tokens: u64) -> NewMessage {
    let id = MessageId::of_content(&n.to_le_bytes());
    let message = Message::new(Role::User, format!("words {n}"), Timestamp(n as i64)).with_id(id);
    NewMessage::sized(message, tokens)
}

fn owner_of(messages: u64) -> (Owner, SessionId) {
    let session = SessionId::new("s").unwrap();
    let mut owner = Owner::default();
    let batch = Append::new((1..=messages).map(|n| new(n, n)).collect());
    owner.append(&session, &batch);
    (owner, session)
}

fn restore(owner: &mut Owner, session: &SessionId, rows: &[StoredMessage]) -> (Vec<Placement>, Option<SeqRange>) {
    let rows = rows.iter().map(|row| Restored::encode(session, row, |_| ())).collect::<Result<Vec<_>>>().unwrap();
    let there = owner.look(session, &rows);
    owner.restore(session, Restoration::plan(&there, &rows).unwrap())
}

/// Folds the active rows up to `last`.
fn fold(owner: &mut Owner, session: &SessionId, last: u64, summary: u64) -> Result<()> {
    fold_from(owner, session, 1, last, summary)
}

fn fold_from(owner: &mut Owner, session: &SessionId, first: u64, last: u64, summary: u64) -> Result<()> {
    let span = SeqRange { first: Seq(first), last: Seq(last) };
    let rows = window(owner, session);
    let ids: Vec<MessageId> = rows.iter().filter(|row| span.contains(row.seq)).map(|row| row.id).collect();
    owner.fold(session, span, &ids, &new(summary, 3))
}

fn window(owner: &Owner, session: &SessionId) -> Vec<StoredMessage> {
    owner.session(session).map(|kept| kept.page(&Page::newest(usize::MAX))).unwrap_or_default()
}

fn ids(numbers: &[u64]) -> Vec<MessageId> {
    numbers.iter().map(|n| new(*n, 0).message.id).collect()
}

fn check_counters(owner: &Owner, session: &SessionId) {
    let state = owner.state(session);
    let all = owner.session(session).map(|kept| kept.page(&Page::after(Seq(0), usize::MAX, View::All)));
    let active: Vec<StoredMessage> = all.unwrap_or_default().into_iter().filter(StoredMessage::is_active).collect();
    assert_eq!(active, window(owner, session));
    assert_eq!(state.active_messages, active.len() as u64);
    assert_eq!(state.active_tokens, active.iter().map(|row| row.tokens).sum::<u64>());
}

#[test]
fn forgetting_inside_nested_folds_brings_back_the_originals_of_each() {
    let (mut owner, session) = owner_of(10);
    fold(&mut owner, &session, 4, 101).unwrap();
    fold(&mut owner, &session, 8, 102).unwrap();
    assert_eq!(window(&owner, &session).len(), 3);
    let (redacted, _) = owner.redact(new(2, 0).message.id).unwrap();
    assert_eq!((redacted.seq, redacted.summaries), (Seq(2), ids(&[101, 102])));
    let left: Vec<u64> = window(&owner, &session).iter().map(|row| row.seq.0).collect();
    assert_eq!(left, [1, 3, 4, 5, 6, 7, 8, 9, 10]);
    check_counters(&owner, &session);
}

#[test]
fn forgetting_outside_the_inner_fold_keeps_it() {
    let (mut owner, session) = owner_of(10);
    fold(&mut owner, &session, 4, 101).unwrap();
    fold(&mut owner, &session, 8, 102).unwrap();
    let (redacted, _) = owner.redact(new(6, 0).message.id).unwrap();
    assert_eq!(redacted.summaries, ids(&[102]));
    let left = window(&owner, &session);
    assert_eq!(left[0].id, ids(&[101])[0]);
    assert_eq!(left.iter().map(|row| row.seq.0).collect::<Vec<_>>(), [4, 5, 7, 8, 9, 10]);
    check_counters(&owner, &session);
}

#[test]
fn forgetting_an_archived_summary_takes_what_covers_it_along() {
    let (mut owner, session) = owner_of(10);
    fold(&mut owner, &session, 4, 101).unwrap();
    fold(&mut owner, &session, 8, 102).unwrap();
    let (redacted, is_message) = owner.redact(new(101, 0).message.id).unwrap();
    assert!(!is_message);
    assert_eq!((redacted.seq, redacted.summaries), (Seq(4), ids(&[102])));
    assert_eq!(window(&owner, &session).len(), 10);
    assert!(matches!(fold(&mut owner, &session, 4, 101), Err(Error::IdConflict { .. })));
    check_counters(&owner, &session);
}

#[test]
fn a_summary_does_not_come_back_after_what_it_covered_was_forgotten() {
    let (mut owner, session) = owner_of(6);
    fold(&mut owner, &session, 4, 101).unwrap();
    let export = owner.session(&session).unwrap().page(&Page::after(Seq(0), 100, View::All));
    owner.redact(new(2, 0).message.id).unwrap();
    let (placements, added) = restore(&mut owner, &session, &export);
    assert_eq!((placements[1], added), (Placement::Forgotten, None));
    assert_eq!(owner.content(ids(&[101])[0]), None);
    check_counters(&owner, &session);
}

#[test]
fn restored_marks_that_point_in_a_circle_do_no_harm() {
    let (owner, session) = owner_of(3);
    let mut rows = owner.session(&session).unwrap().rows.clone();
    let [a, b] = [new(101, 1), new(102, 1)];
    let covers = Some(SeqRange { first: Seq(1), last: Seq(3) });
    for (one, other) in [(&a, &b), (&b, &a)] {
        let (id, message) = (one.message.id, Some(one.message.clone()));
        let archived_by = Some(other.message.id);
        let session = session.clone();
        rows.push(StoredMessage {
            id,
            session,
            seq: Seq(3),
            tokens: 1,
            counter: CounterId::UNKNOWN,
            covers,
            archived_by,
            message,
        });
    }
    rows[0].archived_by = Some(a.message.id);
    let mut copy = Owner::default();
    restore(&mut copy, &session, &rows);
    assert_eq!(copy.redact(rows[0].id).unwrap().0.summaries, ids(&[101, 102]));
    check_counters(&copy, &session);
}

#[test]
fn a_fold_behind_the_head_of_a_session_cuts_no_summary() {
    let (mut owner, session) = owner_of(9);
    let mut fold = |first, last, folded: &[u64], summary| {
        owner.fold(&session, SeqRange { first: Seq(first), last: Seq(last) }, &ids(folded), &new(summary, 1))
    };
    fold(3, 5, &[3, 4, 5], 101).unwrap();
    for (first, last, folded) in
        [(2, 4, &[2][..]), (4, 6, &[101, 6]), (4, 5, &[101]), (0, 2, &[1, 2]), (9, 10, &[9]), (3, 4, &[]), (6, 3, &[])]
    {
        assert!(matches!(fold(first, last, folded, 102), Err(Error::Conflict)), "{first} to {last}");
    }
    fold(2, 7, &[2, 101, 6, 7], 102).unwrap();
    let left: Vec<u64> = window(&owner, &session).iter().map(|row| row.seq.0).collect();
    assert_eq!(left, [1, 7, 8, 9]);
    owner.redact(new(4, 0).message.id).unwrap();
    let left: Vec<u64> = window(&owner, &session).iter().map(|row| row.seq.0).collect();
    assert_eq!(left, [1, 2, 3, 5, 6, 7, 8, 9]);
    check_counters(&owner, &session);
}

#[test]
fn a_page_never_splits_rows_at_one_number() {
    let (mut owner, session) = owner_of(6);
    fold(&mut owner, &session, 4, 101).unwrap();
    owner.fold(&session, SeqRange { first: Seq(1), last: Seq(4) }, &ids(&[101]), &new(102, 1)).unwrap();
    let kept = owner.session(&session).unwrap();
    let forwards = kept.page(&Page::after(Seq(3), 1, View::All));
    assert_eq!(forwards.iter().map(|row| row.id).collect::<Vec<_>>(), ids(&[4, 101, 102]));
    assert_eq!(kept.page(&Page::before(Seq(5), 1, View::All)), forwards);
    assert_eq!(kept.page(&Page::before(Seq(5), 9, View::All).within(0)), forwards);
}

#[derive(Clone, Debug)]
enum Step {
    Append(u64),
    Fold(u64, u64),
    Unfold(u64),
    Redact(u64),
    RedactSummary(u64),
    Move,
    Delete,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..5u64).prop_map(Step::Append),
        6 => (1..9u64, 0..30u64).prop_map(|(first, last)| Step::Fold(first, last)),
        2 => (0..8u64).prop_map(Step::Unfold),
        3 => (0..30u64).prop_map(Step::Redact),
        1 => (0..8u64).prop_map(Step::RedactSummary),
        1 => Just(Step::Move),
        1 => Just(Step::Delete),
    ];
    prop::collection::vec(step, 1..STEPS)
}

proptest! {
    #[test]
    fn the_window_is_what_a_recount_finds_after_any_history(steps in steps()) {
        let (mut owner, session) = owner_of(0);
        let (mut last, mut summaries) = (0u64, 0u64);
        for step in steps {
            match step {
                Step::Append(count) => {
                    let batch = Append::new((1..=count).map(|n| new(last + n, (last + n) % 7)).collect());
                    owner.append(&session, &batch);
                    last += count;
                }
                Step::Fold(first, last) => {
                    let head = owner.state(&session).head.0;
                    if fold_from(&mut owner, &session, first, last.min(head), 1_000 + summaries).is_ok() {
                        summaries += 1;
                    }
                }
                Step::Unfold(n) => drop(owner.unfold(&session, new(1_000 + n, 0).message.id)),
                Step::Redact(n) => drop(owner.redact(new(n, 0).message.id)),
                Step::RedactSummary(n) => drop(owner.redact(new(1_000 + n, 0).message.id)),
                Step::Move => {
                    let rows = owner.session(&session).map(|kept| kept.page(&Page::after(Seq(0), 1_000, View::All)));
                    let rows = rows.unwrap_or_default();
                    let mut copy = Owner::default();
                    restore(&mut copy, &session, &rows);
                    let again = copy.session(&session).map(|kept| kept.page(&Page::after(Seq(0), 1_000, View::All)));
                    prop_assert_eq!(again.unwrap_or_default(), rows);
                    check_counters(&copy, &session);
                }
                Step::Delete => drop(owner.delete(&owner.state(&session))),
            }
            check_counters(&owner, &session);
            let log = owner.session(&session).map(|kept| kept.page(&Page::after(Seq(0), 1_000, View::Log)));
            for (index, row) in log.unwrap_or_default().iter().enumerate() {
                prop_assert_eq!(row.seq.0, index as u64 + 1);
            }
        }
    }
}
