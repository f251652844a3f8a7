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

/// Returns a memory whose records are read and written through a tap that counts, and its clock.
async fn counted() -> (Arc<Counting>, Arc<ManualClock>, Memory) {
    let (counting, clock) = (Arc::<Counting>::default(), Arc::new(ManualClock::at("2025-03-01".parse().unwrap())));
    let tap = Arc::clone(&counting);
    let records = Truth::records(Arc::new(MemRecords::default())).layered(|store| Arc::new(Tapped::new(store, tap)));
    let memory = Memory::builder(Truth::chat(Arc::new(MemChat::default())), records).clock(clock.clone());
    (counting, clock, memory.build().await.unwrap())
}

#[tokio::test]
async fn a_fact_that_changes_to_and_fro_ten_thousand_times_costs_a_few_calls_each_time() {
    let (counting, clock, memory) = counted().await;
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
    assert_eq!(most.0.load(Ordering::SeqCst), 32, "the most records of one answer");
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

#[tokio::test]
async fn a_fact_that_is_current_is_found_by_one_read_and_a_new_one_costs_two() {
    let (counting, _, memory) = counted().await;
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let read = || (counting.calls("get"), counting.rows("get"));
    let open = || Remember::fact("The door is open");
    let told = ada.remember(open()).await.unwrap();
    assert_eq!((told.outcome, read()), (Remembered::Stored, (2, 0)));
    counting.reset();
    assert_eq!(ada.remember(open()).await.unwrap().id, told.id);
    assert_eq!(read(), (1, 1));
    counting.reset();
    let plants = (0..256).map(|plant| Remember::fact(format!("Plant number {plant} is dry")));
    ada.remember_all(plants.collect()).await.unwrap();
    assert!(read().0 <= 20 && read().1 == 0, "{:?}", read());
}

#[tokio::test]
async fn a_fact_of_few_records_is_found_by_two_reads_and_gets_the_number_of_a_forgotten_one() {
    let (counting, clock, memory) = counted().await;
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let open = || Remember::fact("The door is open");
    let mut told = Vec::new();
    for _ in 0..6 {
        told.push(ada.remember(open()).await.unwrap().id);
        clock.advance(Duration::from_secs(1));
        assert!(ada.retire(*told.last().unwrap()).await.unwrap());
    }
    let now = ada.remember(open()).await.unwrap().id;
    counting.reset();
    assert_eq!(ada.remember(open()).await.unwrap().id, now);
    assert_eq!((counting.calls("get"), counting.rows("get")), (2, 7));
    ada.forget(&Forget::Records(vec![told[0]])).await.unwrap();
    clock.advance(Duration::from_secs(1));
    assert!(ada.retire(now).await.unwrap());
    // So it is the first one again, which one read finds.
    let first = ada.remember(open()).await.unwrap();
    assert_eq!((first.id, first.outcome), (told[0], Remembered::Stored));
    assert!(first.version > 1, "what was forgotten was an older version");
    counting.reset();
    assert_eq!(ada.remember(open()).await.unwrap().id, first.id);
    assert_eq!((counting.calls("get"), counting.rows("get")), (1, 1));
}

#[tokio::test]
async fn a_fact_whose_earlier_records_are_all_forgotten_is_known_alone_and_among_others() {
    for changes in 1..40 {
        let (_, clock, memory) = counted().await;
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let open = || Remember::fact("The door is open");
        let mut told = Vec::new();
        for _ in 0..changes {
            told.push(ada.remember(open()).await.unwrap().id);
            clock.advance(Duration::from_secs(1));
            assert!(ada.retire(*told.last().unwrap()).await.unwrap());
        }
        let now = ada.remember(open()).await.unwrap().id;
        // As many as are asked for one by one; of those behind, every eighth tells of the others.
        told.truncate(32);
        ada.forget(&Forget::Records(told)).await.unwrap();
        let all = ada.remember_all(vec![Remember::fact("The house is old"), open()]).await.unwrap();
        assert_eq!((all[1].id, all[1].outcome), (now, Remembered::Reinforced), "{changes}");
        assert_eq!(ada.remember(open()).await.unwrap().id, now, "{changes}");
    }
}
