//! What was written and is in no index yet is read from truth, and nothing else is.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Scoped, Search, Stage};
use memory_core::rank::{Ranking, Weights};
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::{Message, Role, Scope, Truth};
use memory_testkit::doubles::{Counting, Faulty, Tapped, When};

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
