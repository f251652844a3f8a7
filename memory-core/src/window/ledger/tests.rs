use serde_json::Map;

use super::*;
use crate::id::{MessageId, Seq, SeqRange};
use crate::message::{Block, Message, Role};
use crate::time::Timestamp;
use crate::window::Steps;

fn row(role: Role, block: Block, tokens: u64) -> StoredMessage {
    let message = Message::of_blocks(role, vec![block], Timestamp(0));
    StoredMessage::of_tests(1, tokens, message)
}

fn said(role: Role, tokens: u64) -> StoredMessage {
    row(role, Block::text("words"), tokens)
}

fn summary(tokens: u64) -> StoredMessage {
    StoredMessage { covers: Some(SeqRange { first: Seq(1), last: Seq(1) }), ..said(Role::User, tokens) }
}

fn call(id: &str, tokens: u64) -> StoredMessage {
    let call = Block::ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), extra: Map::new() };
    row(Role::Assistant, call, tokens)
}

fn result(id: &str, tokens: u64) -> StoredMessage {
    row(Role::Tool, Block::tool_result(id, vec![Block::text("found")]), tokens)
}

fn cut(ledger: &Ledger, limit: u64, options: &FitOptions) -> Cut {
    ledger.cut(&Budget::new(limit), options).unwrap()
}

#[test]
fn rows_count_by_how_a_context_shows_them() {
    let replaced = StoredMessage { archived_by: Some(MessageId::of_content(b"other")), ..said(Role::User, 1_000) };
    let rows = [
        replaced,
        said(Role::System, 1),
        summary(2),
        said(Role::User, 4),
        call("a", 8),
        result("a", 16),
        result("unknown", 32),
        said(Role::User, 64),
    ];
    let counts = |rows: &[StoredMessage]| {
        let ledger = Ledger::of(rows);
        (ledger.len(), ledger.active(), ledger.unpaired(), ledger.tokens(), ledger.messages())
    };
    assert_eq!(counts(&rows), (8, 7, 1, 127, 5));
    // Without the call, the result of it is unpaired too.
    assert_eq!(counts(&rows[5..]), (3, 3, 2, 112, 3));
    assert_eq!(counts(&[]), (0, 0, 0, 0, 0));
}

#[test]
fn a_tail_has_as_many_messages_as_are_asked_for_but_the_last_turn_is_whole() {
    let turn = [said(Role::User, 1), said(Role::Assistant, 1)];
    let rows = [&[said(Role::System, 1), summary(1)], &turn[..], &turn, &turn].concat();
    let ledger = Ledger::of(&rows);
    let start = |most: u64| cut(&ledger, 100, &FitOptions::default().with_most_messages(Some(most))).start;
    assert_eq!([7, 6, 5, 4, 3, 2, 1, 0].map(start), [2, 2, 4, 4, 6, 6, 6, 6]);
}

#[test]
fn a_tail_may_take_all_the_room_and_shows_the_summaries_just_before_it() {
    let rows = [summary(1), said(Role::User, 10), summary(1), said(Role::User, 10)];
    let ledger = Ledger::of(&rows);
    let cut = |limit: u64| cut(&ledger, limit, &FitOptions::default());
    let kept = |summaries: Vec<usize>, tokens: u64| Cut { summaries, start: 3, end: 4, tokens, fits: true };
    assert_eq!([cut(10), cut(11), cut(12)], [kept(vec![], 10), kept(vec![2], 11), kept(vec![2], 11)]);
    assert!(!cut(9).fits);
}

#[test]
fn a_tail_in_steps_begins_at_the_first_turn_after_a_step() {
    let rows: Vec<_> = (0..10).flat_map(|_| [said(Role::User, 20), said(Role::Assistant, 20)]).collect();
    let ledger = Ledger::of(&rows);
    let start = |tokens: u64, before: u64| {
        let steps = Some(Steps { tokens, before });
        cut(&ledger, 250, &FitOptions::default().with_steps(steps)).start
    };
    // By the budget alone it would begin after 160 tokens, at row 8.
    assert_eq!(cut(&ledger, 250, &FitOptions::default()).start, 8);
    assert_eq!([start(100, 0), start(100, 30), start(100, 40), start(100, 60)], [10, 10, 8, 12]);
    assert_eq!([start(0, 0), start(1_000, 0)], [8, 18]);
}

#[test]
fn places_are_told_by_the_index_of_the_row() {
    let rows = [said(Role::System, 4), said(Role::User, 8), result("unknown", 16), said(Role::User, 32), call("a", 64)];
    let mut ledger = Ledger::of(&rows);
    assert_eq!((ledger.starts().collect::<Vec<_>>(), ledger.first_start()), (vec![1, 3], 1));
    assert_eq!([1, 3].map(|start| ledger.tokens_from(start)), [4 + 8 + 32, 4 + 32]);
    let told = |index: usize| (ledger.is_in_order(index), ledger.is_paired(index));
    assert_eq!([0, 1, 2].map(told), [(false, true), (true, true), (false, false)]);
    assert_eq!(ledger.finished(), 4);
    ledger.push(&result("a", 128));
    assert_eq!((ledger.finished(), ledger.tokens_from(3)), (6, 4 + 32 + 64 + 128));
}

#[test]
fn without_a_person_no_tail_begins() {
    let ledger = Ledger::of(&[said(Role::System, 1), said(Role::Assistant, 2), said(Role::Assistant, 4)]);
    assert_eq!((ledger.starts().count(), ledger.first_start()), (0, 3));
}
