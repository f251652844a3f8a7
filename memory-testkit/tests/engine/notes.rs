//! Notes of the working tier: what is told of them, what bounds them, and what they do where a model or truth fails.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::engine::{Event, MemoryBuilder, Observer, Search, SearchResults, Stage, WorkingNote};
use memory_core::rank::{Decay, Ranking, Recency};
use memory_core::store::Durability;
use memory_core::working::{WorkingConfig, WorkingTier};
use memory_core::{Error, Limits, Scope, Stores, Truth, Unit};
use memory_testkit::doubles::EmbedderMode;

use crate::bench::{Bench, Taps, session};

const TRAINS: &str = "Trains to Porto leave at 8:15.";

fn trains() -> WorkingNote {
    WorkingNote::new(TRAINS, "timetable")
}

#[tokio::test]
async fn the_working_tier_is_a_part_of_the_memory_that_close_empties() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.note(trains()).await.unwrap();
    let status = bench.memory.status().await;
    let working = status.stores.iter().find(|store| store.part == "working").unwrap();
    assert_eq!(working.health.as_ref().unwrap().durability, Durability::Volatile);
    bench.memory.close().await.unwrap();
    assert_eq!(ada.search(&Search::new("porto")).await.unwrap().hits, []);
}

#[tokio::test(start_paused = true)]
async fn s1_5_a_note_that_cannot_be_embedded_is_found_by_its_words_and_the_receipt_says_so() {
    for mode in
        [EmbedderMode::Fails, EmbedderMode::NotANumber, EmbedderMode::PanicsOn("Porto"), EmbedderMode::HangsOn("Porto")]
    {
        let bench = Bench::new().await;
        bench.embedder.set(mode);
        let receipt = bench.owner("ada").note(trains()).await.unwrap();
        let stages: Vec<Stage> = receipt.degraded.iter().map(|degraded| degraded.stage).collect();
        assert_eq!((receipt.is_embedded, stages), (false, vec![Stage::Embed]), "{mode:?}");
        bench.embedder.set(EmbedderMode::Well);
        let found = bench.owner("ada").search(&Search::new("porto")).await.unwrap();
        assert_eq!(found.hits.iter().map(|hit| hit.content.text()).collect::<Vec<_>>(), [TRAINS], "{mode:?}");
    }
}

#[tokio::test]
async fn s1_5_a_note_is_found_by_its_meaning_alone() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.note(WorkingNote::new("the and of", "nowhere")).await.unwrap();
    let found = ada.search(&Search::new("of the and")).await.unwrap();
    let signals: Vec<_> = found.hits.iter().map(|hit| (hit.signals.text, hit.signals.vector_rank)).collect();
    assert_eq!(signals, [(None, Some(1))]);
}

#[tokio::test]
async fn notes_are_records_and_no_messages() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.note(trains()).await.unwrap();
    ada.session(&session("talk")).append(vec![bench.user("Porto, please.")]).await.unwrap();
    let count = |found: SearchResults| found.receipt.notes;
    for words in ["porto", ""] {
        assert_eq!(count(ada.search(&Search::new(words).only(Unit::Message)).await.unwrap()), 0);
        assert_eq!(count(ada.search(&Search::new(words).only(Unit::Record)).await.unwrap()), 1);
    }
    let talk = ada.session(&session("talk"));
    assert_eq!(count(talk.search(&Search::new("porto")).await.unwrap()), 0);
}

#[tokio::test]
async fn notes_are_bounded_and_need_a_place() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let most = Limits::default().note_bytes;
    for bad in [
        WorkingNote::new(" \n", "timetable"),
        WorkingNote::new("a".repeat(most + 1), "timetable"),
        WorkingNote::new(TRAINS, ""),
        WorkingNote::new(TRAINS, "a".repeat(256)),
        trains().with_ttl(Duration::ZERO),
        trains().with_ttl(Duration::MAX),
    ] {
        assert!(matches!(ada.note(bad.clone()).await, Err(Error::Invalid { .. })), "{bad:?}");
    }
    assert!(ada.note(WorkingNote::new("a ".repeat(most / 2), "timetable")).await.is_ok());
}

#[tokio::test]
async fn c2_a_note_loses_half_of_its_recency_in_a_day() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.note(WorkingNote::new("Porto", "timetable")).await.unwrap();
    bench.clock.advance(Duration::from_secs(24 * 3_600));
    let recency = Recency::Age(Decay::SESSION);
    let ranking = Ranking::Blend { recency_weight: 1.0, recency, clips: true, candidates: 100 };
    let found = ada.search(&Search::new("Porto").ranking(ranking)).await.unwrap();
    assert_eq!(found.hits[0].signals.score, 0.5);
}

#[tokio::test]
async fn c2_a_note_grows_old_as_the_settings_of_its_tier_say() {
    let slow = WorkingConfig::default().with_half_life(Duration::from_secs(48 * 3_600));
    let bench = Bench::with(Taps::default(), |builder| builder.working(slow)).await;
    let ada = bench.owner("ada");
    ada.note(WorkingNote::new("Porto", "timetable")).await.unwrap();
    bench.clock.advance(Duration::from_secs(96 * 3_600));
    let recency = Recency::Age(Decay::SESSION);
    let ranking = Ranking::Blend { recency_weight: 1.0, recency, clips: true, candidates: 100 };
    let found = ada.search(&Search::new("Porto").ranking(ranking)).await.unwrap();
    assert_eq!(found.hits[0].signals.score, 0.25);
}

#[tokio::test]
async fn without_notes_of_the_owner_truth_is_asked_for_nothing_more() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.session(&session("talk")).append(vec![bench.user("Porto, please.")]).await.unwrap();
    bench.owner("bob").note(trains()).await.unwrap();
    let found = ada.search(&Search::new("porto")).await.unwrap();
    assert_eq!((found.hits.len(), found.receipt.notes), (1, 0));
    assert!(!serde_json::to_string(&found.receipt).unwrap().contains("notes"));
}

/// Counts what was evicted, by owner.
#[derive(Debug, Default)]
struct Evictions(Mutex<Vec<(Scope, usize)>>);

impl Observer for Evictions {
    fn observe(&self, owner: Option<&Scope>, event: &Event) {
        if let (Some(owner), Event::Evicted { entries }) = (owner, event) {
            self.0.lock().unwrap().push((owner.clone(), *entries));
        }
    }
}

#[tokio::test]
async fn a_receipt_tells_nothing_of_what_others_lost() {
    let (seen, small) = (Arc::new(Evictions::default()), WorkingConfig::default().with_max_bytes(30_000));
    let watched = seen.clone();
    let bench = Bench::with(Taps::default(), |builder| builder.working(small).observer(watched)).await;
    let [ada, bob] = ["ada", "bob"].map(|subject| bench.owner(subject));
    let note = |number: u32| WorkingNote::new(format!("Train {number} is late."), "timetable");
    let mut own = 0;
    for number in 0..50 {
        own += ada.note(note(number)).await.unwrap().evicted;
    }
    let of = |owner: &Scope| {
        let seen = seen.0.lock().unwrap();
        seen.iter().filter(|(scope, _)| scope == owner).map(|(_, entries)| entries).sum::<usize>()
    };
    assert!(own > 0 && of(ada.scope()) == own, "{own}");
    // What bob notes takes from ada, who has more, and bob is told nothing of it.
    assert_eq!(bob.note(note(0)).await.unwrap().evicted, 0);
    assert!(of(ada.scope()) > own && of(bob.scope()) == 0);
}

#[tokio::test]
async fn a_tier_that_cannot_be_is_refused_and_one_that_is_given_is_used() {
    let bench = Bench::new().await;
    let truth = Truth::chat(bench.truth.clone());
    let stores = |working| Stores { chat: Some(truth.clone()), working, ..Stores::default() };
    let builder = |working| MemoryBuilder::over(stores(working));
    let none = WorkingConfig::default().with_max_bytes(0);
    assert!(matches!(builder(None).working(none).build().await, Err(Error::Invalid { .. })));
    let tier = Arc::new(WorkingTier::new(WorkingConfig::default()));
    let one = builder(Some(tier.clone())).build().await.unwrap();
    let other = builder(Some(tier)).build().await.unwrap();
    let scope = Scope::new("acme", "ada").unwrap();
    one.of(&scope).note(trains()).await.unwrap();
    assert_eq!(other.of(&scope).search(&Search::new("")).await.unwrap().receipt.notes, 1);
}
