//! Retention of records: a step is bounded, and the next one goes on where it stopped.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Memory, Retained, Retention, Scoped};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::{Filter, Record, Scope, StoredRecord, Timestamp, Truth};
use memory_testkit::doubles::{Counting, ManualClock, Tapped};

/// Returns an owner of so many records that are too old. Those on hold are told by their place in the order of ids.
async fn owner(count: usize, is_on_hold: impl Fn(usize) -> bool) -> (Scoped, Arc<Counting>) {
    let counting = Arc::new(Counting::default());
    let chat = Truth::chat(Arc::new(MemChat::default()));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let records = records.layered(|store| Arc::new(Tapped::new(store, counting.clone())));
    let month = Retention::default().with_record_age(Duration::from_secs(30 * 86_400));
    let builder = Memory::builder(chat, records).clock(Arc::new(ManualClock::default()));
    let memory = builder.retention(Retained::Everything, month).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    ada.restore(&old(count, is_on_hold)).await.unwrap();
    (ada, counting)
}

/// Returns so many records that are too old, in the order of ids.
fn old(count: usize, is_on_hold: impl Fn(usize) -> bool) -> Vec<StoredRecord> {
    let fact = |n: usize| Record::new("fact", format!("Plant {n} stands on the balcony"), Timestamp(0));
    let mut facts: Vec<Record> = (0..count).map(fact).collect();
    facts.sort_by_key(|record| record.id);
    facts.iter_mut().enumerate().for_each(|(place, record)| record.hold = is_on_hold(place));
    let stored =
        |record: Record| StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 };
    facts.into_iter().map(stored).collect()
}

/// Takes a step, and returns how many records were read, and how many forgotten.
async fn step(ada: &Scoped, counting: &Counting) -> (u64, u64) {
    counting.reset();
    let report = ada.memory().upkeep_once().await.unwrap();
    assert_eq!(report.failures, [""; 0]);
    (counting.rows("scan"), report.lapsed)
}

#[tokio::test]
async fn a_step_reads_4_096_records_and_the_next_one_goes_on_behind_them() {
    let (ada, counting) = owner(4_500, |place| (100..4_400).contains(&place)).await;
    assert_eq!(step(&ada, &counting).await, (4_096, 100));
    // Without a pause, as there is more.
    assert_eq!(step(&ada, &counting).await, (404, 100));
    assert_eq!(step(&ada, &counting).await, (0, 0));
    let left = ada.records(&Filter::All, None, 5_000).await.unwrap();
    assert!(left.len() == 4_300 && left.iter().all(|row| row.record.hold), "{} are left", left.len());
}

#[tokio::test]
async fn a_step_forgets_about_a_thousand_records_and_the_next_one_the_rest() {
    let (ada, counting) = owner(1_500, |_| false).await;
    let (_, first) = step(&ada, &counting).await;
    assert!((1_000..1_256).contains(&first), "{first} lapsed in one step");
    assert_eq!(step(&ada, &counting).await.1, 1_500 - first);
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_step_is_bounded_over_all_owners_together() {
    let (ada, counting) = owner(255, |_| false).await;
    for number in 1..16 {
        let other = ada.memory().of(&Scope::new("acme", &format!("other {number}")).unwrap());
        other.restore(&old(255, |_| false)).await.unwrap();
    }
    let mut lapsed = 0;
    while lapsed < 16 * 255 {
        let (read, forgotten) = step(&ada, &counting).await;
        assert!(read <= 4_096 && (1..1_256).contains(&forgotten), "{forgotten} of {read} lapsed in one step");
        lapsed += forgotten;
    }
}
