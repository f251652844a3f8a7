//! What was written and is in no index yet is read from truth, and nothing else is.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Remember, Scoped, Search, Stage};
use memory_core::model::Embedder as _;
use memory_core::rank::{Ranking, Weights};
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::{Message, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, EmbedderMode, FakeEmbedder, Faulty, Tapped, When};

use crate::bench::{Bench, Taps, session};

async fn texts(owner: &Scoped, words: &str) -> Vec<String> {
    let found = owner.search(&Search::new(words)).await.unwrap();
    assert_eq!((found.receipt.degraded.len(), found.receipt.dropped_at_hydration), (0, 0));
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

#[tokio::test]
async fn what_is_indexed_is_read_from_the_index_alone() {
    let counting = Arc::new(Counting::default());
    let bench = Bench::with(Taps { chat: counting.clone(), ..Taps::default() }, |builder| builder).await;
    let rose = bench.user("My rose is called Aurora.");
    bench.session("ada").append(vec![rose.clone()]).await.unwrap();
    let ada = bench.owner("ada");
    let reads = async |words: &str| {
        let by_words = Search::new(words).ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }));
        let before = counting.calls("get");
        ada.search(&by_words).await.unwrap();
        counting.calls("get") - before
    };
    // Nothing is found, and what was written was looked at.
    assert_eq!(reads("tulip").await, 1);
    // What was looked at is not read again as a hit.
    assert_eq!(reads("Aurora").await, 1);
    bench.tend().await;
    assert_eq!(reads("tulip").await, 0);
    // What was stored before is left to the index, whoever repeats it.
    bench.session("ada").append(vec![rose]).await.unwrap();
    assert_eq!(reads("tulip").await, 0);
    assert_eq!(texts(&ada, "Aurora").await, ["My rose is called Aurora."]);
}

/// Returns how often a search for words asks truth for messages.
async fn reads(owner: &Scoped, counting: &Counting, words: &str) -> u64 {
    let by_words = Search::new(words).ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }));
    let before = counting.calls("get");
    owner.search(&by_words).await.unwrap();
    counting.calls("get") - before
}

#[tokio::test]
async fn what_has_no_words_is_not_read_again_and_again() {
    let counting = Arc::new(Counting::default());
    let bench = Bench::with(Taps { chat: counting.clone(), ..Taps::default() }, |builder| builder).await;
    let said = vec![bench.say(Role::System, "You are a gardener."), bench.user("\u{1f44d}"), bench.user("")];
    bench.session("ada").append(said).await.unwrap();
    let ada = bench.owner("ada");
    assert_eq!(reads(&ada, &counting, "tulip").await, 1);
    bench.tend().await;
    assert_eq!(reads(&ada, &counting, "tulip").await, 0);
}

#[tokio::test]
async fn what_another_process_has_indexed_is_not_read_again_and_again() {
    let (chat, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
    let (text, counting) = (Arc::new(MemText::new(Analysis::english().name())), Arc::new(Counting::default()));
    let open = async || {
        let chat = Truth::chat(chat.clone()).layered(|store| Arc::new(Tapped::new(store, counting.clone())));
        Memory::builder(chat, Truth::records(records.clone())).text(text.clone()).build().await.unwrap()
    };
    let [memory, other] = [open().await, open().await];
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let rose = Message::new(Role::User, "My rose is called Aurora.", memory.now());
    ada.session(&session("talk")).append(vec![rose]).await.unwrap();
    other.upkeep_once().await.unwrap();
    assert_eq!(reads(&ada, &counting, "tulip").await, 1);
    memory.upkeep_once().await.unwrap();
    assert_eq!(reads(&ada, &counting, "tulip").await, 0);
}

/// Opens a memory that finds by meaning alone.
async fn by_meaning(counting: Arc<Counting>) -> (Memory, Arc<FakeEmbedder>) {
    let embedder = Arc::new(FakeEmbedder::new(32));
    let chat = Truth::chat(Arc::<MemChat>::default()).layered(|store| Arc::new(Tapped::new(store, counting)));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    let builder = Memory::builder(chat, Truth::records(Arc::<MemRecords>::default()));
    (builder.vectors(vectors, embedder.clone()).build().await.unwrap(), embedder)
}

#[tokio::test]
async fn without_an_index_of_words_what_was_written_is_found_at_once_and_read_until_it_is_indexed() {
    let counting = Arc::new(Counting::default());
    let (memory, _) = by_meaning(counting.clone()).await;
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let rose = Message::new(Role::User, "My rose is called Aurora.", memory.now());
    ada.session(&session("talk")).append(vec![rose]).await.unwrap();
    ada.remember(Remember::fact("Boreas is a tulip")).await.unwrap();
    assert_eq!(texts(&ada, "Aurora").await, ["My rose is called Aurora."]);
    assert_eq!(texts(&ada, "tulip").await, ["Boreas is a tulip"]);
    assert_eq!(reads(&ada, &counting, "orchid").await, 1);
    memory.upkeep_once().await.unwrap();
    assert_eq!(reads(&ada, &counting, "orchid").await, 0);
    assert_eq!(texts(&ada, "Aurora").await.len(), 2);
}

#[tokio::test]
async fn what_could_not_be_embedded_yet_is_found_by_its_words_where_there_is_no_index_of_words() {
    let (memory, embedder) = by_meaning(Arc::default()).await;
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let said = ["My rose is called Aurora.", "I found poison oak."];
    let said = said.map(|text| Message::new(Role::User, text, memory.now())).to_vec();
    ada.session(&session("talk")).append(said).await.unwrap();
    embedder.set(EmbedderMode::FailsOn("poison"));
    assert!(memory.upkeep_once().await.unwrap().retried > 0);
    assert!(texts(&ada, "oak").await.contains(&"I found poison oak.".to_owned()));
}

#[tokio::test]
async fn what_the_index_has_is_read_although_what_it_has_not_cannot_be_read() {
    let faults = Arc::new(Faulty::at(1, When::Before).of("get"));
    let bench = Bench::with(Taps { chat_faults: faults.clone(), ..Taps::default() }, |builder| builder).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    bench.session("ada").append(vec![bench.user("Aurora needs water.")]).await.unwrap();
    assert!(!faults.has_failed(), "nothing was read by its id yet");
    let found = bench.owner("ada").search(&Search::new("Aurora")).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.content.text()).collect::<Vec<_>>(), ["My rose is called Aurora."]);
    let stages: Vec<Stage> = found.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
    assert_eq!((stages, faults.has_failed()), (vec![Stage::Chat], true));
    assert_eq!(texts(&bench.owner("ada"), "Aurora").await.len(), 2);
}
