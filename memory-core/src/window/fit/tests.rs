use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::id::Seq;
use crate::message::{Block, Defaults, Message, Role};
use crate::time::Timestamp;
use crate::window::HeuristicCounter;

const COUNTER: HeuristicCounter = HeuristicCounter;

fn row(number: u64, message: Message) -> StoredMessage {
    StoredMessage::of_tests(number, COUNTER.count(&message), message)
}

fn said(list: &[(Role, &str)]) -> Vec<StoredMessage> {
    let numbered = (1..).zip(list);
    numbered.map(|(number, (role, text))| row(number, Message::new(*role, *text, Timestamp(0)))).collect()
}

fn texts(fitted: &Fitted, rows: &[StoredMessage]) -> Vec<String> {
    fitted.rows(rows).filter_map(|row| row.message.as_ref()).map(|message| message.text()).collect()
}

fn with(oversize: Oversize) -> FitOptions {
    FitOptions::default().with_oversize(oversize)
}

#[test]
fn s2_3_the_oldest_turns_are_dropped_first_and_said() {
    let rows = said(&[
        (Role::System, "be kind"),
        (Role::User, "one"),
        (Role::Assistant, "first"),
        (Role::User, "two"),
        (Role::Assistant, "second"),
    ]);
    let limit = rows.iter().map(|row| row.tokens).sum::<u64>() - 1;
    let fitted = fit(&rows, &Budget::new(limit), &FitOptions::default(), &COUNTER).unwrap();
    assert_eq!(texts(&fitted, &rows), ["be kind", "two", "second"]);
    assert_eq!((fitted.instructions, fitted.dropped), (1, 2));
    assert_eq!(fitted.events, [FitEvent::Dropped { rows: 2 }]);
}

#[test]
fn s2_7_reserved_tokens_count_and_more_than_the_limit_is_over_budget() {
    let rows = said(&[(Role::User, "one"), (Role::Assistant, "first"), (Role::User, "two")]);
    let limit = rows.iter().map(|row| row.tokens).sum::<u64>();
    let kept = |reserve: u64| {
        let budget = Budget::new(limit).reserve(reserve);
        fit(&rows, &budget, &FitOptions::default(), &COUNTER).map(|fitted| fitted.shown.len())
    };
    assert_eq!(kept(0).unwrap(), 3);
    assert_eq!(kept(1).unwrap(), 1);
    assert!(matches!(kept(limit), Err(Error::OverBudget { .. })));
    assert!(matches!(kept(limit + 1), Err(Error::OverBudget { need, budget }) if (need, budget) == (limit + 1, limit)));
}

#[test]
fn s2_11_a_turn_too_large_is_an_error_by_default() {
    let rows = said(&[(Role::User, "small"), (Role::User, &"large ".repeat(500))]);
    let found = fit(&rows, &Budget::new(100), &FitOptions::default(), &COUNTER);
    let need = rows[1].tokens;
    assert!(matches!(found, Err(Error::OverBudget { need: n, budget: 100 }) if n == need));
}

#[test]
fn s2_11_a_turn_too_large_can_be_kept_and_that_is_said() {
    let rows = said(&[(Role::System, "be kind"), (Role::User, "small"), (Role::User, &"large ".repeat(500))]);
    let fitted = fit(&rows, &Budget::new(100), &with(Oversize::Keep), &COUNTER).unwrap();
    assert_eq!(fitted.shown.len(), 2);
    assert_eq!(fitted.tokens, rows[0].tokens + rows[2].tokens);
    assert!(fitted.events.contains(&FitEvent::Kept { need: fitted.tokens, budget: 100 }));
}

#[test]
fn s2_11_truncating_cuts_the_middle_of_the_largest_message() {
    let long: String = (0..2_000).map(|number| format!("{number} ")).collect();
    let rows = said(&[(Role::User, "small"), (Role::User, &long), (Role::Assistant, "a short reply")]);
    let fitted = fit(&rows, &Budget::new(300), &with(Oversize::TruncateMiddle), &COUNTER).unwrap();
    assert!(fitted.tokens <= 300 && fitted.tokens > 250, "{}", fitted.tokens);
    let shown = texts(&fitted, &rows);
    assert!(shown[0].starts_with("0 1 2 3 ") && shown[0].ends_with(" 1998 1999 "), "{}", shown[0]);
    assert!(shown[0].contains("characters cut …]"));
    assert_eq!(shown[1], "a short reply");
    assert_eq!(fitted.truncated().collect::<Vec<_>>(), [rows[1].id]);
    let cut: Vec<StoredMessage> = fitted.rows(&rows).cloned().collect();
    assert_eq!(COUNTER.count(cut[0].message.as_ref().unwrap()), cut[0].tokens);
    assert_eq!(fit(&cut, &Budget::new(300), &with(Oversize::Error), &COUNTER).unwrap().shown, [0, 1]);
}

#[test]
fn s2_11_what_cannot_be_cut_is_over_budget() {
    let arguments = "word ".repeat(500);
    let call = Block::ToolCall { id: "c".to_owned(), name: "write".to_owned(), arguments, extra: Map::new() };
    let answer = json!({ "role": "tool", "tool_call_id": "c", "content": "ok" });
    let answer = Message::from_openai(&answer, Defaults { id: MessageId::fresh(), at: Timestamp(0) }).unwrap();
    let mut rows = said(&[(Role::User, "write it")]);
    rows.push(row(2, Message::of_blocks(Role::Assistant, vec![call], Timestamp(0))));
    rows.push(row(3, answer));
    let found = fit(&rows, &Budget::new(100), &with(Oversize::TruncateMiddle), &COUNTER);
    assert!(matches!(found, Err(Error::OverBudget { .. })));
}

#[test]
fn llama_index_20914_a_history_without_a_person_ends_and_is_said() {
    let mut rows = said(&[(Role::System, "be kind")]);
    for number in 0..50_000 {
        rows.extend(said(&[(Role::Assistant, "thinking"), (Role::Tool, "result")]).into_iter().map(|mut row| {
            row.seq = Seq(number);
            row
        }));
    }
    let fitted = fit(&rows, &Budget::new(3_000), &FitOptions::default(), &COUNTER).unwrap();
    assert_eq!(texts(&fitted, &rows), ["be kind"]);
    assert!(fitted.events.contains(&FitEvent::NoStart));
    assert_eq!(fitted.dropped, 100_000);
}

#[test]
fn llama_index_20729_no_policy_gives_an_empty_context_for_a_message_too_large() {
    let rows = said(&[(Role::User, &"large ".repeat(5_000))]);
    for oversize in [Oversize::Error, Oversize::TruncateMiddle, Oversize::Keep] {
        match fit(&rows, &Budget::new(50), &with(oversize), &COUNTER) {
            Ok(fitted) => assert_eq!(fitted.shown.len(), 1),
            Err(error) => assert!(matches!(error, Error::OverBudget { .. }) && oversize == Oversize::Error),
        }
    }
}

#[test]
fn a_call_at_the_end_waits_for_its_results_unless_asked() {
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let read = |value| Message::from_openai(&value, Defaults { id: MessageId::fresh(), at: Timestamp(0) }).unwrap();
    let mut rows = said(&[(Role::User, "find a and b")]);
    rows.push(row(2, read(json!({ "role": "assistant", "content": null, "tool_calls": [call("a"), call("b")] }))));
    rows.push(row(3, read(json!({ "role": "tool", "tool_call_id": "b", "content": "found b" }))));
    let fitted = fit(&rows, &Budget::new(1_000), &FitOptions::default(), &COUNTER).unwrap();
    assert_eq!(texts(&fitted, &rows), ["find a and b"]);
    assert_eq!(fitted.events, [FitEvent::Unfinished { rows: 2 }]);
    let kept = fit(&rows, &Budget::new(1_000), &FitOptions::default().keeping_unfinished(), &COUNTER).unwrap();
    assert_eq!((kept.shown.len(), kept.events.len()), (3, 0));
    rows.push(row(4, read(json!({ "role": "tool", "tool_call_id": "a", "content": "found a" }))));
    let whole = fit(&rows, &Budget::new(1_000), &FitOptions::default(), &COUNTER).unwrap();
    assert_eq!((whole.shown.len(), whole.events.len()), (4, 0));
}

#[test]
fn a_call_without_id_stands_in_a_context_with_its_answer_or_not_at_all() {
    let read = |value| Message::from_openai(&value, Defaults { id: MessageId::fresh(), at: Timestamp(0) }).unwrap();
    let call = json!({ "name": "weather", "arguments": {} });
    let legacy = json!({ "name": "weather", "arguments": "{}" });
    let steps = [
        [
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "function": call }] }),
            json!({ "role": "tool", "content": "rain" }),
        ],
        [
            json!({ "role": "assistant", "content": null, "function_call": legacy }),
            json!({ "role": "function", "name": "weather", "content": "rain" }),
        ],
    ];
    for [call, answer] in steps.map(|step| step.map(read)) {
        let mut rows = said(&[(Role::User, "will it rain?")]);
        rows.extend([row(2, call), row(3, answer), row(4, Message::new(Role::User, "thank you", Timestamp(0)))]);
        let tokens = rows.iter().map(|row| row.tokens).sum::<u64>();
        let shown = |rows: &[StoredMessage], limit: u64| {
            fit(rows, &Budget::new(limit), &FitOptions::default(), &COUNTER).unwrap().shown
        };
        assert_eq!(shown(&rows, tokens), [0, 1, 2, 3]);
        assert_eq!(shown(&rows, tokens - 1), [3]);
        assert_eq!(shown(&rows[..3], tokens), [0, 1, 2]);
        assert_eq!(shown(&rows[..2], tokens), [0]);
        for half in [[0, 1, 3], [0, 2, 3]] {
            assert_eq!(shown(&half.map(|index| rows[index].clone()), tokens), [0, 2]);
        }
    }
}

#[test]
fn a_result_without_its_call_is_not_an_older_row() {
    let answer = json!({ "role": "tool", "tool_call_id": "unknown", "content": "found" });
    let answer = Message::from_openai(&answer, Defaults { id: MessageId::fresh(), at: Timestamp(0) }).unwrap();
    let rows = [said(&[(Role::User, "one")]), vec![row(2, answer)]].concat();
    let fitted = fit(&rows, &Budget::new(1_000), &FitOptions::default(), &COUNTER).unwrap();
    assert_eq!((fitted.dropped, fitted.events), (1, vec![FitEvent::Unpaired { rows: 1 }]));
}

#[test]
fn a_ledger_of_other_rows_is_invalid() {
    let rows = said(&[(Role::User, "one")]);
    let found = fit_with(&Ledger::default(), &rows, &Budget::new(9), &FitOptions::default(), &COUNTER);
    assert!(matches!(found, Err(Error::Invalid { .. })));
}

proptest! {
    #[test]
    fn s2_11_truncated_turns_keep_the_budget_or_are_refused(
        list in vec("[a-z ä中😀\n]{0,200}", 1..5), limit in 8..200_u64
    ) {
        let roles = [Role::User].into_iter().chain(std::iter::repeat(Role::Assistant));
        let rows = said(&roles.zip(list.iter().map(String::as_str)).collect::<Vec<_>>());
        match fit(&rows, &Budget::new(limit), &with(Oversize::TruncateMiddle), &COUNTER) {
            Ok(fitted) => {
                prop_assert!(fitted.tokens <= limit);
                prop_assert_eq!(fitted.shown.len(), rows.len());
                for (shown, row) in fitted.rows(&rows).zip(&rows) {
                    prop_assert!(shown.tokens <= row.tokens);
                    prop_assert_eq!(shown.tokens, COUNTER.count(shown.message.as_ref().unwrap()));
                    prop_assert_eq!(shown.id, row.id);
                }
            }
            // Each message may shrink to its frame and the mark, no further.
            Err(error) => {
                let over = matches!(error, Error::OverBudget { need, budget } if need > budget && budget == limit);
                prop_assert!(over);
                prop_assert!(limit < 35 * rows.len() as u64);
            }
        }
    }
}
