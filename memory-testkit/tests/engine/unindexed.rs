//! What was written and is in no index yet: searches find it at once.

use std::sync::Arc;

use memory_core::engine::{Forget, Remember, Scoped, Search};
use memory_core::rank::{Ranking, Weights};
use memory_core::{Field, Filter, ItemId, Role, Unit};
use memory_testkit::doubles::{Counting, Faulty, When};

use crate::bench::{Bench, Taps, session};

async fn texts(owner: &Scoped, words: &str) -> Vec<String> {
    let found = owner.search(&Search::new(words)).await.unwrap();
    assert_eq!((found.receipt.degraded.len(), found.receipt.dropped_at_hydration), (0, 0));
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

#[tokio::test]
async fn s0_8_what_was_written_is_found_before_any_index_has_it() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    ada.remember(Remember::fact("Aurora needs water")).await.unwrap();
    let mut found = texts(&ada, "Aurora").await;
    found.sort();
    assert_eq!(found, ["Aurora needs water", "My rose is called Aurora."]);
    assert_eq!(texts(&bench.owner("bob"), "Aurora").await, [""; 0]);
    let records = ada.search(&Search::new("Aurora").only(Unit::Record)).await.unwrap();
    assert_eq!(records.hits.len(), 1);
    let filtered = Filter::eq(Field::Role, "assistant");
    assert_eq!(ada.search(&Search::new("Aurora").matching(filtered)).await.unwrap().hits.len(), 0);
}

#[tokio::test]
async fn o7_a_context_of_one_conversation_recalls_what_was_just_said_in_another() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.session(&session("monday")).append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    let context = bench.session("ada").context("What is my rose called?", 1_000).await.unwrap();
    assert!(context.messages().any(|message| message.text().contains("Aurora")), "{}", context.receipt);
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

#[tokio::test]
async fn what_was_forgotten_or_changed_is_not_found_by_what_it_was() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let said = bench.user("My rose is called Aurora.");
    let id = said.id;
    bench.session("ada").append(vec![said]).await.unwrap();
    let rome = ada.remember(Remember::fact("Aurora lives in Rome")).await.unwrap();
    ada.supersede(rome.id, Remember::fact("Boreas lives in Oslo")).await.unwrap();
    ada.forget(&Forget::Messages(vec![id])).await.unwrap();
    assert_eq!(texts(&ada, "Aurora").await, [""; 0]);
    assert_eq!(texts(&ada, "Oslo").await, ["Boreas lives in Oslo"]);
    ada.forget(&Forget::Everything).await.unwrap();
    assert_eq!(texts(&bench.owner("ada"), "Oslo").await, [""; 0]);
}

#[tokio::test]
async fn an_instruction_is_never_found() {
    let bench = Bench::new().await;
    bench.session("ada").append(vec![bench.say(Role::System, "You are Aurora.")]).await.unwrap();
    assert_eq!(texts(&bench.owner("ada"), "Aurora").await, [""; 0]);
}

#[tokio::test]
async fn what_the_index_did_not_take_stays_findable() {
    let taps = Taps { text: Arc::new(Faulty::at(1, When::Before).of("put").lasting()), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    assert!(!bench.memory.upkeep_once().await.unwrap().failures.is_empty());
    let found = bench.owner("ada").search(&Search::new("Aurora")).await.unwrap();
    assert!(matches!(found.hits[0].item, ItemId::Message(_)));
}
