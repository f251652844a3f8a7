use std::collections::HashMap;

use super::*;
use crate::error::Result;
use crate::id::{Seq, SeqRange, SessionId};
use crate::message::{Message, Role, StoredMessage};
use crate::model::CounterId;
use crate::store::chat::{Append, NewMessage, Placement};
use crate::time::Timestamp;

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn id(n: u64) -> MessageId {
    MessageId::of_content(&n.to_le_bytes())
}

fn new(n: u64, text: &str) -> NewMessage {
    NewMessage::sized(Message::new(Role::User, text, Timestamp(n as i64)).with_id(id(n)), n)
}

fn row(n: u64, text: &str) -> Row<()> {
    Row::encode(&session(), &new(n, text), |_| ()).unwrap()
}

fn known(row: &Row<()>) -> KnownRow {
    let is_forgotten = row.content.is_none();
    KnownRow { is_here: true, is_summary: false, is_forgotten, digest: row.digest.clone() }
}

#[test]
fn a_batch_holds_a_repeated_message_once() {
    let batch = Append::new(vec![new(1, "a"), new(2, "b"), new(1, "a")]);
    let batch = Batch::encode(&session(), &batch, |_| ()).unwrap();
    assert_eq!((batch.rows.len(), batch.places.count()), (2, 3));
    let (one, two) = (Placement::Added(Seq(1)), Placement::Forgotten);
    assert_eq!(batch.places.spread(&[one, two]), [one, two, Placement::Already(Seq(1))]);
    let other = Append::new(vec![new(1, "a"), new(1, "b")]);
    assert!(matches!(Batch::encode(&session(), &other, |_| ()), Err(Error::IdConflict { .. })));
}

#[test]
fn facets_are_asked_for_where_there_may_be_some() {
    let asked = |message: Message| {
        let row = Row::encode(&session(), &NewMessage::sized(message, 1), |_| true).unwrap();
        row.content.is_some_and(|content| content.facets)
    };
    let plain = Message::new(Role::User, "a", Timestamp(0));
    assert!(!asked(plain.clone()));
    assert!(asked(Message { agent: Some("x".to_owned()), ..plain }));
}

#[test]
fn an_id_that_is_taken_keeps_its_content() {
    let (one, other, marker) = (row(1, "a"), row(1, "b"), Row::<()>::marker(id(1)));
    assert_eq!(known(&one).meet(&one, Seq(3)).unwrap(), Placement::Already(Seq(3)));
    assert_eq!(known(&one).meet(&marker, Seq(3)).unwrap(), Placement::Already(Seq(3)));
    assert_eq!(known(&marker).meet(&one, Seq(3)).unwrap(), Placement::Forgotten);
    assert!(matches!(known(&one).meet(&other, Seq(3)), Err(Error::IdConflict { .. })));
}

#[test]
fn a_fold_names_the_active_rows_of_its_span() {
    let (summary, ids) = (row(9, "s"), [id(1), id(2)]);
    let span = |first, last| SeqRange { first: Seq(first), last: Seq(last) };
    let plan = |span, there: Option<&KnownRow>| Fold::plan((span, &ids, &summary), there, 5);
    let fold = plan(span(1, 2), None).unwrap().unwrap();
    assert!(fold.check(&[(id(1), None), (id(2), Some(1))]).is_ok());
    for active in [vec![(id(1), None)], vec![(id(2), None), (id(1), None)], vec![(id(1), Some(0)), (id(2), None)]] {
        assert!(matches!(fold.check(&active), Err(Error::Conflict)), "{active:?}");
    }
    for span in [span(0, 2), span(3, 2), span(4, 6), span(1, u64::MAX)] {
        assert!(matches!(plan(span, None), Err(Error::Conflict)), "{span:?}");
    }
    let there = KnownRow { is_summary: true, ..known(&summary) };
    assert!(plan(span(1, 2), Some(&there)).unwrap().is_none());
    assert!(matches!(plan(span(1, 2), Some(&known(&summary))), Err(Error::IdConflict { .. })));
}

fn stored(n: u64, seq: u64, covers: Option<SeqRange>, archived_by: Option<MessageId>) -> StoredMessage {
    let NewMessage { message, tokens, counter: _ } = new(n, "a");
    let (session, counter) = (SessionId::new("other").unwrap(), CounterId::UNKNOWN);
    StoredMessage { id: id(n), session, seq: Seq(seq), tokens, counter, covers, archived_by, message: Some(message) }
}

fn restore(there: &There, rows: &[StoredMessage]) -> Result<(Vec<Placement>, Vec<Position>)> {
    let rows = rows.iter().map(|row| Restored::encode(&session(), row, |_| ())).collect::<Result<Vec<_>>>()?;
    let Restoration { placements, messages, summaries } = Restoration::plan(there, &rows)?;
    Ok((placements, messages.into_iter().chain(summaries).map(|(position, _)| position).collect()))
}

#[test]
fn what_is_restored_is_counted_on() {
    let by = Some(id(9));
    let covers = Some(SeqRange { first: Seq(2), last: Seq(2) });
    let gone = StoredMessage { message: None, ..stored(4, 4, None, None) };
    let rows = [stored(2, 2, None, by), stored(9, 2, covers, None), stored(3, 3, None, None), gone];
    let rows = rows.iter().map(|row| Restored::encode(&session(), row, |_| ())).collect::<Result<Vec<_>>>().unwrap();
    let there = There { head: 1, ..There::default() };
    let plan = Restoration::plan(&there, &rows).unwrap();
    let mut counters = Counters { head: 1, active_messages: 40, active_tokens: i64::MAX - 1, ..Counters::default() };
    counters.restore(&plan);
    // The summary and the third message: neither what the summary covers, nor what is forgotten.
    assert_eq!((counters.head, counters.active_messages, counters.active_tokens), (4, 42, i64::MAX));
}

#[test]
fn what_is_restored_goes_on_where_the_session_ends() {
    let there = There { ids: HashMap::from([(id(1), known(&row(1, "a")))]), messages: [(1, id(1))].into(), head: 1 };
    let by = Some(id(9));
    let covers = Some(SeqRange { first: Seq(1), last: Seq(2) });
    let rows = [stored(1, 1, None, by), stored(2, 2, None, by), stored(9, 2, covers, None)];
    let (placements, positions) = restore(&there, &rows).unwrap();
    assert_eq!(placements, [Placement::Already(Seq(1)), Placement::Added(Seq(2))]);
    assert_eq!(
        positions.iter().map(|position| (position.seq, position.first)).collect::<Vec<_>>(),
        [(2, None), (2, Some(1))]
    );
    assert_eq!(positions[0].archived_by, by);
    let gone = There { ids: there.ids.into_iter().chain([(id(9), known(&Row::marker(id(9))))]).collect(), ..there };
    let (_, positions) = restore(&gone, &rows).unwrap();
    assert_eq!((positions.len(), positions[0].archived_by), (1, None));
    assert!(matches!(restore(&gone, &[stored(3, 3, None, None)]), Err(Error::Conflict)));
    assert!(matches!(restore(&gone, &[stored(1, 2, None, None)]), Err(Error::IdConflict { .. })));
}
