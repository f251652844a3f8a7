use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::id::{Seq, SessionId};
use crate::message::{Block, Message, Role};
use crate::model::CounterId;
use crate::time::Timestamp;
use crate::window::Ledger;

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

fn policy() -> FoldPolicy {
    FoldPolicy::default().with_summarize_after(Some(50))
}

#[test]
fn s1_4_at_message_51_the_oldest_ten_are_folded() {
    let policy = policy();
    assert_eq!(plan_fold(&rows(&turns(25, 20)), &policy, None, 0), None);
    let mut list = turns(25, 20);
    list.push((Said::User, 20));
    let plan = plan_fold(&rows(&list), &policy, None, 0).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.rows.len(), plan.tokens), (FoldReason::Messages, (1, 10), 10, 200));
    assert!(plan.max_tokens < plan.tokens);
    let larger = policy.with_summarize_after(Some(100));
    assert_eq!(plan_fold(&rows(&turns(60, 20)), &larger, None, 0).unwrap().rows.len(), 20);
}

#[test]
fn c21_folding_begins_at_four_fifths_and_goes_down_to_half() {
    let policy = policy().with_summarize_after(None);
    assert_eq!(plan_fold(&rows(&turns(39, 10)), &policy, Some(1_000), 0), None);
    let full = rows(&turns(40, 10));
    let plan = plan_fold(&full, &policy, Some(1_000), 0).unwrap();
    assert_eq!(plan.reason, FoldReason::Tokens);
    let left = 800 - plan.tokens + plan.max_tokens;
    assert!(left <= 500 && left > 460, "{left}");
    let mut after = rows(&[(Said::Summary(plan.rows.len() as u64), plan.max_tokens)]);
    after.extend(full.into_iter().skip(plan.rows.len()));
    assert_eq!(plan_fold(&after, &policy, Some(1_000), 0), None);
}

#[test]
fn s4_4_the_last_four_turns_stay_verbatim() {
    let policy = policy();
    assert_eq!(plan_fold(&rows(&turns(4, 500)), &policy, Some(100), 0), None);
    assert_eq!(span(&plan_fold(&rows(&turns(5, 500)), &policy, Some(100), 0).unwrap()), (1, 2));
    let all = plan_fold(&rows(&turns(9, 500)), &policy.with_keep_turns(0), Some(100), 0).unwrap();
    assert_eq!(span(&all), (1, 16));
}

#[test]
fn instructions_are_never_folded() {
    let policy = policy();
    let head = [vec![(Said::System, 10)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&head), &policy, Some(100), 0).unwrap()), (2, 5));
    let between = [turns(1, 50), vec![(Said::System, 10)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&between), &policy, Some(100), 0).unwrap()), (1, 2));
    let inside = [vec![(Said::User, 50), (Said::System, 10), (Said::Assistant, 50)], turns(6, 50)].concat();
    assert_eq!(span(&plan_fold(&rows(&inside), &policy, Some(100), 0).unwrap()), (4, 7));
}

#[test]
fn calls_are_folded_with_their_results() {
    let call = [(Said::User, 30), (Said::Call, 30), (Said::Result, 30), (Said::Assistant, 30)];
    let policy = policy().with_summarize_after(None);
    let plan = plan_fold(&rows(&call.repeat(5)), &policy, Some(600), 0).unwrap();
    assert_eq!(span(&plan), (1, 4));
}

#[test]
fn beyond_the_most_summaries_the_oldest_ten_become_one() {
    let policy = policy().with_max_summaries(20, 10);
    let mut list = vec![(Said::System, 5)];
    list.extend([(Said::Summary(10), 40)].repeat(21));
    list.extend(turns(4, 20));
    let plan = plan_fold(&rows(&list), &policy, None, 0).unwrap();
    assert_eq!((plan.reason, span(&plan), plan.rows.len()), (FoldReason::Summaries, (2, 101), 10));
    list.remove(1);
    assert_eq!(plan_fold(&rows(&list), &policy, None, 0), None);
}

#[test]
fn summaries_are_merged_where_no_message_may_be_folded() {
    let mut list = [(Said::Summary(10), 100)].repeat(3);
    list.extend(turns(4, 100));
    let plan = plan_fold(&rows(&list), &policy(), Some(1_000), 0).unwrap();
    assert_eq!((plan.reason, span(&plan)), (FoldReason::Summaries, (1, 30)));
    let one = [vec![(Said::Summary(30), 300)], turns(4, 100)].concat();
    assert_eq!(plan_fold(&rows(&one), &policy(), Some(1_000), 0), None);
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
        while let Some(plan) = plan_fold(&window, &policy, Some(3_000), 0) {
            let at = window.iter().position(|row| row.id == plan.rows[0].id).unwrap();
            window.splice(at..at + plan.rows.len(), [summary_of(&plan)]);
        }
        let tokens = |is_summary: bool| -> u64 {
            window.iter().filter(|row| row.covers.is_some() == is_summary).map(|row| row.tokens).sum()
        };
        assert!(number < 60 || tokens(false) >= 500, "{} beside {} of summaries", tokens(false), tokens(true));
    }
}

#[test]
fn pressure_is_the_larger_of_two_shares() {
    let policy = policy();
    assert_eq!(Pressure::of(500, Some(1_000), 10, policy.summarize_after), Pressure(0.5));
    assert_eq!(Pressure::of(100, Some(1_000), 50, policy.summarize_after), Pressure(1.0));
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
        let policy = policy().with_summarize_after(Some(most)).with_max_summaries(4, 3);
        let Some(plan) = plan_fold(&rows, &policy, Some(limit), 0) else { return Ok(()) };
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
        prop_assert!(!places.contains(&Standing::Summary));
        let behind: Vec<_> = rows[end..].iter().map(Standing::of).filter(|place| *place != Standing::Instruction).collect();
        prop_assert_eq!(behind.first(), Some(&Standing::Start));
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
        let policy = policy().with_summarize_after(Some(20)).with_max_summaries(4, 3);
        let mut rows = rows;
        for _ in 0..100 {
            let Some(plan) = plan_fold(&rows, &policy, Some(limit), 0) else { return Ok(()) };
            let at = rows.iter().position(|row| row.id == plan.rows[0].id).unwrap();
            rows.splice(at..at + plan.rows.len(), [summary_of(&plan)]);
        }
        prop_assert!(false, "still folding");
    }
}
