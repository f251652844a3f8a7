//! What a memory counts and times, as an exporter shows it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{BoardEntry, Forget, Memory, Remember, Search, WorkingNote};
use memory_core::layer::GuardPolicy;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::Page;
use memory_core::{Error, Message, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, Faulty, Tapped, When};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::bench::{Bench, Taps, session};

/// Hears what this thread counts, until it is dropped.
struct Ear {
    handle: PrometheusHandle,
    _heard: metrics::LocalRecorderGuard<'static>,
}

impl Ear {
    fn new() -> Self {
        let recorder = PrometheusBuilder::new().set_buckets(&[0.001, 1.0]).unwrap().build_recorder();
        let handle = recorder.handle();
        Self { handle, _heard: metrics::set_default_local_recorder(Box::leak(Box::new(recorder))) }
    }

    /// Returns the value of a figure with these labels.
    fn value(&self, figure: &str) -> Option<f64> {
        let text = self.handle.render();
        let line = text.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }

    /// Returns how often a call of a store ended so, after it was made sure that its time was taken as often.
    fn calls(&self, part: &str, operation: &str, outcome: &str) -> Option<f64> {
        let labels =
            format!("{{backend=\"reference\",part=\"{part}\",operation=\"{operation}\",outcome=\"{outcome}\"}}");
        let counted = self.value(&format!("memory_store_calls_total{labels}"));
        assert_eq!(self.value(&format!("memory_store_call_seconds_count{labels}")), counted);
        counted
    }

    /// Returns the names and labels of all figures.
    fn series(&self) -> BTreeSet<String> {
        let text = self.handle.render();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.rsplit_once(' ')).map(|(series, _)| series.to_owned()).collect()
    }
}

#[tokio::test]
async fn s3_17_puts_and_searches_are_counted_and_timed_by_backend_and_outcome() {
    let ear = Ear::new();
    let text = Arc::new(Counting::default());
    let bench = Bench::with(Taps { text: text.clone(), ..Taps::default() }, |builder| builder).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let said = bench.user("I like green tea.");
    talk.append(vec![said.clone()]).await.unwrap();
    let other = Message { id: said.id, ..bench.user("I like black tea.") };
    assert!(matches!(talk.append(vec![other]).await, Err(Error::IdConflict { .. })));
    ada.remember(Remember::fact("Ada likes tea")).await.unwrap();
    ada.blackboard().put(&BoardEntry::new("plan", "drink tea")).await.unwrap();
    bench.tend().await;
    assert!(!ada.search(&Search::new("tea")).await.unwrap().hits.is_empty());
    let table = [
        ("chat", "append", "ok", 1.0),
        ("chat", "append", "conflict", 1.0),
        ("records", "put", "ok", 1.0),
        ("board", "put", "ok", 1.0),
        ("text", "search", "ok", text.calls("search") as f64),
        ("text", "put", "ok", text.calls("put") as f64),
    ];
    for (part, operation, outcome, count) in table {
        assert_eq!(ear.calls(part, operation, outcome), Some(count), "{part} {operation} {outcome}");
    }
    assert!(text.calls("search") > 0 && text.calls("put") > 0);
    assert!(ear.calls("vectors", "put", "ok") >= Some(1.0) && ear.calls("vectors", "search", "ok") >= Some(1.0));
    assert_eq!(ear.value("memory_events_total{event=\"recalled\"}"), Some(1.0));
    assert_eq!(ear.value("memory_event_seconds_count{event=\"recalled\"}"), Some(1.0));
    assert_eq!(ear.value("memory_event_items_total{event=\"recalled\"}"), Some(2.0));
}

#[tokio::test(start_paused = true)]
async fn s3_17_what_fails_and_what_a_guard_refuses_are_outcomes_too() {
    let ear = Ear::new();
    let text = Arc::new(Faulty::at(1, When::Before).of("search").lasting());
    // A question is three searches, and each is tried twice.
    let policy = GuardPolicy::default().with_retries(1).with_failures(6);
    let bench = Bench::with(Taps { text, ..Taps::default() }, |builder| builder.guard(policy)).await;
    let ada = bench.owner("ada");
    for (failed, refused) in [(3.0, None), (3.0, Some(3.0))] {
        let found = ada.search(&Search::new("tea")).await.unwrap();
        assert_eq!(found.receipt.degraded.len(), 1);
        assert_eq!(ear.calls("text", "search", "failed"), Some(failed));
        assert_eq!(ear.calls("text", "search", "refused"), refused);
    }
    assert_eq!(ear.value("memory_store_retries_total{backend=\"reference\"}"), Some(3.0));
    assert_eq!(ear.value("memory_events_total{event=\"recalled_in_part\"}"), Some(2.0));
}

#[tokio::test(start_paused = true)]
async fn s3_17_a_call_whose_caller_goes_away_is_counted() {
    let ear = Ear::new();
    let slow = |store| Arc::new(Tapped::new(store, Arc::new(Counting::default())).slow(Duration::from_secs(60))) as _;
    let chat = Truth::chat(Arc::new(MemChat::default())).layered(slow);
    let memory = Memory::builder(chat, Truth::records(Arc::new(MemRecords::default()))).build().await.unwrap();
    let talk = memory.of(&Scope::new("acme", "ada").unwrap()).session(&session("talk"));
    let page = Page::newest(1);
    assert!(tokio::time::timeout(Duration::from_secs(1), talk.read(&page)).await.is_err());
    assert_eq!(ear.calls("chat", "read", "abandoned"), Some(1.0));
    assert_eq!(ear.calls("chat", "read", "ok"), None);
}

/// Does with a memory what an owner may do, so that everything is counted that such calls count.
async fn live(bench: &Bench, subject: &str, conversation: &str) {
    let ada = bench.memory.of(&Scope::new("tenant-canary", subject).unwrap());
    let talk = ada.session(&session(conversation));
    let said = bench.user(&format!("{subject} keeps a canary in {conversation}"));
    let first = said.id;
    talk.append(vec![said, bench.say(Role::Assistant, "A canary!")]).await.unwrap();
    ada.remember(Remember::fact(format!("{subject} has a canary"))).await.unwrap();
    ada.note(WorkingNote::new("the canary sings", "a canary")).await.unwrap();
    ada.blackboard().put(&BoardEntry::new("canary", "feed it")).await.unwrap();
    // Now and then a pass compares indexes with truth.
    bench.clock.advance(Duration::from_secs(60));
    bench.tend().await;
    ada.search(&Search::new("canary")).await.unwrap();
    talk.context("Where is the canary?", 500).await.unwrap();
    ada.forget(&Forget::Messages(vec![first])).await.unwrap();
    ada.forget(&Forget::Everything).await.unwrap();
    bench.tend().await;
}

#[tokio::test]
async fn s3_17_no_label_tells_an_owner_a_conversation_or_an_id() {
    let ear = Ear::new();
    let bench = Bench::new().await;
    live(&bench, "ada-canary", "talk-canary").await;
    live(&bench, "ada-canary", "talk-canary").await;
    let one = ear.series();
    for number in 0..20 {
        live(&bench, &format!("canary-{number}"), &format!("talk-canary-{number}")).await;
    }
    let all = ear.series();
    assert_eq!(all.difference(&one).collect::<Vec<_>>(), [""; 0], "figures grow with owners");
    assert!(!all.iter().any(|series| series.contains("canary")), "{all:?}");
    assert!(all.len() > 50);
}

#[tokio::test]
async fn s3_17_every_value_of_a_label_is_on_the_page() {
    let page = include_str!("../../../docs/operations.md");
    let ear = Ear::new();
    let bench = Bench::new().await;
    live(&bench, "ada", "talk").await;
    let series = ear.series();
    for label in ["backend", "part", "outcome", "event"] {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{label}` |"))).unwrap();
        let values: BTreeSet<&str> =
            series.iter().filter_map(|series| series.split(&format!("{label}=\"")).nth(1)?.split('"').next()).collect();
        assert!(!values.is_empty(), "{label}");
        for value in values {
            assert!(row.contains(&format!("`{value}`")), "{label} {value}");
        }
    }
}
