//! Counters of tokens: a budget is kept by the one that is asked, whoever counted what is stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_core::engine::{ContextRequest, Memory, Session};
use memory_core::model::TokenCounter;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::{Append, ChatStore as _, NewMessage, Page, View};
use memory_core::window::{CounterKind, HeuristicCounter};
use memory_core::{CounterId, Message, Role, Seq, Truth};

use crate::bench::{Bench, Taps, session};

/// Counts so many times as much as the usual counter.
#[derive(Debug)]
struct Times(u64, &'static str);

impl TokenCounter for Times {
    fn name(&self) -> &str {
        self.1
    }

    fn count(&self, message: &Message) -> u64 {
        self.0 * HeuristicCounter.count(message)
    }

    fn count_text(&self, text: &str) -> u64 {
        self.0 * HeuristicCounter.count_text(text)
    }
}

/// Opens the session of a bench again with another counter.
async fn seen_by(bench: &Bench, counter: Arc<dyn TokenCounter>) -> Session {
    let records = Truth::records(Arc::new(MemRecords::default()));
    let memory = Memory::builder(Truth::chat(bench.truth.clone()), records).counter(counter).build().await.unwrap();
    memory.of(bench.owner("ada").scope()).session(&session("talk"))
}

#[tokio::test]
async fn a_context_keeps_its_budget_by_its_own_counter_whoever_counted_before() {
    let bench = Bench::new().await;
    bench.session("ada").append(bench.chatter(100)).await.unwrap();
    let usual = bench.session("ada").context("", 900).await.unwrap();
    assert_eq!(usual.receipt.recounted, 0);
    let triple: Arc<dyn TokenCounter> = Arc::new(Times(3, "triple"));
    let talk = seen_by(&bench, triple.clone()).await;
    let context = talk.context("", 900).await.unwrap();
    let counted: u64 = context.messages().map(|message| triple.count(message)).sum();
    assert!(counted <= 900, "{counted} tokens");
    assert_eq!((context.tokens(), context.receipt.counter.as_str()), (counted, "triple"));
    let kept = context.receipt.history.kept_messages;
    assert!(context.receipt.recounted >= kept && kept > 5, "{kept} of {}", context.receipt.recounted);
}

#[tokio::test]
async fn a_change_of_the_counter_in_the_midst_of_a_session_keeps_the_budget() {
    let bench = Bench::with(Taps::default(), |builder| builder.counter(Arc::new(Times(1, "single")))).await;
    bench.session("ada").append(bench.chatter(50)).await.unwrap();
    let tenfold: Arc<dyn TokenCounter> = Arc::new(Times(10, "tenfold"));
    let talk = seen_by(&bench, tenfold.clone()).await;
    // The newest message is the new counter's own, and the largest one by the stored counts.
    talk.append(vec![bench.user("Good morning to all of the plants on the balcony.")]).await.unwrap();
    let context = talk.context("", 1_000).await.unwrap();
    let counted: u64 = context.messages().map(|message| tenfold.count(message)).sum();
    assert!(counted <= 1_000, "{counted} tokens, the receipt says {}", context.tokens());
    let rows = talk.read(&Page::newest(1_000).within(1_000)).await.unwrap().messages.len() as u64;
    assert_eq!(context.receipt.recounted, rows - 1, "its own message is not counted again");
}

#[tokio::test]
async fn a_turn_that_another_counter_counted_larger_is_shown_if_it_fits() {
    let bench = Bench::with(Taps::default(), |builder| builder.counter(Arc::new(Times(10, "tenfold")))).await;
    bench.session("ada").append(vec![bench.user("Look at all the beds.")]).await.unwrap();
    let steps = (0..900).map(|_| bench.say(Role::Assistant, "All is well."));
    bench.session("ada").append(steps.collect()).await.unwrap();
    let talk = seen_by(&bench, Arc::new(Times(1, "single"))).await;
    let needed: u64 = rows(&talk).await.iter().map(|row| row.tokens / 10).sum();
    let context = talk.assemble(&ContextRequest::new("", needed + 100).recall(0)).await.unwrap();
    assert_eq!((context.parts.len(), context.tokens()), (901, needed));
    assert_eq!(context.messages().next().unwrap().text(), "Look at all the beds.");
}

#[tokio::test]
async fn a_context_keeps_its_budget_after_a_change_between_delivered_counters() {
    let (first, second) = (CounterKind::O200k.counter(), CounterKind::Cl100k.counter());
    let bench = Bench::with(Taps::default(), |builder| builder.counter(first)).await;
    let text = "\u{1014}\u{1031}\u{1000}\u{1031}\u{102c}\u{1004}\u{103a}\u{1038} ".repeat(9);
    bench.session("ada").append((0..100).map(|_| bench.user(&text)).collect()).await.unwrap();
    let talk = seen_by(&bench, second.clone()).await;
    talk.append(vec![bench.user(&text)]).await.unwrap();
    let context = talk.context("", 4_000).await.unwrap();
    let counted: u64 = context.messages().map(|message| second.count(message)).sum();
    assert!(counted <= 4_000 && context.tokens() == counted, "{counted}, the receipt says {}", context.tokens());
}

#[test]
fn delivered_counters_have_names_of_their_own() {
    let counters = [CounterKind::O200k, CounterKind::Cl100k, CounterKind::Heuristic].map(CounterKind::counter);
    let ids: std::collections::HashSet<_> = counters.iter().map(|counter| CounterId::of(counter.as_ref())).collect();
    let names: std::collections::HashSet<_> = counters.iter().map(|counter| counter.name().to_owned()).collect();
    assert_eq!(ids.len(), names.len());
    assert!(!ids.contains(&CounterId::UNKNOWN));
}

/// Counts as usual, and how often.
#[derive(Debug, Default)]
struct Watched(AtomicUsize);

impl TokenCounter for Watched {
    fn name(&self) -> &str {
        HeuristicCounter.name()
    }

    fn count(&self, message: &Message) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst);
        HeuristicCounter.count(message)
    }

    fn count_text(&self, text: &str) -> u64 {
        HeuristicCounter.count_text(text)
    }
}

#[tokio::test]
async fn what_was_counted_when_it_was_appended_is_not_counted_when_it_is_read() {
    let counter = Arc::new(Watched::default());
    let bench = Bench::with(Taps::default(), |builder| builder.counter(counter.clone())).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    // Nor by another process.
    for talk in [bench.session("ada"), seen_by(&bench, counter.clone()).await] {
        assert_eq!(talk.context("", 900).await.unwrap().receipt.history.kept_messages, 1);
    }
    assert_eq!(counter.0.load(Ordering::SeqCst), 1);
}

/// Returns the rows of a session as a store holds them.
async fn rows(talk: &Session) -> Vec<memory_core::StoredMessage> {
    talk.read(&Page::after(Seq(0), 1_000, View::All)).await.unwrap().messages
}

#[tokio::test]
async fn a_restored_count_is_kept_with_its_counter_and_taken_anew_without_one() {
    let bench = Bench::new().await;
    let (own, other) = (CounterId::of(&HeuristicCounter), CounterId(own_number() ^ 1));
    let counters = [CounterId::UNKNOWN, other, own];
    let new = |(n, counter)| {
        let message = Message::new(Role::User, format!("Plant {n} has had its water."), bench.memory.now());
        NewMessage { message: Arc::new(message), tokens: 0, counter }
    };
    let batch = Append::new((1..).zip(counters).map(new).collect());
    let (ada, elsewhere) = (bench.owner("ada"), MemChat::default());
    elsewhere.append(ada.scope(), &session("talk"), &batch).await.unwrap();
    let page = Page::after(Seq(0), 10, View::All);
    let exported = elsewhere.read(ada.scope(), &session("talk"), &page).await.unwrap().messages;
    bench.session("ada").restore(&exported).await.unwrap();
    let restored = rows(&bench.session("ada")).await;
    let right = HeuristicCounter.count(restored[0].message.as_ref().unwrap());
    let found: Vec<_> = restored.iter().map(|row| (row.tokens, row.counter)).collect();
    // What claims to be this memory's count is not believed either.
    assert_eq!(found, [(right, own), (0, other), (right, own)]);
    let context = bench.session("ada").context("", 900).await.unwrap();
    assert_eq!((context.receipt.recounted, context.tokens()), (1, 3 * right));
}

fn own_number() -> u32 {
    CounterId::of(&HeuristicCounter).0
}
