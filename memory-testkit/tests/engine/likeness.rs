//! The gate: what is nearly the same as a record is told again, or dropped.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, RememberReceipt, Remembered, Scoped, Stage};
use memory_core::index::PIECE_WORDS;
use memory_core::model::Embedder as _;
use memory_core::novelty::{Gate, Reason, Repeat};
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::{ItemId, Scope, Truth};
use memory_testkit::doubles::{EmbedderMode, FakeEmbedder, Faulty, When};

use crate::bench::{Bench, Taps};

const TEA: &str = "Ada likes a cup of green tea";
const STILL_TEA: &str = "Ada still likes a cup of green tea";

/// The embedder of the bench adds up vectors of words, so six of seven words in common make texts alike.
fn gate() -> Gate {
    Gate::default().with_threshold(0.4)
}

async fn tell(owner: &Scoped, remember: Remember) -> RememberReceipt {
    owner.remember(remember.gated(gate())).await.unwrap()
}

#[tokio::test]
async fn what_is_told_again_goes_with_its_source_and_the_first_telling_stays() {
    let bench = Bench::new().await;
    let (ada, said) = (bench.owner("ada"), bench.user("I still like it."));
    let source = said.id;
    bench.session("ada").append(vec![said]).await.unwrap();
    let first = tell(&ada, Remember::fact(TEA)).await;
    tell(&ada, Remember::fact(STILL_TEA).with_source(ItemId::Message(source))).await;
    assert_eq!(ada.get(&[first.id]).await.unwrap()[0].record.sources().len(), 1);
    ada.forget(&Forget::Messages(vec![source])).await.unwrap();
    assert_eq!(ada.get(&[first.id]).await.unwrap()[0].record.sources().len(), 0);
}

#[tokio::test]
async fn what_is_superseded_takes_no_telling() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let first = tell(&ada, Remember::fact(TEA)).await;
    bench.tend().await;
    ada.supersede(first.id, Remember::fact("Coffee is what Ada drinks")).await.unwrap();
    let again = tell(&ada, Remember::fact(STILL_TEA)).await;
    assert_eq!(again.outcome, Remembered::Stored);
    assert_ne!(again.id, first.id);
}

#[tokio::test]
async fn what_cannot_be_compared_is_stored_and_the_receipt_says_why() {
    let taps = Taps { vectors: Arc::new(Faulty::at(1, When::Before).of("search").lasting()), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    let ada = bench.owner("ada");
    tell(&ada, Remember::fact(TEA)).await;
    let told = tell(&ada, Remember::fact(STILL_TEA)).await;
    assert_eq!((told.outcome, told.degraded[0].stage), (Remembered::Stored, Stage::Vector));
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::Fails);
    let told = tell(&bench.owner("ada"), Remember::fact(TEA)).await;
    assert_eq!((told.outcome, told.degraded.len()), (Remembered::Stored, 1));
}

#[tokio::test]
async fn s3_11_what_the_index_of_words_has_and_that_of_meaning_has_not_is_compared_too() {
    let taps = Taps { vectors: Arc::new(Faulty::at(1, When::Before).of("put").lasting()), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    let ada = bench.owner("ada");
    let first = tell(&ada, Remember::fact(TEA)).await;
    for _ in 0..2 {
        bench.memory.upkeep_once().await.unwrap();
        let again = tell(&ada, Remember::fact(STILL_TEA)).await;
        assert_eq!((again.id, again.outcome, again.degraded), (first.id, Remembered::Reinforced, vec![]));
    }
}

#[tokio::test]
async fn s3_11_without_an_index_of_words_what_is_not_indexed_yet_is_compared_too() {
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let embedder = Arc::new(FakeEmbedder::new(32));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    let memory = Memory::builder(chat, records).vectors(vectors, embedder).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let first = tell(&ada, Remember::fact(TEA)).await;
    for _ in 0..2 {
        let again = tell(&ada, Remember::fact(STILL_TEA)).await;
        assert_eq!((again.id, again.outcome), (first.id, Remembered::Reinforced));
        memory.upkeep_once().await.unwrap();
    }
}

/// A statement of more than sixty words.
const LONG: &str = "signed up for a class last week because making pots out of clay with both hands helps to calm down \
    after a day full of meetings in the office downtown where nobody ever opens a window \
    and then walks home along the river every evening listening to old records on huge headphones that were a gift \
    of two aunts who run some bakery near our harbour";

#[tokio::test]
async fn s3_11_without_an_index_of_meaning_words_are_compared_by_a_threshold_of_their_own() {
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let memory = Memory::builder(chat, records).text(text).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let (first, slip) = (tell(&ada, Remember::fact(LONG)).await, LONG.replace("meetings", "meettings"));
    assert_eq!((first.outcome, first.novelty, first.degraded), (Remembered::Stored, None, vec![]));
    let skip = gate().with_repeat(Repeat::Skip);
    // Before it is indexed, and after.
    for _ in 0..2 {
        let again = ada.remember(Remember::fact(slip.as_str()).gated(skip)).await.unwrap();
        let novelty = again.novelty.unwrap();
        assert!(novelty < 0.02, "{novelty}");
        assert_eq!(again.outcome, Remembered::Skipped(Reason::Alike { to: first.id, novelty }));
        memory.upkeep_once().await.unwrap();
    }
    assert_eq!(tell(&ada, Remember::fact(TEA)).await.outcome, Remembered::Stored);
    // By meaning it would repeat what is known; by words one other word among seven is news.
    let other = tell(&ada, Remember::fact(STILL_TEA)).await;
    assert_eq!(other.outcome, Remembered::Stored);
    assert!(other.novelty.is_some_and(|novelty| novelty >= 0.02), "{other}");
}

#[tokio::test]
async fn what_no_gate_compares_is_stored_and_the_receipt_says_why() {
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let memory = Memory::builder(chat, records).build().await.unwrap();
    let told = tell(&memory.of(&Scope::new("acme", "ada").unwrap()), Remember::fact(TEA)).await;
    let stages: Vec<Stage> = told.degraded.iter().map(|degraded| degraded.stage).collect();
    assert_eq!((told.outcome, stages), (Remembered::Stored, vec![Stage::Text]));
    let bench = Bench::new().await;
    let told = tell(&bench.owner("ada"), Remember::fact("tea ".repeat(PIECE_WORDS + 1))).await;
    let stages: Vec<Stage> = told.degraded.iter().map(|degraded| degraded.stage).collect();
    assert_eq!((told.outcome, stages), (Remembered::Stored, vec![Stage::Embed]));
}

#[tokio::test]
async fn a_threshold_out_of_bounds_is_invalid() {
    let bench = Bench::new().await;
    for threshold in [-0.1, 2.1, f32::NAN] {
        let remember = Remember::fact(TEA).gated(Gate::default().with_threshold(threshold));
        assert!(bench.owner("ada").remember(remember).await.is_err(), "{threshold}");
    }
}
