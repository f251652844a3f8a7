//! A cache before truth: what it saves, that it never serves what is stale, and that it may fail or forget.

use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, Scoped, Search, Stage};
use memory_core::reference::{MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::store::cache::Cache;
use memory_core::{Message, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, EmbedderMode, FakeEmbedder, Faulty, ManualClock, Tap, Tapped, When};

use crate::bench::session;
use crate::gate::Gate;

/// Stores that several memories share, as processes do.
struct Ground {
    clock: Arc<ManualClock>,
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    text: Arc<MemText>,
    vectors: Arc<MemVectors>,
    embedder: Arc<FakeEmbedder>,
    cache: Arc<MemCache>,
}

impl Ground {
    fn new() -> Self {
        let (clock, embedder) = (Arc::new(ManualClock::default()), Arc::new(FakeEmbedder::new(16)));
        Self {
            chat: Arc::default(),
            records: Arc::default(),
            text: Arc::new(MemText::new(Analysis::english().name())),
            vectors: Arc::new(MemVectors::new(memory_core::model::Embedder::space(&*embedder).clone())),
            cache: Arc::new(MemCache::new(clock.clone())),
            embedder,
            clock,
        }
    }

    /// Opens a memory with taps around truth and the cache.
    async fn open(&self, truth: Arc<dyn Tap>, cache: Arc<dyn Tap>) -> Memory {
        let chat = Truth::chat(self.chat.clone());
        let chat = chat.layered(|store| Arc::new(Tapped::new(store, truth.clone())));
        let records = Truth::records(self.records.clone());
        let records = records.layered(|store| Arc::new(Tapped::new(store, truth)));
        let cache: Arc<dyn Cache> = Arc::new(Tapped::new(self.cache.clone(), cache));
        let builder = Memory::builder(chat, records).text(self.text.clone()).cache(cache).touch(false);
        let builder = builder.vectors(self.vectors.clone(), self.embedder.clone());
        builder.clock(self.clock.clone()).build().await.unwrap()
    }

    async fn plain(&self) -> Memory {
        self.open(Arc::new(Counting::default()), Arc::new(Counting::default())).await
    }
}

fn ada(memory: &Memory) -> Scoped {
    memory.of(&Scope::new("acme", "ada").unwrap())
}

/// Stores a message and a record about a rose, finds both once so that they are cached, and returns them.
async fn planted(memory: &Memory) -> (Message, memory_core::RecordId) {
    let message = Message::new(Role::User, "My rose is called Aurora.", memory.now());
    ada(memory).session(&session("talk")).append(vec![message.clone()]).await.unwrap();
    let record = ada(memory).remember(Remember::fact("Roses need water")).await.unwrap().id;
    memory.upkeep_once().await.unwrap();
    assert_eq!(texts(memory).await.len(), 2);
    (message, record)
}

async fn texts(memory: &Memory) -> Vec<String> {
    let found = ada(memory).search(&Search::new("roses")).await.unwrap();
    let mut texts: Vec<String> = found.hits.iter().map(|hit| hit.content.text()).collect();
    texts.sort();
    texts
}

#[tokio::test]
async fn s4_17d_what_was_found_before_is_cached_and_not_read_from_truth_again() {
    let (ground, truth) = (Ground::new(), Arc::new(Counting::default()));
    let memory = ground.open(truth.clone(), Arc::new(Counting::default())).await;
    planted(&memory).await;
    truth.reset();
    let found = ada(&memory).search(&Search::new("roses")).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.degraded.len(), truth.calls("get")), (2, 0, 0));
}

#[tokio::test]
async fn a_query_is_embedded_once_for_an_owner_and_never_for_another() {
    let ground = Ground::new();
    let memory = ground.plain().await;
    planted(&memory).await;
    ground.embedder.set(EmbedderMode::Fails);
    let stages = async |owner: &Scoped, words: &str| {
        let found = owner.search(&Search::new(words)).await.unwrap();
        found.receipt.degraded.iter().map(|degraded| degraded.stage).collect::<Vec<Stage>>()
    };
    assert_eq!(stages(&ada(&memory), "roses").await, []);
    assert_eq!(stages(&ada(&memory), "rose").await, [Stage::Embed]);
    let bob = memory.of(&Scope::new("acme", "bob").unwrap());
    assert_eq!(stages(&bob, "roses").await, [Stage::Embed]);
}

#[tokio::test]
async fn what_another_process_changed_or_forgot_is_never_served() {
    let ground = Ground::new();
    let (here, there) = (ground.plain().await, ground.plain().await);
    let (message, record) = planted(&here).await;
    assert_eq!(texts(&there).await.len(), 2);
    there.of(&Scope::new("acme", "ada").unwrap()).forget(&Forget::Messages(vec![message.id])).await.unwrap();
    assert_eq!(ada(&here).messages(&[message.id]).await.unwrap(), []);
    ada(&there).supersede(record, Remember::fact("Roses need sun")).await.unwrap();
    assert!(ada(&here).get(&[record]).await.unwrap()[0].record.superseded.is_some());
    ada(&there).forget(&Forget::Records(vec![record])).await.unwrap();
    assert_eq!(ada(&here).get(&[record]).await.unwrap(), []);
    let receipt = ada(&there).forget(&Forget::Everything).await.unwrap();
    assert!(receipt.complete && receipt.stores.iter().any(|store| store.part == "cache"), "{receipt:?}");
    assert_eq!(texts(&here).await, [""; 0]);
}

/// Lets a reader miss the cache and read truth, changes truth meanwhile, then lets the reader fill the cache.
async fn race(
    change: impl AsyncFnOnce(Scoped, &Message, memory_core::RecordId),
) -> (Ground, Message, memory_core::RecordId) {
    let (ground, gate) = (Ground::new(), Arc::new(Gate::of("get")));
    let writer = ground.plain().await;
    let (message, record) = planted(&writer).await;
    // Everything in the cache has expired: the reader misses.
    ground.clock.advance(Duration::from_secs(3_600));
    let reader = ground.open(gate.clone(), Arc::new(Counting::default())).await;
    let (id, owner, other) = (message.id, ada(&reader), ada(&reader));
    gate.shut();
    let messages = tokio::spawn(async move { owner.messages(&[id]).await });
    let records = tokio::spawn(async move { other.get(&[record]).await });
    gate.reached(2).await;
    change(ada(&writer), &message, record).await;
    gate.open();
    // They may answer as truth was when they asked.
    assert_eq!(messages.await.unwrap().unwrap().len() + records.await.unwrap().unwrap().len(), 2);
    (ground, message, record)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_fill_after_a_forget_brings_nothing_back() {
    let forget = async |ada: Scoped, message: &Message, _| {
        ada.forget(&Forget::Messages(vec![message.id])).await.unwrap();
    };
    let (ground, message, _) = race(forget).await;
    assert_eq!(ada(&ground.plain().await).messages(&[message.id]).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_fill_after_an_erasure_brings_nothing_back() {
    let erase = async |ada: Scoped, _: &Message, _| drop(ada.forget(&Forget::Everything).await.unwrap());
    let (ground, message, record) = race(erase).await;
    let memory = ground.plain().await;
    assert_eq!(ada(&memory).messages(&[message.id]).await.unwrap(), []);
    assert_eq!(ada(&memory).get(&[record]).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_fill_after_a_put_does_not_hide_it() {
    let put = async |ada: Scoped, _: &Message, record| {
        ada.supersede(record, Remember::fact("Roses need sun")).await.unwrap();
    };
    let (ground, _, record) = race(put).await;
    assert!(ada(&ground.plain().await).get(&[record]).await.unwrap()[0].record.superseded.is_some());
}

#[tokio::test]
async fn a_cache_that_fails_is_named_and_asked_once() {
    let ground = Ground::new();
    planted(&ground.plain().await).await;
    let down = Arc::new(Faulty::at(1, When::Before).lasting());
    let memory = ground.open(Arc::new(Counting::default()), down).await;
    let found = ada(&memory).search(&Search::new("roses")).await.unwrap();
    assert_eq!(found.hits.len(), 2);
    assert!(found.receipt.degraded.iter().any(|degraded| degraded.stage == Stage::Cache), "{:?}", found.receipt);
    // The circuit is open: a cache that works again is not asked before the probe is due.
    let counting = Arc::new(Counting::default());
    let memory =
        ground.open(Arc::new(Counting::default()), Arc::new(Once(Faulty::at(1, When::Before), counting.clone()))).await;
    for _ in 0..5 {
        assert_eq!(texts(&memory).await.len(), 2);
    }
    assert_eq!(counting.total(), 1);
    ground.clock.advance(Duration::from_secs(2));
    assert_eq!(texts(&memory).await.len(), 2);
    assert!(counting.total() > 1);
}

/// Counts calls, and fails one.
#[derive(Debug)]
struct Once(Faulty, Arc<Counting>);

impl Tap for Once {
    fn enter(&self, call: &'static str) -> memory_core::Result<()> {
        self.1.enter(call)?;
        self.0.enter(call)
    }

    fn leave(&self, call: &'static str, rows: usize) -> memory_core::Result<()> {
        self.0.leave(call, rows)
    }
}

#[tokio::test]
async fn a_change_that_the_cache_did_not_hear_of_is_seen_here_all_the_same() {
    for nth in 1..=2 {
        let ground = Ground::new();
        let (message, _) = planted(&ground.plain().await).await;
        let deaf = Arc::new(Faulty::at(nth, When::Before).of("put"));
        let memory = ground.open(Arc::new(Counting::default()), deaf.clone()).await;
        let receipt = ada(&memory).forget(&Forget::Messages(vec![message.id])).await.unwrap();
        assert!(deaf.has_failed() && !receipt.complete, "{receipt:?}");
        assert!(receipt.stores.iter().any(|store| store.part == "cache" && store.why.is_some()));
        ground.clock.advance(Duration::from_secs(5));
        assert_eq!(ada(&memory).messages(&[message.id]).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_cache_that_lost_everything_makes_misses_only() {
    let (ground, truth) = (Ground::new(), Arc::new(Counting::default()));
    let memory = ground.open(truth.clone(), Arc::new(Counting::default())).await;
    planted(&memory).await;
    for _ in 0..3 {
        ground.clock.advance(Duration::from_secs(7_200));
        truth.reset();
        let found = ada(&memory).search(&Search::new("roses")).await.unwrap();
        assert_eq!((found.hits.len(), found.receipt.degraded.len(), truth.calls("get")), (2, 0, 2));
        assert_eq!(texts(&memory).await.len(), 2);
        assert_eq!(truth.calls("get"), 2);
    }
}

#[tokio::test]
async fn a_write_that_died_halfway_leaves_the_owner_without_a_cache_not_a_stale_one() {
    let ground = Ground::new();
    let here = ground.plain().await;
    let (_, record) = planted(&here).await;
    // The process dies after its commit, before the new stamp: the answer of truth is lost for good.
    let dying = ground
        .open(
            Arc::new(Faulty::at(1, When::LostAnswer).of("put")),
            Arc::new(Faulty::at(2, When::Before).of("put").lasting()),
        )
        .await;
    ada(&dying).supersede(record, Remember::fact("Roses need sun")).await.unwrap_err();
    for _ in 0..2 {
        assert!(ada(&here).get(&[record]).await.unwrap()[0].record.superseded.is_some());
    }
}

#[tokio::test]
async fn a_write_that_gave_up_and_is_carried_out_later_is_seen() {
    let ground = Ground::new();
    let here = ground.plain().await;
    let (message, record) = planted(&here).await;
    let never = |call| Arc::new(Faulty::at(1, When::Before).of(call).lasting());
    for call in ["redact", "put"] {
        let gave_up = ground.open(never(call), Arc::new(Counting::default())).await;
        match call {
            "redact" => drop(ada(&gave_up).forget(&Forget::Messages(vec![message.id])).await.unwrap_err()),
            _ => drop(ada(&gave_up).supersede(record, Remember::fact("Roses need sun")).await.unwrap_err()),
        }
    }
    assert_eq!((texts(&here).await.len(), texts(&here).await.len()), (2, 2));
    // Another write of the owner ends well meanwhile.
    ada(&here).remember(Remember::fact("Tulips need cold")).await.unwrap();
    assert_eq!(texts(&here).await.len(), 2);
    // What gave up is carried out: no process hears of it.
    let bare = Memory::builder(Truth::chat(ground.chat.clone()), Truth::records(ground.records.clone()));
    let bare = bare.build().await.unwrap();
    ada(&bare).forget(&Forget::Messages(vec![message.id])).await.unwrap();
    ada(&bare).supersede(record, Remember::fact("Roses need sun")).await.unwrap();
    assert_eq!(ada(&here).messages(&[message.id]).await.unwrap(), []);
    assert!(ada(&here).get(&[record]).await.unwrap()[0].record.superseded.is_some());
}
