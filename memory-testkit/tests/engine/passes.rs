//! A pass of upkeep ends, whatever fails or hangs, and one failure stops nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Remember, Scoped, Search};
use memory_core::methods::*;
use memory_core::record::Record;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::store::records::{Expect, Put};
use memory_core::store::upkeep::Target;
use memory_core::{Error, Message, Role, Truth};
use memory_testkit::broken_store;
use memory_testkit::doubles::{Counting, EmbedderMode, Faulty, ManualClock, Tapped, When};

use crate::bench::Bench;

/// What a settlement does for the owner `bad`.
#[derive(Clone, Copy, Debug)]
enum Settlement {
    /// Nothing, and says that it is done.
    Ignored,
    /// Fails, with all that are settled together.
    Fails,
    /// Is made, and the record is changed at once.
    Overtaken,
}

memory_core::store_methods!(Store, Upkeep => broken_store { Arc<MemRecords> {} });

/// The upkeep of records, broken for one owner.
#[derive(Debug)]
struct BadOwner {
    settlement: Settlement,
    is_mended: AtomicBool,
}

#[async_trait]
impl Break for BadOwner {
    async fn settle(&self, inner: &Arc<MemRecords>, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let is_bad = |note: &Note| note.scope.subject() == "bad" && !self.is_mended.load(Ordering::SeqCst);
        match self.settlement {
            Settlement::Fails if notes.iter().any(|(note, _)| is_bad(note)) => {
                Err(Error::corrupt("test", "the owner's notes are damaged"))
            }
            Settlement::Ignored | Settlement::Fails => {
                let others: Vec<_> = notes.iter().filter(|(note, _)| !is_bad(note)).cloned().collect();
                inner.settle(index, &others).await
            }
            Settlement::Overtaken => {
                inner.settle(index, notes).await?;
                for (note, _) in notes.iter().filter(|(note, _)| is_bad(note)) {
                    let Target::Record(id) = note.target else { continue };
                    let record =
                        Record { id, ..Record::new("fact", format!("version {}", note.upto.0 + 1), Timestamp(0)) };
                    let puts = vec![Put { record: Arc::new(record), expect: Expect::Anything }];
                    inner.put(&note.scope, &RecordBatch { fence: None, puts }).await?;
                }
                Ok(())
            }
        }
    }
}

/// Returns a memory whose records have a broken upkeep.
async fn broken(settlement: Settlement) -> (Arc<Mutant<BadOwner>>, Memory) {
    let inner = Arc::new(MemRecords::default());
    let truth: Truth<dyn RecordStore> = Truth::records(Arc::clone(&inner));
    let broken = Arc::new(Mutant { inner, broken: BadOwner { settlement, is_mended: AtomicBool::new(false) } });
    let here = Arc::clone(&broken);
    let memory = over(Truth::chat(Arc::new(MemChat::default())), truth.layered_upkeep(|_| here)).await;
    (broken, memory)
}

async fn over(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>) -> Memory {
    let text = Arc::new(MemText::new(Analysis::english().name()));
    Memory::builder(chat, records).text(text).build().await.unwrap()
}

fn owner(memory: &Memory, subject: &str) -> Scoped {
    memory.of(&Scope::new("acme", subject).unwrap())
}

#[tokio::test]
async fn an_owner_whose_notes_cannot_be_settled_stops_no_other() {
    for settlement in [Settlement::Ignored, Settlement::Fails] {
        let (broken, memory) = broken(settlement).await;
        // More of the bad owner's than are read together, before and behind those of the others.
        for n in 0..300 {
            owner(&memory, "bad").remember(Remember::fact(format!("plant {n}"))).await.unwrap();
            if n % 100 == 50 {
                owner(&memory, &format!("good {n}")).remember(Remember::fact("the rose Aurora")).await.unwrap();
            }
        }
        let report = memory.upkeep_once().await.unwrap();
        assert_eq!((report.indexed, report.failures.len()), (303, 1), "{report:?}");
        for n in [50, 150, 250] {
            let found = owner(&memory, &format!("good {n}")).search(&Search::new("Aurora")).await.unwrap();
            assert_eq!(found.hits.len(), 1);
        }
        let pending = async || memory.status().await.indexes[0].backlog.clone().unwrap().pending;
        assert_eq!(pending().await, 300);
        broken.broken.is_mended.store(true, Ordering::SeqCst);
        assert_eq!(memory.upkeep_once().await.unwrap().failures, [""; 0]);
        assert_eq!(pending().await, 0);
    }
}

#[tokio::test]
async fn a_truth_store_that_fails_stops_no_other_and_upkeep_fails_only_if_none_answers() {
    fn mute(upkeep: Arc<dyn Upkeep>) -> Arc<dyn Upkeep> {
        Arc::new(Tapped::new(upkeep, Arc::new(Faulty::at(1, When::Before).of("pending").lasting())))
    }
    let chat = || Truth::chat(Arc::new(MemChat::default())).layered_upkeep(mute);
    let records = || -> Truth<dyn RecordStore> { Truth::records(Arc::new(MemRecords::default())) };
    let memory = over(chat(), records()).await;
    owner(&memory, "ada").remember(Remember::fact("the rose Aurora")).await.unwrap();
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.indexed, report.failures.len()), (1, 1), "{report:?}");
    let memory = over(chat(), records().layered_upkeep(mute)).await;
    assert!(matches!(memory.upkeep_once().await, Err(Error::Backend { backend: "faulty", .. })));
}

#[tokio::test]
async fn what_a_sweep_deleted_is_counted_although_the_next_one_fails() {
    let (clock, minute) = (Arc::new(ManualClock::default()), Duration::from_secs(60));
    let faulty = Arc::new(Faulty::at(2, When::Before).of("sweep"));
    let records: Truth<dyn RecordStore> = Truth::records(Arc::new(MemRecords::default()));
    let records = records.layered_upkeep(|upkeep| Arc::new(Tapped::new(upkeep, faulty)));
    let chat = Truth::chat(Arc::new(MemChat::default()));
    let memory = Memory::builder(chat, records).clock(clock.clone()).build().await.unwrap();
    owner(&memory, "ada").remember(Remember::fact("The door code is 4711.").with_ttl(minute)).await.unwrap();
    clock.advance(minute);
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.expired, report.failures.len()), (1, 1), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn closing_and_stopping_end_although_a_model_hangs_and_upkeep_goes_on_afterwards() {
    let bench = Bench::new().await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.embedder.set(EmbedderMode::HangsOn("Aurora"));
    let memory = bench.memory.clone();
    let pass = tokio::spawn(async move { memory.upkeep_once().await });
    while bench.embedder.asked() == 0 {
        tokio::task::yield_now().await;
    }
    bench.memory.close().await.unwrap();
    assert!(pass.await.unwrap().is_err_and(|error| error.is_retryable()));

    let task = bench.memory.upkeep();
    let before = bench.embedder.asked();
    bench.session("ada").append(vec![bench.user("Boreas is a tulip")]).await.unwrap();
    while bench.embedder.asked() == before {
        tokio::task::yield_now().await;
    }
    task.stop().await;
    bench.embedder.set(EmbedderMode::Well);
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("Aurora")).await.unwrap();
    assert!(found.hits[0].signals.cosine.is_some());
}

#[tokio::test(start_paused = true)]
async fn closing_ends_although_a_store_does_not_close() {
    let closed = Arc::new(Counting::default());
    let slow = |store| Arc::new(Tapped::new(store, Arc::new(Counting::default())).slow(Duration::from_secs(1_000_000)));
    let chat = Truth::chat(Arc::new(MemChat::default())).layered(|store| slow(store));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let records = records.layered(|store| Arc::new(Tapped::new(store, closed.clone())));
    let memory = Memory::builder(chat, records).build().await.unwrap();
    assert!(matches!(memory.close().await, Err(Error::Backend { doing: "close in time", .. })));
    assert_eq!(closed.calls("close"), 1);
}

#[tokio::test]
async fn a_note_that_failed_while_the_clock_was_a_year_ahead_is_tried_again() {
    let bench = Bench::new().await;
    let right = bench.memory.now();
    bench.clock.advance(Duration::from_secs(365 * 86_400));
    bench.embedder.set(EmbedderMode::FailsOn("Aurora"));
    let talk = bench.session("ada");
    let user = |text: &str| Message::new(Role::User, text, right);
    talk.append(vec![user("My rose is called Aurora.")]).await.unwrap();
    assert_eq!(bench.memory.upkeep_once().await.unwrap().retried, 1);
    bench.clock.set(right);
    bench.embedder.set(EmbedderMode::Well);
    talk.append(vec![user("Boreas is a tulip")]).await.unwrap();
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("Aurora Boreas")).await.unwrap();
    assert_eq!(found.hits.iter().filter(|hit| hit.signals.cosine.is_some()).count(), 2);
}

#[tokio::test]
async fn what_is_written_meanwhile_is_left_to_the_next_pass() {
    let (broken, memory) = broken(Settlement::Overtaken).await;
    owner(&memory, "bad").remember(Remember::fact("the rose Aurora")).await.unwrap();
    for _ in 0..3 {
        let report = memory.upkeep_once().await.unwrap();
        assert_eq!((report.indexed, report.failures.len()), (1, 0), "{report:?}");
    }
    broken.broken.is_mended.store(true, Ordering::SeqCst);
    assert_eq!(memory.upkeep_once().await.unwrap().indexed, 1);
    assert_eq!(memory.upkeep_once().await.unwrap().indexed, 0);
}
