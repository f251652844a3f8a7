//! Facts that are retired and told again, over and over.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use memory_core::engine::{Forget, Memory, Remember, Remembered};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::{Filter, Result, Scope, Truth};
use memory_testkit::doubles::{Counting, ManualClock, Tap, Tapped};

use crate::bench::Bench;

/// How often the fact changes.
const LINKS: usize = 10_000;

#[tokio::test]
async fn a_fact_that_changes_to_and_fro_ten_thousand_times_costs_a_few_calls_each_time() {
    let (counting, clock) = (Arc::new(Counting::default()), Arc::new(ManualClock::at("2025-03-01".parse().unwrap())));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let records = records.layered(|store| Arc::new(Tapped::new(store, counting.clone())));
    let memory = Memory::builder(Truth::chat(Arc::new(MemChat::default())), records).clock(clock.clone());
    let memory = memory.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let calls = || counting.calls("get") + counting.calls("put") + counting.calls("scan");
    let cities = ["Rome", "Oslo"].map(|city| Remember::fact(format!("Ada lives in {city}")));
    let (mut now, mut most) = (ada.remember(cities[0].clone()).await.unwrap().id, 0);
    for link in 1..=LINKS {
        clock.advance(Duration::from_secs(1));
        counting.reset();
        let next = ada.supersede(now, cities[link % 2].clone()).await.unwrap();
        most = most.max(calls());
        assert!(next.outcome == Remembered::Stored && next.id != now);
        now = next.id;
    }
    counting.reset();
    assert_eq!(ada.remember(cities[0].clone()).await.unwrap().id, now);
    most = most.max(calls());
    counting.reset();
    let repeated = ada.remember(cities[1].clone()).await.unwrap();
    assert_eq!(repeated.outcome, Remembered::Stored, "she does not live there now");
    most = most.max(calls());
    assert!(most <= 8, "{most} calls");
    let current = ada.records(&Filter::current(memory.now()), None, 10).await.unwrap();
    assert_eq!(current.len(), 2);
}

#[tokio::test]
async fn what_supersedes_is_the_record_that_says_it_already() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let rome = ada.remember(Remember::fact("Ada lives in Rome")).await.unwrap().id;
    let oslo = ada.remember(Remember::fact("Ada lives in Oslo")).await.unwrap().id;
    bench.clock.advance(Duration::from_secs(1));
    let by = || Remember::fact("ada lives in OSLO!").with_tag("moved");
    let superseded = ada.supersede(rome, by()).await.unwrap();
    assert_eq!((superseded.id, superseded.outcome), (oslo, Remembered::Reinforced));
    assert_eq!(ada.supersede(rome, by()).await.unwrap().id, oslo, "a repeat is the same");
    let records = ada.records(&Filter::current(bench.memory.now()), None, 10).await.unwrap();
    assert_eq!(
        records.iter().map(|stored| (stored.record.id, stored.record.tags())).collect::<Vec<_>>(),
        [(oslo, vec!["moved"])]
    );
}

#[tokio::test]
async fn a_record_is_superseded_by_another_wording_of_itself() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let old = ada.remember(Remember::fact("ada lives in rome")).await.unwrap().id;
    bench.clock.advance(Duration::from_secs(1));
    let new = ada.supersede(old, Remember::fact("Ada lives in Rome.")).await.unwrap();
    assert!(new.outcome == Remembered::Stored && new.id != old);
    assert_eq!(ada.remember(Remember::fact("Ada lives in Rome")).await.unwrap().id, new.id);
}

/// Keeps how many rows a call was answered with at the most.
#[derive(Debug, Default)]
struct Most(AtomicUsize);

impl Tap for Most {
    fn enter(&self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn leave(&self, _: &'static str, rows: usize) -> Result<()> {
        self.0.fetch_max(rows, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn a_history_among_many_others_holds_no_more_than_a_page_of_them_at_once() {
    let (most, counting) = (Arc::<Most>::default(), Arc::<Counting>::default());
    let clock = Arc::new(ManualClock::at("2025-03-01".parse().unwrap()));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let records = records.layered(|store| Arc::new(Tapped::new(store, most.clone())));
    let records = records.layered(|store| Arc::new(Tapped::new(store, counting.clone())));
    let memory = Memory::builder(Truth::chat(Arc::new(MemChat::default())), records).clock(clock.clone());
    let memory = memory.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let mut chain = vec![ada.remember(Remember::fact("Ada lives in city 0")).await.unwrap().id];
    for city in 1..120 {
        clock.advance(Duration::from_secs(1));
        let last = *chain.last().unwrap();
        chain.push(ada.supersede(last, Remember::fact(format!("Ada lives in city {city}"))).await.unwrap().id);
        let other = ada.remember(Remember::fact(format!("Plant {city} is dry"))).await.unwrap().id;
        ada.supersede(other, Remember::fact(format!("Plant {city} is wet"))).await.unwrap();
    }
    most.0.store(0, Ordering::SeqCst);
    counting.reset();
    let history = ada.history(chain[60]).await.unwrap();
    assert_eq!(history.iter().map(|stored| stored.record.id).collect::<Vec<_>>(), chain);
    assert_eq!(most.0.load(Ordering::SeqCst), 100, "the most records of one answer");
    assert_eq!(counting.rows("get"), 120, "each record of the chain is read once by its id");
}

#[tokio::test]
async fn a_fact_of_which_the_oldest_records_go_is_one_record_however_often_it_changes() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let open = || Remember::fact("The door is open");
    let mut kept = VecDeque::new();
    for change in 0..200 {
        bench.clock.advance(Duration::from_secs(1));
        let told = ada.remember(open()).await.unwrap();
        assert_eq!(told.outcome, Remembered::Stored, "{change}");
        kept.push_back(told.id);
        if kept.len() > 10 {
            let oldest = kept.pop_front().unwrap();
            ada.forget(&Forget::Records(vec![oldest])).await.unwrap();
        }
        assert_eq!(ada.remember(open()).await.unwrap().id, told.id, "{change}");
        assert_eq!(ada.remember_all(vec![open()]).await.unwrap()[0].id, told.id, "{change}");
        bench.clock.advance(Duration::from_secs(1));
        assert!(ada.retire(told.id).await.unwrap());
    }
}

#[tokio::test]
async fn of_a_hundred_records_of_a_fact_the_newest_is_known_although_some_are_forgotten() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let open = || Remember::fact("The door is open");
    let mut ended = Vec::new();
    for _ in 0..100 {
        ended.push(ada.remember(open()).await.unwrap().id);
        bench.clock.advance(Duration::from_secs(1));
        assert!(ada.retire(*ended.last().unwrap()).await.unwrap());
    }
    let mut now = ada.remember(open()).await.unwrap();
    let gone = [ended[0], ended[5], ended[40]];
    ada.forget(&Forget::Records(gone.to_vec())).await.unwrap();
    ended.retain(|id| !gone.contains(id));
    for _ in 0..5 {
        assert!(now.outcome == Remembered::Stored && !ended.contains(&now.id));
        assert_eq!(ada.remember(open()).await.unwrap().id, now.id);
        bench.clock.advance(Duration::from_secs(1));
        assert!(ada.retire(now.id).await.unwrap());
        ended.push(now.id);
        now = ada.remember(open()).await.unwrap();
    }
}
