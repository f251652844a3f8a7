mod shares;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::{Block, Message, Role, Slot};
use crate::model::CounterId;
use crate::time::Timestamp;
use crate::window::pairing::Standing;
use crate::window::{Folding, Ledger};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    System,
    User,
    Assistant,
    Call,
    Result,
    Summary(u64),
}

/// Returns rows as `Active` shows them; a summary covers as many numbers as it says.
fn rows(list: &[(Said, u64)]) -> Vec<StoredMessage> {
    let session = SessionId::new("s").unwrap();
    let mut number = 0;
    let mut row = |(said, tokens): &(Said, u64)| {
        let first = Seq(number + 1);
        number += if let Said::Summary(covered) = said { *covered } else { 1 };
        let call =
            Block::ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into(), extra: Default::default() };
        let result = Block::tool_result("c", vec![Block::text("found")]);
        let (role, block) = match said {
            Said::System => (Role::System, Block::text("be kind")),
            Said::User | Said::Summary(_) => (Role::User, Block::text("words")),
            Said::Assistant => (Role::Assistant, Block::text("words")),
            Said::Call => (Role::Assistant, call),
            Said::Result => (Role::Tool, result),
        };
        let message = Message::of_blocks(role, vec![block], Timestamp(0));
        StoredMessage {
            id: message.id,
            session: session.clone(),
            seq: Seq(number),
            tokens: *tokens,
            counter: CounterId::UNKNOWN,
            covers: matches!(said, Said::Summary(_)).then_some(SeqRange { first, last: Seq(number) }),
            archived_by: None,
            message: Some(message.into()),
        }
    };
    list.iter().map(&mut row).collect()
}

fn turns(count: usize, tokens: u64) -> Vec<(Said, u64)> {
    [(Said::User, tokens), (Said::Assistant, tokens)].repeat(count)
}

fn span(plan: &FoldPlan) -> (u64, u64) {
    (plan.span.first.0, plan.span.last.0)
}

const NONE: Beyond = Beyond { tokens: 0, messages: 0 };

fn policy() -> BufferConfig {
    BufferConfig::default().with_capacity_messages(50)
}

#[test]
fn s1_4_at_message_51_the_oldest_ten_are_folded() {
    let policy = policy();
    assert_eq!(plan_fold(&rows(&turns(25, 20)), &policy, None, NONE), None);
    let mut list = turns(25, 20);
    list.push((Said::User, 20));
    let list = rows(&list);
    let plan = plan_fold(&list, &policy, None, NONE).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.rows.len(), plan.tokens), (FoldReason::Messages, (1, 10), 10, 200));
    assert!(plan.max_tokens < plan.tokens);
    let larger = policy.with_capacity_messages(100);
    assert_eq!(plan_fold(&rows(&turns(60, 20)), &larger, None, NONE).unwrap().rows.len(), 20);
    // What a search looks at is another number.
    let apart = policy.with_capacity_messages(1_000).with_summarize_after(50);
    assert_eq!(plan_fold(&list, &apart, None, NONE), Some(plan));
    let late = policy.with_summarize_after(1_000);
    assert_eq!(plan_fold(&list, &late, None, NONE), None);
}

#[test]
fn c21_folding_begins_at_four_fifths_and_goes_down_to_half() {
    let policy = BufferConfig::default();
    assert_eq!(plan_fold(&rows(&turns(39, 10)), &policy, Some(1_000), NONE), None);
    let full = rows(&turns(40, 10));
    let plan = plan_fold(&full, &policy, Some(1_000), NONE).unwrap();
    assert_eq!(plan.reason, FoldReason::Tokens);
    let left = 800 - plan.tokens + plan.max_tokens;
    assert!(left <= 500 && left > 460, "{left}");
    let mut after = rows(&[(Said::Summary(plan.rows.len() as u64), plan.max_tokens)]);
    after.extend(full.into_iter().skip(plan.rows.len()));
    assert_eq!(plan_fold(&after, &policy, Some(1_000), NONE), None);
}

#[test]
fn s4_4_the_last_four_turns_stay_verbatim() {
    let policy = policy();
    assert_eq!(plan_fold(&rows(&turns(4, 500)), &policy, Some(100), NONE), None);
    assert_eq!(span(&plan_fold(&rows(&turns(5, 500)), &policy, Some(100), NONE).unwrap()), (1, 2));
    let all = plan_fold(&rows(&turns(9, 500)), &policy.with_keep_turns(0), Some(100), NONE).unwrap();
    assert_eq!(span(&all), (1, 16));
}

#[test]
fn instructions_are_never_folded() {
    let policy = policy();
    let head = [vec![(Said::System, 10)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&head), &policy, Some(100), NONE).unwrap()), (2, 5));
    let between = [turns(1, 50), vec![(Said::System, 10)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&between), &policy, Some(100), NONE).unwrap()), (1, 2));
    let inside = [vec![(Said::User, 50), (Said::System, 10), (Said::Assistant, 50)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&inside), &policy, Some(100), NONE).unwrap()), (4, 7));
}

#[test]
fn calls_are_folded_with_their_results() {
    let call = [(Said::User, 30), (Said::Call, 30), (Said::Result, 30), (Said::Assistant, 30)];
    let policy = BufferConfig::default();
    let plan = plan_fold(&rows(&call.repeat(5)), &policy, Some(600), NONE).unwrap();
    assert_eq!(span(&plan), (1, 4));
}

#[test]
fn beyond_the_most_summaries_the_oldest_ten_become_one() {
    let policy = policy().with_max_summaries(20, 10);
    let mut list = vec![(Said::System, 5)];
    list.extend([(Said::Summary(10), 40)].repeat(21));
    list.extend(turns(4, 20));
    let plan = plan_fold(&rows(&list), &policy, None, NONE).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.rows.len()), (FoldReason::Summaries, (2, 101), 10));
    list.remove(1);
    assert_eq!(plan_fold(&rows(&list), &policy, None, NONE), None);
}

#[test]
fn summaries_are_merged_where_no_message_may_be_folded() {
    let mut list = [(Said::Summary(10), 100)].repeat(3);
    list.extend(turns(4, 100));
    let plan = plan_fold(&rows(&list), &policy(), Some(1_000), NONE).unwrap();
    assert_eq!((plan.reason, span(&plan)), (FoldReason::Summaries, (1, 30)));
    let one = [vec![(Said::Summary(30), 300)], turns(4, 100)].concat();
    assert_eq!(plan_fold(&rows(&one), &policy(), Some(1_000), NONE), None);
}

#[test]
fn summaries_never_crowd_out_what_was_said() {
    let policy = policy();
    let (mut window, mut number) = (Vec::new(), 0);
    for _ in 0..500 {
        for mut row in rows(&turns(1, 36)) {
            number += 1;
            row.seq = Seq(number);
            window.push(row);
        }
        while let Some(plan) = plan_fold(&window, &policy, Some(3_000), NONE) {
            let at = window.iter().position(|row| row.id == plan.rows[0].id).unwrap();
            window.splice(at..at + plan.rows.len(), [summary_of(&plan)]);
        }
        let tokens = |is_summary: bool| -> u64 {
            window.iter().filter(|row| row.covers.is_some() == is_summary).map(|row| row.tokens).sum()
        };
        assert!(number < 60 || tokens(false) >= 500, "{} beside {} of summaries", tokens(false), tokens(true));
    }
}

const STEP: [(Said, u64); 2] = [(Said::Call, 40), (Said::Result, 60)];

#[test]
fn a_turn_that_alone_is_too_large_is_folded_inside() {
    let policy = BufferConfig::default().with_summary_tokens(100);
    let long = [vec![(Said::System, 10), (Said::User, 50)], STEP.repeat(20)].concat();
    let plan = plan_fold(&rows(&long), &policy, Some(1_000), NONE).unwrap();
    assert_eq!((plan.reason, plan.span.first.0), (FoldReason::Turn, 3));
    // Whole groups leave, until half of the limit is left.
    assert_eq!(plan.rows.len() % 2, 0);
    let left = 2_060 - plan.tokens + plan.max_tokens;
    assert!(left <= 500 && left > 350, "{left}");
    // The newest calls stay, even if they alone are too large.
    let huge = [vec![(Said::User, 50)], STEP.to_vec(), vec![(Said::Call, 900), (Said::Result, 900)]].concat();
    assert_eq!(span(&plan_fold(&rows(&huge), &policy, Some(1_000), NONE).unwrap()), (2, 3));
    let one = [(Said::User, 50), (Said::Call, 900), (Said::Result, 900)];
    assert_eq!(plan_fold(&rows(&one), &policy, Some(1_000), NONE), None);
}

/// Takes the ids out of calls and results, as dialects without ids have them.
fn unnamed(mut rows: Vec<StoredMessage>) -> Vec<StoredMessage> {
    for message in rows.iter_mut().filter_map(|row| row.message.as_mut()) {
        let blocks = match &message.blocks[..] {
            [Block::ToolCall { .. }] => vec![Block::Other { slot: Slot::ToolCalls, value: json!({ "function": {} }) }],
            [Block::ToolResult { content, .. }] => content.clone(),
            other => other.to_vec(),
        };
        *message = Message { blocks, ..Message::clone(message) }.into();
    }
    rows
}

#[test]
fn a_call_without_id_is_folded_with_its_result() {
    let policy = BufferConfig::default().with_summary_tokens(100);
    let last = [(Said::Call, 900), (Said::Result, 900)];
    for steps in [STEP.repeat(20), [STEP, last].concat(), last.to_vec()] {
        let turn = rows(&[vec![(Said::User, 50)], steps].concat());
        let plan = |rows: &[StoredMessage]| plan_fold(rows, &policy, Some(1_000), NONE).map(|plan| span(&plan));
        assert_eq!(plan(&unnamed(turn.clone())), plan(&turn));
    }
}

#[test]
fn a_summary_inside_a_turn_leaves_with_the_turn() {
    let policy = BufferConfig::default();
    let begun =
        [vec![(Said::User, 50), (Said::Summary(10), 100)], STEP.repeat(3), vec![(Said::Assistant, 50)]].concat();
    let list = [begun.clone(), turns(5, 100)].concat();
    let plan = plan_fold(&rows(&list), &policy, Some(1_400), NONE).unwrap();
    assert_eq!((plan.reason, span(&plan)), (FoldReason::Tokens, (1, 20)));
    // While the turn lasts, later steps get a summary of their own.
    let going_on = [&begun[..2], &STEP.repeat(20)].concat();
    let plan = plan_fold(&rows(&going_on), &policy, Some(1_000), NONE).unwrap();
    assert_eq!((plan.reason, plan.span.first.0), (FoldReason::Turn, 12));
}

#[test]
fn s0_4_above_the_capacity_the_oldest_leave_without_a_summary_if_so_set() {
    let policy = BufferConfig::default().with_capacity_messages(10).with_folding(Folding::Archive);
    assert_eq!(plan_fold(&rows(&turns(5, 5)), &policy, None, NONE), None);
    let mut all = rows(&turns(8, 5));
    let plan = plan_fold(&all, &policy, None, NONE).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.messages()), (FoldReason::Messages, (1, 6), 6));
    // What stands for them is no message, and leaves with the next ones.
    let mut archive = summary_of(&plan);
    archive.message = Some(Message::of_blocks(Role::Assistant, Vec::new(), Timestamp(0)).into());
    all.splice(..6, [archive]);
    assert_eq!(plan_fold(&all, &policy, None, NONE), None);
    let next = plan_fold(&all, &policy.with_capacity_messages(6), None, NONE).unwrap();
    assert_eq!((span(&next), next.messages()), ((7, 10), 4));
    // Where summaries are made, it stays apart from what they are made of.
    let summarised = plan_fold(&all, &policy.with_capacity_messages(6).with_folding(Folding::Summaries), None, NONE);
    assert_eq!(summarised, None, "four turns stay, and the fifth is too short");
}

#[test]
fn many_rows_that_stand_for_what_left_become_one() {
    let one = rows(&turns(300, 5));
    let archive = |row: &StoredMessage| {
        let message = Message::of_blocks(Role::Assistant, Vec::new(), Timestamp(0));
        let covers = Some(SeqRange { first: row.seq, last: row.seq });
        StoredMessage { id: message.id, covers, tokens: 0, message: Some(message.into()), ..row.clone() }
    };
    let window = |archives: usize| -> Vec<StoredMessage> {
        one.iter().enumerate().map(|(place, row)| if place < archives { archive(row) } else { row.clone() }).collect()
    };
    let policy = BufferConfig::default();
    assert_eq!(plan_fold(&window(256), &policy, None, NONE), None);
    let plan = plan_fold(&window(257), &policy, None, NONE).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.messages()), (FoldReason::Archives, (1, 257), 0));
}

#[test]
fn summaries_inside_a_turn_are_merged_so_that_it_can_go_on() {
    let policy = BufferConfig::default();
    let long = [vec![(Said::User, 50)], [(Said::Summary(10), 60)].repeat(8), STEP.repeat(5)].concat();
    let plan = plan_fold(&rows(&long), &policy, Some(1_000), NONE).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.rows.len()), (FoldReason::Summaries, (2, 81), 8));
}

#[test]
fn instructions_inside_a_turn_part_no_call_from_its_results() {
    let policy = BufferConfig::default();
    let list = [
        vec![(Said::User, 50)],
        STEP.repeat(4),
        vec![(Said::Call, 40), (Said::System, 5), (Said::Result, 60)],
        STEP.repeat(6),
    ];
    let all = rows(&list.concat());
    let plan = plan_fold(&all, &policy, Some(1_000), NONE).unwrap();
    let behind = &all[1 + plan.rows.len()..];
    let next = behind.iter().map(Standing::of).find(|place| *place != Standing::Instruction);
    assert!(plan.reason == FoldReason::Turn && !matches!(next, Some(Standing::Result(_))), "{plan:?}");
}

#[test]
fn messages_that_were_not_read_count_for_the_capacity() {
    let policy = BufferConfig::default().with_capacity_messages(5_000);
    let beyond = Beyond { tokens: 0, messages: 4_990 };
    let plan = plan_fold(&rows(&turns(10, 20)), &policy, None, beyond).unwrap();
    assert_eq!((plan.reason, plan.messages()), (FoldReason::Messages, 12));
}

#[test]
fn s4_17h_an_adaptive_threshold_leaves_room_for_the_largest_turn() {
    let policy = BufferConfig::default().with_adaptive_threshold();
    let folds =
        |tokens: u64, count: usize| plan_fold(&rows(&turns(count, tokens)), &policy, Some(1_000), NONE).is_some();
    // Turns of 20 tokens: it waits until nine tenths are full, and not for four fifths.
    assert_eq!([folds(10, 44), folds(10, 45)], [false, true]);
    // Turns of 120: it folds from 880 on.
    assert_eq!([folds(60, 7), folds(60, 8)], [false, true]);
    // Turns of 600: never before half is full.
    assert_eq!([folds(240, 1), folds(300, 1)], [false, false]);
    assert!(folds(300, 5));
}

#[test]
fn pressure_is_the_larger_of_two_shares() {
    let policy = policy();
    assert_eq!(Pressure::of(500, Some(1_000), 10, policy.capacity_messages), Pressure(0.5));
    assert_eq!(Pressure::of(100, Some(1_000), 50, policy.capacity_messages), Pressure(1.0));
    assert_eq!(Pressure::of(5, None, 5, None), Pressure(0.0));
    assert_eq!(Pressure::of(5, Some(0), 0, None), Pressure(f64::INFINITY));
    assert_eq!(Pressure::of(0, Some(0), 0, Some(0)), Pressure(0.0));
}

fn summary_of(plan: &FoldPlan) -> StoredMessage {
    let mut summary = plan.rows[plan.rows.len() - 1].clone();
    (summary.id, summary.covers, summary.tokens) = (MessageId::fresh(), Some(plan.span), plan.max_tokens);
    summary
}

fn any_rows() -> impl Strategy<Value = Vec<StoredMessage>> {
    let said = prop_oneof![
        1 => Just(Said::System),
        6 => Just(Said::User),
        6 => Just(Said::Assistant),
        2 => Just(Said::Call),
        2 => Just(Said::Result),
    ];
    let summaries = vec((Just(Said::Summary(10)), 1..90_u64), 0..6);
    (summaries, vec((said, 0..90_u64), 0..40)).prop_map(|(summaries, list)| rows(&[summaries, list].concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_fold_is_one_stretch_and_leaves_a_legal_window(rows in any_rows(), limit in 1..2_000_u64, most in 0..40_u64) {
        let policy = policy().with_capacity_messages(most.max(1)).with_max_summaries(4, 3);
        let Some(plan) = plan_fold(&rows, &policy, Some(limit), NONE) else { return Ok(()) };
        let at = rows.iter().position(|row| row.id == plan.rows[0].id).unwrap();
        let end = at + plan.rows.len();
        prop_assert_eq!(&rows[at..end], &plan.rows[..]);
        let first = plan.rows[0].covers.map_or(plan.rows[0].seq, |covers| covers.first);
        prop_assert_eq!(plan.span, SeqRange { first, last: plan.rows[plan.rows.len() - 1].seq });
        let places: Vec<_> = plan.rows.iter().map(Standing::of).collect();
        prop_assert!(!places.contains(&Standing::Instruction));
        prop_assert!(plan.max_tokens < plan.tokens);
        if plan.reason == FoldReason::Summaries {
            prop_assert!(places.iter().all(|place| *place == Standing::Summary) && places.len() > 1);
            return Ok(());
        }
        if plan.reason == FoldReason::Turn {
            let turn = rows.iter().rposition(|row| Standing::of(row) == Standing::Start).unwrap();
            prop_assert!(at > turn && end < rows.len() && !places.contains(&Standing::Start));
            prop_assert!(!matches!(Standing::of(&rows[end]), Standing::Result(_) | Standing::Tangled));
            return Ok(());
        }
        prop_assert!(!places.contains(&Standing::Summary));
        let behind: Vec<_> = rows[end..].iter().map(Standing::of).filter(|place| *place != Standing::Instruction).collect();
        // Behind an instruction in the midst of a turn the turn may go on.
        let is_parted = rows.get(end).map(Standing::of) == Some(Standing::Instruction);
        let goes_on = is_parted && matches!(behind.first(), Some(Standing::Reply | Standing::Call(_)));
        prop_assert!(goes_on || behind.first() == Some(&Standing::Start));
        prop_assert!(behind.iter().filter(|place| **place == Standing::Start).count() >= policy.keep_turns);
        // What a context could show before is folded or can be shown still; the summary is one row more.
        let shown = |rows: &[StoredMessage]| rows.len() - Ledger::of(rows).unpaired();
        let summary = [summary_of(&plan)];
        let left = [&rows[..at], &summary, &rows[end..]].concat();
        let folded = [&plan.rows[..], &summary].concat();
        prop_assert_eq!(shown(&left) - 1 + shown(&folded) - 1, shown(&rows));
    }

    #[test]
    fn folding_again_and_again_comes_to_an_end(rows in any_rows(), limit in 1..2_000_u64) {
        let policy = policy().with_capacity_messages(20).with_max_summaries(4, 3);
        let mut rows = rows;
        for _ in 0..100 {
            let Some(plan) = plan_fold(&rows, &policy, Some(limit), NONE) else { return Ok(()) };
            let at = rows.iter().position(|row| row.id == plan.rows[0].id).unwrap();
            rows.splice(at..at + plan.rows.len(), [summary_of(&plan)]);
        }
        prop_assert!(false, "still folding");
    }
}
