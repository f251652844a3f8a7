//! Long-term memory.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Forget, Remember, Remembered, Search};
use memory_core::{Error, Filter, ItemId, Message, RecordId, Role, SessionId};

use crate::bench::{Bench, day};

async fn texts(bench: &Bench, words: &str) -> Vec<String> {
    let found = bench.owner("ada").search(&Search::new(words)).await.unwrap();
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

#[tokio::test]
async fn the_same_fact_told_twice_is_one_record() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let first = ada.remember(Remember::fact("Ada has two cats.")).await.unwrap();
    let again = ada.remember(Remember::fact("ada has TWO cats")).await.unwrap();
    let other = ada.remember(Remember::fact("Ada has three cats.")).await.unwrap();
    assert_eq!(
        (first.outcome, again.outcome, other.outcome),
        (Remembered::Stored, Remembered::Reinforced, Remembered::Stored)
    );
    assert_eq!((first.id, first.version), (again.id, again.version));
    assert_ne!(first.id, other.id);
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 2);
}

#[tokio::test]
async fn words_that_change_places_make_another_fact() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    for _ in 0..2 {
        ada.remember(Remember::fact("Anna owes Bob ten francs.")).await.unwrap();
        ada.remember(Remember::fact("Bob owes Anna ten francs.")).await.unwrap();
    }
    let mut texts: Vec<String> =
        ada.records(&Filter::All, None, 10).await.unwrap().iter().map(|r| r.record.text.clone()).collect();
    texts.sort();
    assert_eq!(texts, ["Anna owes Bob ten francs.", "Bob owes Anna ten francs."]);
}

#[tokio::test]
async fn tasks_that_tell_the_same_fact_together_make_one_record() {
    let bench = Bench::new().await;
    let ada = Arc::new(bench.owner("ada"));
    let tasks = (0..32).map(|_| {
        let (ada, clock) = (Arc::clone(&ada), Arc::clone(&bench.clock));
        tokio::spawn(async move {
            clock.advance(Duration::from_micros(1));
            ada.remember(Remember::fact("Ada has two cats.")).await.unwrap().outcome
        })
    });
    let mut stored = 0;
    for task in tasks.collect::<Vec<_>>() {
        stored += usize::from(task.await.unwrap() == Remembered::Stored);
    }
    assert_eq!(stored, 1);
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_given_id_holds_one_content() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let id = RecordId::fresh();
    let stored = ada.remember(Remember::fact("Ada has two cats.").with_id(id)).await.unwrap();
    bench.clock.advance(Duration::from_secs(5));
    let repeated = ada.remember(Remember::fact("Ada has two cats.").with_id(id)).await.unwrap();
    assert_eq!((repeated.outcome, repeated.version), (Remembered::Reinforced, stored.version));
    let other = ada.remember(Remember::fact("Ada has a dog.").with_id(id)).await;
    assert!(matches!(other, Err(Error::IdConflict { .. })));
}

#[tokio::test]
async fn a_reinforced_fact_lives_as_long_as_either_asked_for() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let hour = Duration::from_secs(3_600);
    let first = ada.remember(Remember::fact("The code is 4711.").with_ttl(hour)).await.unwrap();
    bench.clock.advance(hour / 2);
    ada.remember(Remember::fact("The code is 4711.").with_ttl(hour).with_tag("door")).await.unwrap();
    let stored = ada.get(&[first.id]).await.unwrap().remove(0);
    assert_eq!(stored.record.tags(), ["door"]);
    assert_eq!(stored.record.expires_at(), Some(bench.memory.now().checked_add(hour).unwrap()));
    ada.remember(Remember::fact("The code is 4711.")).await.unwrap();
    assert_eq!(ada.get(&[first.id]).await.unwrap()[0].record.expires_at(), None);
}

#[tokio::test]
async fn what_breaks_the_limits_is_refused() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let bad = [
        Remember::fact(""),
        Remember::fact("x".repeat((1 << 20) + 1)),
        Remember::fact("x").with_importance(1.5),
        Remember::fact("x").with_importance(f32::NAN),
        Remember::fact("x").with_ttl(Duration::ZERO),
        Remember::fact("x").with_ttl(Duration::from_secs(u64::MAX)),
        Remember::new("", "x"),
    ];
    for remember in bad {
        assert!(matches!(ada.remember(remember).await, Err(Error::Invalid { .. })));
    }
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_fact_that_was_retired_twice_can_be_told_again() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let rome = || Remember::fact("Ada lives in Rome");
    let mut ids = Vec::new();
    for city in ["Oslo", "Bern", "Kiel"] {
        let stored = ada.remember(rome()).await.unwrap();
        assert_eq!(stored.outcome, Remembered::Stored, "before {city}");
        ids.push(stored.id);
        bench.clock.advance(Duration::from_secs(60));
        ada.supersede(stored.id, Remember::fact(format!("Ada lives in {city}"))).await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
    }
    let last = ada.remember(rome()).await.unwrap();
    assert!(last.outcome == Remembered::Stored && !ids.contains(&last.id));
    assert_eq!(ada.remember(rome()).await.unwrap().id, last.id, "and the current one is reinforced");
    bench.tend().await;
    assert!(texts(&bench, "Rome").await.contains(&"Ada lives in Rome".to_owned()));
}

#[tokio::test]
async fn what_is_told_again_adds_its_metadata_and_the_value_told_last_stands() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let fact = || Remember::fact("The key is under the mat.");
    let id = ada.remember(fact().with_metadata("door", "front")).await.unwrap().id;
    ada.remember(fact().with_metadata("door", "back").with_metadata("lock", 2)).await.unwrap();
    let stored = ada.get(&[id]).await.unwrap().remove(0);
    let metadata = stored.record.metadata();
    assert_eq!((&metadata["door"], &metadata["lock"]), (&"back".into(), &2.into()));
}

#[tokio::test]
async fn the_same_words_of_two_agents_are_two_records_and_filters_tell_them_apart() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let told = |agent: &str| Remember::fact("The build is green.").with_agent(agent).with_run("7");
    let first = ada.remember(told("planner")).await.unwrap();
    let again = ada.remember(told("planner")).await.unwrap();
    let other = ada.remember(told("critic")).await.unwrap();
    let nobody = ada.remember(Remember::fact("The build is green.")).await.unwrap();
    assert_eq!(first.id, again.id);
    assert!(first.id != other.id && nobody.id != first.id && nobody.id != other.id);
    bench.tend().await;
    for (filter, expected) in
        [("agent = planner", 1), ("agent = critic and run = 7", 1), ("run = 7", 2), ("run = 8", 0)]
    {
        let filter: Filter = filter.parse().unwrap();
        assert_eq!(ada.records(&filter, None, 10).await.unwrap().len(), expected, "{filter}");
        let found = ada.search(&Search::new("build").matching(filter.clone())).await.unwrap();
        assert_eq!(found.hits.len(), expected, "{filter}");
    }
}

#[tokio::test]
async fn messages_are_found_by_their_agent_and_run() {
    let bench = Bench::new().await;
    let session = bench.owner("ada").session(&SessionId::new("s").unwrap());
    let said =
        |text: &str, run: &str| Message::new(Role::User, text, bench.memory.now()).with_agent("planner").with_run(run);
    session.append(vec![said("a red rose", "1"), said("a white rose", "2")]).await.unwrap();
    bench.tend().await;
    let search = Search::new("rose").matching("agent = planner and run = 2".parse().unwrap());
    let found = bench.owner("ada").search(&search).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.content.text()).collect::<Vec<_>>(), ["a white rose"]);
}

#[tokio::test]
async fn a_retired_fact_is_found_only_as_of_its_time_and_told_again_it_is_new() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let told = ada.remember(Remember::fact("Ada has a cat").with_ttl(Duration::from_secs(60_000_000))).await.unwrap();
    ada.remember(Remember::fact("Ada has a cat").with_origin("another").with_ttl(Duration::from_secs(60_000_000)))
        .await
        .unwrap();
    let then = bench.memory.now();
    bench.clock.set(day("2025-06-01"));
    assert!(ada.retire(told.id).await.unwrap());
    assert!(!ada.retire(told.id).await.unwrap(), "a repeat changes nothing");
    bench.tend().await;
    assert_eq!(texts(&bench, "a cat").await, [""; 0]);
    let past = ada.search(&Search::new("a cat").as_of(then)).await.unwrap();
    assert_eq!(past.hits.len(), 1);
    let record = ada.get(&[told.id]).await.unwrap().remove(0).record;
    assert_eq!(record.tellings().count(), 2);
    assert!(record.expires_at().is_some(), "it expires when it would have");
    let again = ada.remember(Remember::fact("Ada has a cat")).await.unwrap();
    assert_eq!(again.outcome, Remembered::Stored);
    assert_ne!(again.id, told.id);
    assert!(matches!(ada.retire(RecordId::fresh()).await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn a_retired_fact_falls_with_its_source() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let said = Message::new(Role::User, "I have a cat.", bench.memory.now());
    let source = ItemId::Message(said.id);
    ada.session(&SessionId::new("talk").unwrap()).append(vec![said.clone()]).await.unwrap();
    let told = ada.remember(Remember::fact("Ada has a cat").with_source(source)).await.unwrap();
    ada.retire(told.id).await.unwrap();
    ada.forget(&Forget::Messages(vec![said.id])).await.unwrap();
    assert_eq!(ada.get(&[told.id]).await.unwrap(), []);
}

#[tokio::test]
async fn a_record_whose_source_has_expired_can_still_be_changed() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let trip = Remember::fact("Ada is in Rome").with_ttl(Duration::from_secs(60));
    let trip = ada.remember(trip).await.unwrap().id;
    let derived = Remember::fact("Ada likes Rome").with_source(ItemId::Record(trip));
    let derived = ada.remember(derived).await.unwrap().id;
    bench.clock.advance(Duration::from_secs(3_600));
    bench.tend().await;
    assert_eq!(ada.get(&[trip, derived]).await.unwrap().len(), 1);
    let held = ada.update(derived, |record| record.hold = true).await.unwrap();
    assert!(held.record.hold);
    let tagged = memory_core::Record { hold: false, ..(*held.record).clone() };
    ada.put(tagged.clone(), memory_core::store::records::Expect::Version(held.version)).await.unwrap();
    // A source that it did not have is looked for.
    let mut other = tagged;
    other.first.sources.push(ItemId::Record(RecordId::of_content(b"nobody")));
    let stored = ada.get(&[derived]).await.unwrap().remove(0);
    let refused = ada.put(other, memory_core::store::records::Expect::Version(stored.version)).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
}
