//! A bound on the number of records, where there are many: a count holds up nothing, and what it finds is forgotten without another.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Forget, Memory, Retained, Retention, Scoped};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::records::RecordStore as _;
use memory_core::{Filter, ItemId, Message, Record, RecordId, Role, Scope, SessionId, StoredRecord, Timestamp, Truth};
use memory_testkit::doubles::{Counting, Cut, Ending, ManualClock, Tapped};

/// An owner, the store of records, what was asked of it, and the time.
struct Bench {
    ada: Scoped,
    records: Arc<MemRecords>,
    counting: Arc<Counting>,
    cut: Arc<Cut>,
    clock: Arc<ManualClock>,
}

impl Bench {
    async fn with(retention: Retention, records: Vec<Record>) -> Self {
        let (counting, clock) = (Arc::new(Counting::default()), Arc::new(ManualClock::default()));
        let chat = Truth::chat(Arc::new(MemChat::default()));
        let (there, cut) = (Arc::new(MemRecords::default()), Arc::<Cut>::default());
        let truth = Truth::records(there.clone());
        let truth = truth.layered(|store| Arc::new(Tapped::new(store, counting.clone()).cut_by(cut.clone())));
        let builder = Memory::builder(chat, truth).clock(clock.clone());
        let memory = builder.retention(Retained::Everything, retention).build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let stored =
            |record: Record| StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 };
        ada.restore(&records.into_iter().map(stored).collect::<Vec<_>>()).await.unwrap();
        Self { ada, records: there, counting, cut, clock }
    }

    /// Takes a step, and returns how many records were read, and how much was forgotten.
    async fn step(&self) -> (u64, u64) {
        self.clock.advance(Duration::from_secs(10));
        self.counting.reset();
        let report = self.ada.memory().upkeep_once().await.unwrap();
        assert_eq!(report.failures, [""; 0]);
        (self.counting.rows("scan"), report.lapsed)
    }

    async fn left(&self) -> Vec<StoredRecord> {
        self.ada.records(&Filter::All, None, 5_000).await.unwrap()
    }
}

fn fact(text: String, importance: f32) -> Record {
    let mut record = Record::new("fact", text, Timestamp(0));
    record.first.importance = Some(importance);
    record
}

/// Returns so many records, each of which matters more than the one before.
fn plants(count: usize) -> Vec<Record> {
    (0..count).map(|n| fact(format!("Plant {n} stands on the balcony"), n as f32 / 10_000.0)).collect()
}

#[tokio::test]
async fn c33_a_count_of_many_records_holds_up_no_messages() {
    let retention = Retention::default().with_records(5_000).with_messages(1);
    let bench = Bench::with(retention, plants(4_200)).await;
    let talk = bench.ada.session(&SessionId::new("talk").unwrap());
    let said = ["one", "two", "three"].map(|text| Message::new(Role::User, text, Timestamp(0)));
    talk.append(said.to_vec()).await.unwrap();
    let (read, lapsed) = bench.step().await;
    assert!(read >= 4_200 && lapsed == 2, "{lapsed} lapsed, {read} records read");
    assert_eq!(bench.step().await, (0, 0));
    assert_eq!(bench.left().await.len(), 4_200);
}

#[tokio::test]
async fn c33_what_a_count_found_is_forgotten_over_several_steps_without_another() {
    let bench = Bench::with(Retention::default().with_records(500), plants(2_000)).await;
    let first = bench.step().await;
    assert_eq!(first.0, 2_000);
    assert!((1_000..1_256).contains(&first.1), "{} lapsed in one step", first.1);
    assert_eq!(bench.step().await, (0, 1_500 - first.1));
    assert_eq!(bench.step().await, (0, 0));
    let left = bench.left().await;
    assert!(left.len() == 500 && left.iter().all(|row| row.record.first.importance >= Some(0.15)), "{left:?}");
}

#[tokio::test]
async fn c33_a_record_that_matters_more_since_it_was_counted_stays() {
    let records = plants(2_000);
    let raised = records[1_400].id;
    let bench = Bench::with(Retention::default().with_records(500), records).await;
    bench.step().await;
    bench.ada.update(raised, |record| record.first.importance = Some(1.0)).await.unwrap();
    bench.step().await;
    let left = bench.left().await;
    assert_eq!((left.len(), left.iter().filter(|row| row.record.id == raised).count()), (500, 1));
}

#[tokio::test]
async fn c33_the_next_least_go_where_many_of_the_least_have_to_stay() {
    let sources: Vec<Record> = (0..1_100).map(|n| fact(format!("Nut {n} made Ada sick"), 0.0)).collect();
    let pinned = sources.chunks(20).enumerate().map(|(n, some)| {
        let mut record = fact(format!("Ada is allergic to nuts of kind {n}"), 0.9);
        record.first.pinned = true;
        record.first.sources = some.iter().map(|source| ItemId::Record(source.id)).collect();
        record
    });
    let pinned: Vec<Record> = pinned.collect();
    let others: Vec<Record> = (0..10).map(|n| fact(format!("Ada owns {n} hats"), 0.5)).collect();
    let all = [sources, pinned, others].concat();
    let most = all.len() as u64 - 6;
    let bench = Bench::with(Retention::default().with_records(most), all).await;
    assert_eq!(bench.step().await.1, 6);
    let left = bench.left().await;
    let others = left.iter().filter(|row| row.record.text.contains("hats")).count();
    assert_eq!((left.len() as u64, others), (most, 4));
}

/// Returns a memory whose owner has 1,500 records too many, and those 200 of them that matter most.
async fn crowded() -> (Bench, Vec<RecordId>) {
    let records = plants(2_000);
    let most = records[1_800..].iter().map(|record| record.id).collect();
    (Bench::with(Retention::default().with_records(500), records).await, most)
}

#[tokio::test]
async fn c33_what_was_forgotten_since_the_count_is_not_too_many_any_more() {
    for is_by_another_process in [false, true] {
        let (bench, most) = crowded().await;
        bench.step().await;
        if is_by_another_process {
            let most: Vec<(RecordId, u64)> = most.into_iter().map(|id| (id, 1)).collect();
            bench.records.delete(bench.ada.scope(), &most).await.unwrap();
        } else {
            bench.ada.forget(&Forget::Records(most)).await.unwrap();
        }
        bench.step().await;
        assert_eq!(bench.step().await.1, 0);
        assert_eq!(bench.left().await.len(), 500, "by another process: {is_by_another_process}");
    }
}

#[tokio::test]
async fn c33_what_is_forgotten_while_too_many_records_go_is_not_too_many_any_more() {
    let (bench, most) = crowded().await;
    bench.cut.arm_at("delete", Ending::IsDroppedAfter);
    let forgetting = async {
        bench.cut.reached().await;
        bench.ada.forget(&Forget::Records(most)).await.unwrap();
        bench.cut.resume();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        _ = bench.step() => {}
        () = forgetting => unreachable!("it waits for ever"),
    }
    bench.step().await;
    assert_eq!(bench.step().await.1, 0);
    assert_eq!(bench.left().await.len(), 500);
}
