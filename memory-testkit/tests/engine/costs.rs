//! What appends, reads and folds cost, by the calls of the store and the rows that it returns.

use std::sync::Arc;

use memory_core::engine::{Memory, Session};
use memory_core::extract::RuleExtractor;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::Page;
use memory_core::window::BufferConfig;
use memory_core::{Message, Role, Scope, Seq, Truth};
use memory_testkit::doubles::{Counting, Tapped};

use crate::bench::{Bench, Taps, session};

/// Calls of the store, and the rows that reads returned.
fn spent(bench: &Bench) -> (u64, u64) {
    (bench.chat.total(), bench.chat.rows("read"))
}

/// Fills a conversation with so many messages.
async fn filled(bench: &Bench, owner: &str, messages: usize) -> Session {
    let talk = bench.session(owner);
    let mut left = messages;
    while left > 0 {
        let part = left.min(2_000);
        talk.append(bench.chatter(part / 2)).await.unwrap();
        left -= part;
    }
    assert_eq!(talk.state().await.unwrap().head, Seq(messages as u64));
    talk
}

#[tokio::test]
async fn s1_3_an_append_costs_the_same_in_a_conversation_of_any_length() {
    let bench = Bench::new().await;
    let mut costs = Vec::new();
    for (owner, messages) in [("ada", 1_000), ("bob", 100_000)] {
        let talk = filled(&bench, owner, messages).await;
        bench.chat.reset();
        for _ in 0..100 {
            talk.append(bench.chatter(1)).await.unwrap();
        }
        costs.push(spent(&bench));
    }
    // One call each, and nothing is read.
    assert_eq!(costs, [(100, 0), (100, 0)]);
}

#[tokio::test]
async fn s1_3_the_last_n_messages_cost_n_rows() {
    let bench = Bench::new().await;
    for (owner, messages) in [("ada", 1_000), ("bob", 100_000)] {
        let talk = filled(&bench, owner, messages).await;
        for newest in [10, 100, 1_000] {
            bench.chat.reset();
            talk.read(&Page::newest(newest)).await.unwrap();
            assert_eq!(spent(&bench), (1, newest as u64), "{newest} of {messages}");
        }
    }
}

/// The most summaries in a window, so that windows are alike however much was said.
const SUMMARIES: usize = 10;

/// Returns how many messages are in the window, not counting summaries.
async fn in_window(talk: &Session) -> u64 {
    let rows = talk.read(&Page::newest(100_000)).await.unwrap().messages;
    rows.iter().filter(|row| row.covers.is_none()).count() as u64
}

/// Lets a window of `capacity` overflow in a conversation of so many messages. Returns what the pass of upkeep cost that folds it,
/// and how many messages left the window.
async fn overflow(capacity: u64, messages: usize) -> ((u64, u64), u64) {
    let window = BufferConfig::default().with_capacity_messages(capacity).with_max_summaries(SUMMARIES, 5);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(window)).await;
    let talk = bench.session("ada");
    for _ in 0..messages / 50 {
        talk.append(bench.chatter(25)).await.unwrap();
        while bench.memory.upkeep_once().await.unwrap().summarised > 0 {}
    }
    let room = capacity - in_window(&talk).await;
    talk.append(bench.chatter(room as usize / 2)).await.unwrap();
    bench.tend().await;
    while in_window(&talk).await <= capacity {
        talk.append(bench.chatter(1)).await.unwrap();
    }
    let full = in_window(&talk).await;
    bench.chat.reset();
    assert!(bench.memory.upkeep_once().await.unwrap().summarised > 0, "nothing overflowed {capacity}");
    (spent(&bench), full - in_window(&talk).await)
}

#[tokio::test]
async fn s1_3_an_overflow_costs_as_much_as_leaves_the_window() {
    let (short, left) = overflow(100, 1_000).await;
    let (long, of_long) = overflow(100, 10_000).await;
    // However much was said before; one may hold some summaries more than the other.
    assert_eq!(left, of_long);
    let more = 2 * SUMMARIES as u64;
    assert!(long.0 <= short.0 + 1 && long.1 <= short.1 + more, "{short:?} and {long:?} for {left}");
    let (wide, of_wide) = overflow(1_000, 10_000).await;
    assert!(of_wide >= 5 * left, "{of_wide} and {left}");
    let per_message = |rows: u64, left: u64| rows as f64 / left as f64;
    assert!(
        per_message(wide.1, of_wide) <= 1.2 * per_message(short.1, left),
        "{wide:?} for {of_wide}, {short:?} for {left}"
    );
}

/// Returns how often the newest records are asked for while the facts in a message are found.
async fn asked_for(said: &str) -> u64 {
    let counting = Arc::new(Counting::default());
    let tap = Arc::clone(&counting);
    let records = Truth::records(Arc::new(MemRecords::default())).layered(|store| Arc::new(Tapped::new(store, tap)));
    let builder = Memory::builder(Truth::chat(Arc::new(MemChat::default())), records);
    let memory = builder.extractor(Arc::new(RuleExtractor)).build().await.unwrap();
    let talk = memory.of(&Scope::new("acme", "ada").unwrap()).session(&session("talk"));
    talk.append(vec![Message::new(Role::User, said, memory.now())]).await.unwrap();
    assert_eq!(memory.upkeep_once().await.unwrap().facts, 1);
    counting.calls("newest")
}

#[tokio::test]
async fn records_are_asked_for_by_value_apart_and_only_where_a_fact_has_one() {
    // What was told from the message is found by an index, which cannot answer for values too.
    assert_eq!(asked_for("I live in Lisbon.").await, asked_for("I like tea.").await + 1);
}
