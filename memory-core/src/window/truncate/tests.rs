use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Map;

use super::*;
use crate::id::Seq;
use crate::message::Role;
use crate::time::Timestamp;
use crate::window::HeuristicCounter;

/// Counts one token for each `x` in a message.
#[derive(Debug)]
struct Crosses;

impl TokenCounter for Crosses {
    fn name(&self) -> &str {
        "crosses"
    }

    fn count(&self, message: &Message) -> u64 {
        let calls = message.blocks.iter().map(|block| match block {
            Block::ToolCall { arguments, .. } => self.count_text(arguments),
            _ => 0,
        });
        calls.sum::<u64>()
            + texts(&mut message.blocks.clone()).into_iter().map(|text| self.count_text(text)).sum::<u64>()
    }

    fn count_text(&self, text: &str) -> u64 {
        text.matches('x').count() as u64
    }
}

fn row(blocks: Vec<Block>) -> StoredMessage {
    let message = Message::of_blocks(Role::Assistant, blocks, Timestamp(0));
    StoredMessage::of_tests(1, Crosses.count(&message), message)
}

/// The places, tokens and texts of the rows that were cut.
fn shrunk(rows: &[StoredMessage], over: u64) -> Option<Vec<(usize, u64, Vec<String>)>> {
    let cut = shrink(rows.iter().enumerate().collect(), over, &Crosses)?;
    let told = |(place, row): (usize, StoredMessage)| {
        let mut blocks = row.message.unwrap().blocks.clone();
        (place, row.tokens, texts(&mut blocks).into_iter().map(|text| text.clone()).collect())
    };
    Some(cut.into_iter().map(told).collect())
}

#[test]
fn a_cut_says_how_many_characters_are_missing() {
    assert_eq!(without_middle("0123456789", 4), "01[… 6 characters cut …]89");
    assert_eq!(without_middle("0123456789", 5), "012[… 5 characters cut …]89");
    assert_eq!(without_middle("ääääää", 8), "ää[… 2 characters cut …]ää");
}

#[test]
fn as_much_is_kept_as_the_goal_allows() {
    let kept = |goal: u64| cut_middle(&"x".repeat(100), goal, &mut |text| Crosses.count_text(text));
    for goal in [0, 1, 50, 99] {
        assert_eq!(kept(goal).1, goal);
    }
    // Where the mark alone has as many tokens as the goal, what counts nothing stays beside it.
    let (text, tokens) = cut_middle("abcdefgh", 5, &mut |_| 5);
    assert!(tokens == 5 && text.starts_with("abc"), "{text}");
    let (text, tokens) = cut_middle("abcdefgh", 4, &mut |_| 5);
    assert_eq!((text.as_str(), tokens), ("[… 8 characters cut …]", 5));
}

#[test]
fn the_results_of_calls_are_cut_and_their_arguments_are_not() {
    let arguments = "x".repeat(90);
    let call = Block::ToolCall { id: "c".into(), name: "f".into(), arguments, extra: Map::new() };
    let result = Block::tool_result("c", vec![Block::text("x".repeat(50))]);
    let rows = [row(vec![call]), row(vec![result])];
    let cut = shrunk(&rows, 40).unwrap();
    assert_eq!(cut.iter().map(|(place, tokens, _)| (*place, *tokens)).collect::<Vec<_>>(), [(1, 10)]);
    assert_eq!(shrunk(&rows, 60), None);
}

#[test]
fn a_text_whose_cut_saves_nothing_stays_whole() {
    let long = "o".repeat(500);
    let rows = [row(vec![Block::text(long.clone()), Block::text("x".repeat(50))])];
    let cut = shrunk(&rows, 40).unwrap();
    assert_eq!((cut.len(), cut[0].1), (1, 10));
    assert_eq!(cut[0].2[0], long);
}

#[test]
fn a_summary_is_cut_by_what_it_has_in_its_frame() {
    let covers = Some(SeqRange { first: Seq(1), last: Seq(40) });
    let message = Message::new(Role::Assistant, "if a < b && b < c { roses } ".repeat(50), Timestamp(0));
    let tokens = count_shown(&message, covers, &HeuristicCounter);
    let row = StoredMessage { covers, ..StoredMessage::of_tests(40, tokens, message) };
    let goal = tokens / 2;
    let cut = shrink(vec![(0, &row)], tokens - goal, &HeuristicCounter).unwrap();
    let shown = count_shown(cut[0].1.message.as_ref().unwrap(), covers, &HeuristicCounter);
    assert_eq!(cut[0].1.tokens, shown);
    assert!(shown <= goal, "{shown} in {goal}");
}

/// Counts as [`Crosses`] does, and how often a message is counted.
#[derive(Debug, Default)]
struct Watched(AtomicUsize);

impl TokenCounter for Watched {
    fn name(&self) -> &str {
        "watched"
    }

    fn count(&self, message: &Message) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        Crosses.count(message)
    }

    fn count_text(&self, text: &str) -> u64 {
        Crosses.count_text(text)
    }
}

#[test]
fn a_message_of_many_texts_is_counted_a_few_times_and_loses_no_more_than_it_must() {
    let text = |n: usize| format!("{}{}", "x".repeat(40), "o".repeat(n % 7));
    let rows = [row((0..500).map(|n| Block::text(text(n))).collect())];
    let counter = Watched::default();
    let cut = shrink(rows.iter().enumerate().collect(), 10_010, &counter).unwrap();
    assert_eq!(cut[0].1.tokens, 500 * 40 - 10_010);
    let mut blocks = cut[0].1.message.as_ref().unwrap().blocks.clone();
    let left: Vec<u64> = texts(&mut blocks).into_iter().map(|text| Crosses.count_text(text)).collect();
    let are = |tokens: u64| left.iter().filter(|left| **left == tokens).count();
    assert_eq!([are(0), are(30), are(40)], [250, 1, 249]);
    let longest = (0..500_usize).filter(|n| n % 7 > 3).all(|n| left[n] == 0);
    assert!(longest, "the longest go first: {left:?}");
    let counts = counter.0.load(Ordering::Relaxed);
    assert!(counts <= 30, "{counts}");
}
