use serde_json::{Map, json};

use super::*;
use crate::id::MessageId;
use crate::message::{Defaults, Role};
use crate::model::TokenCounter;
use crate::time::Timestamp;

fn message(value: &Value) -> Message {
    Message::from_openai(value, Defaults { id: MessageId::of_content(b""), at: Timestamp(0) }).unwrap()
}

/// Counts bytes, so that sums can be checked by eye.
fn bytes(value: &Value) -> u64 {
    count_message(&message(value), &MediaCosts::USUAL, &|text| text.len() as u64)
}

#[test]
fn s2_5_s2_13b_every_part_of_a_message_is_counted() {
    assert_eq!(bytes(&json!({ "role": "user" })), 3 + 4);
    assert_eq!(bytes(&json!({ "role": "user", "content": "abcde" })), 3 + 4 + 5);
    assert_eq!(bytes(&json!({ "role": "user", "content": "abcde", "name": "bo" })), 3 + 4 + 5 + 2 + 1);
    assert_eq!(bytes(&json!({ "role": "assistant", "refusal": "no", "reasoning": "hmm" })), 3 + 9 + 2 + 3);
    let call = json!({ "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"a\":1}" } });
    assert_eq!(bytes(&json!({ "role": "assistant", "tool_calls": [call] })), 3 + 9 + 3 + 2 + 4 + 7);
    assert_eq!(bytes(&json!({ "role": "tool", "tool_call_id": "c1", "content": "42" })), 3 + 4 + 3 + 2 + 2);
    let piece = json!({ "type": "x", "y": "zz" });
    assert_eq!(bytes(&json!({ "role": "user", "content": [piece] })), 3 + 4 + piece.to_string().len() as u64);
    let legacy = json!({ "name": "f", "arguments": "words" });
    let counted = bytes(&json!({ "role": "assistant", "content": null, "function_call": legacy }));
    assert_eq!(counted, 3 + 9 + 3 + legacy.to_string().len() as u64);
}

#[test]
fn a_call_of_5000_words_counts_at_least_its_words() {
    let arguments = format!("{{\"text\":\"{}\"}}", "word ".repeat(5_000));
    let block = Block::ToolCall { id: "c".to_owned(), name: "write".to_owned(), arguments, extra: Map::new() };
    let message = Message::of_blocks(Role::Assistant, vec![block], Timestamp(0));
    assert!(HeuristicCounter.count(&message) >= 5_000);
    #[cfg(feature = "tiktoken")]
    assert!(TiktokenCounter::o200k().count(&message) >= 5_000);
}

#[test]
fn s2_6_the_limit_is_three_quarters_of_what_the_answer_leaves() {
    let gpt = ModelProfile::of("gpt-4o-mini").unwrap();
    assert_eq!(LimitRule::default().limit(Some(&gpt), 0), 96_000);
    assert_eq!(LimitRule::default().limit(Some(&gpt), 16_384), 83_712);
    assert_eq!(LimitRule::default().limit(Some(&gpt), 16_385), 83_711);
    assert_eq!(LimitRule::default().limit(Some(&gpt), u64::MAX), 0);
    assert_eq!(LimitRule::default().limit(None, 500), 3_000);
    assert_eq!(LimitRule::default().with_share(0.5).limit(Some(&gpt), 0), 64_000);
    assert_eq!(LimitRule::default().with_unknown(2_000).limit(None, 500), 2_000);
}

#[test]
fn profiles_are_found_by_the_longest_beginning() {
    let context = |name: &str| ModelProfile::of(name).map(|profile| profile.context);
    assert_eq!(context("gpt-4"), Some(8_192));
    assert_eq!(context("gpt-4-turbo-2024-04-09"), Some(128_000));
    assert_eq!(context("openai/gpt-4.1-nano"), Some(1_047_576));
    assert_eq!(context("ft:gpt-4o:acme::id"), Some(128_000));
    assert_eq!(context("llama3.1:8b"), None);
    assert_eq!(ModelProfile::of("claude-sonnet-4").unwrap().counter.counter().name(), "heuristic-4");
}

#[test]
fn a_model_counts_media_by_its_own_costs_and_its_counter_has_a_name_of_its_own() {
    let image = json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "https://a.example/b.png" } }] });
    let counter = |model: &str| ModelProfile::of(model).unwrap().token_counter();
    let costs =
        |model: &str| counter(model).count(&message(&image)) - counter(model).count_text("user") - MESSAGE_TOKENS;
    let models = ["gpt-4o", "gpt-4o-mini", "gpt-4.1-nano", "o3", "claude-sonnet-4", "gemini-2.5-pro"];
    assert_eq!(models.map(costs), [1_445, 48_169, 3_779, 1_275, 1_600, 1_548]);
    let names: std::collections::BTreeSet<_> = models.iter().map(|model| counter(model).name().to_owned()).collect();
    assert_eq!(names.len(), models.len());
    assert_eq!(counter("gpt-4o").count_text("hello"), CounterKind::O200k.counter().count_text("hello"));
}

#[test]
fn the_heuristic_formula_is_the_documented_one() {
    let count = |text: &str| HeuristicCounter.count_text(text);
    assert_eq!(count(""), 0);
    assert_eq!(count("a"), 1);
    // A frequent word behind a blank, and one that stands at the beginning.
    assert_eq!([count(" world"), count("hello world")], [1, 4]);
    // No two of these letters are a token.
    assert_eq!(count("qgqkzjxg"), 8);
    // ` C` is a token and `aC` is none; of the triples in this word some are tokens.
    assert_eq!([count(" C"), count("aC"), count("April")], [1, 2, 3]);
    assert_eq!([count("1234567"), count("abc 5")], [4, 3]);
    // Two digits may be cut where a digit of another script stands before them.
    assert_eq!([count("1\u{7c0}23"), count("\u{7c0}123"), count("\u{7c0}2")], [5, 4, 3]);
    assert_eq!(count("{}[]\n\n\n\n"), 8);
    assert_eq!(count("日本語"), 9);
    assert_eq!(count("getHTTPResponse"), 8);
    assert_eq!([count("  a"), count("  1"), count(&" ".repeat(1_000))], [2, 3, 101]);
    // Of several blanks the last belongs to a word or a sign, but not to a number; a tab belongs to nothing.
    let ten = |blank: &str, next: &str| count(&format!("{}{next}", blank.repeat(10)));
    assert_eq!([ten(" ", " world"), ten(" ", "world"), ten(" ", "(")], [3, 2, 2]);
    assert_eq!([ten(" ", "1"), ten(" ", "é"), ten("\t", "("), ten("\t", "")], [4, 5, 4, 2]);
    assert_eq!([count(" ("), count("   "), count(" 1")], [1, 1, 2]);
    // A word is no longer one token where an apostrophe or another letter follows.
    assert_eq!([count(" world,"), count(" world'"), count(" worldé")], [2, 4, 5]);
}

#[test]
#[cfg(feature = "tiktoken")]
fn counters_have_the_names_of_their_tables() {
    let names =
        [CounterKind::O200k, CounterKind::Cl100k, CounterKind::Heuristic].map(|kind| kind.counter().name().to_owned());
    assert_eq!(names, ["o200k_base-3", "cl100k_base-3", "heuristic-4"]);
    assert_eq!(format!("{:?}", TiktokenCounter::o200k()), "TiktokenCounter(o200k_base-3)");
}
