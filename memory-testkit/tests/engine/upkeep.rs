//! Indexes follow truth, whatever fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memory_core::engine::{Remember, Search};
use memory_core::reference::MemText;
use memory_core::{Analysis, Error, Result};
use memory_testkit::doubles::{Counting, EmbedderMode, Faulty, Tap, When};

use crate::bench::{Bench, Taps, session};

async fn is_found_by_words(bench: &Bench, words: &str) -> bool {
    let found = bench.owner("ada").search(&Search::new(words)).await.unwrap();
    found.hits.iter().any(|hit| hit.signals.text.is_some())
}

#[tokio::test]
async fn a_fault_at_any_call_of_an_index_only_delays() {
    for when in [When::Before, When::LostAnswer] {
        for nth in 1..40 {
            let faulty = Arc::new(Faulty::at(nth, when));
            let taps = Taps { text: faulty.clone(), ..Taps::default() };
            let bench = Bench::with(taps, |builder| builder).await;
            let talk = bench.session("ada");
            talk.append(bench.chatter(3)).await.unwrap();
            bench.memory.upkeep_once().await.unwrap();
            talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
            bench.owner("ada").remember(Remember::fact("Boreas is a tulip")).await.unwrap();
            bench.memory.upkeep_once().await.unwrap();
            bench.clock.advance(Duration::from_secs(10));
            bench.memory.upkeep_once().await.unwrap();
            if !faulty.has_failed() {
                assert!(nth > 4, "the index is called");
                return;
            }
            assert!(is_found_by_words(&bench, "Aurora").await && is_found_by_words(&bench, "Boreas").await, "{nth}");
            let status = bench.memory.status().await;
            assert!(status.indexes.iter().all(|index| index.backlog.clone().unwrap().pending == 0), "{nth}");
        }
    }
}

#[tokio::test]
async fn vectors_that_an_index_refuses_are_reported_and_hide_no_other() {
    for mode in [EmbedderMode::NotANumber, EmbedderMode::WrongDimension, EmbedderMode::Zero] {
        let bench = Bench::new().await;
        bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
        bench.embedder.set(mode);
        let report = bench.memory.upkeep_once().await.unwrap();
        assert_eq!((report.rejected, report.failures.len()), (1, 1), "{mode:?}: {report:?}");
        bench.embedder.set(EmbedderMode::Well);
        assert!(is_found_by_words(&bench, "Aurora").await);
    }
}

#[tokio::test]
async fn long_sessions_and_many_records_are_indexed_in_batches() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let talk = ada.session(&session("talk"));
    talk.append(bench.chatter(700)).await.unwrap();
    for n in 0..150 {
        ada.remember(Remember::fact(format!("Plant {n} came in the year {}", 1800 + n))).await.unwrap();
    }
    let report = bench.memory.upkeep_once().await.unwrap();
    // Two indexes; the last message of each batch is put again with the next.
    assert!(report.indexed >= 2 * (1_400 + 150), "{report:?}");
    for words in ["plant 0 balcony", "plant 699 water", "1949"] {
        assert!(is_found_by_words(&bench, words).await, "{words}");
    }
    assert_eq!(bench.memory.upkeep_once().await.unwrap().indexed, 0);
}

#[tokio::test]
async fn a_message_is_found_by_the_words_of_the_one_that_follows() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("Which colour shall it be?")]).await.unwrap();
    bench.tend().await;
    talk.append(vec![bench.user("Vermilion")]).await.unwrap();
    bench.tend().await;
    let found = bench.owner("ada").search(&Search::new("vermilion")).await.unwrap();
    let by_words: Vec<String> =
        found.hits.iter().filter(|hit| hit.signals.text.is_some()).map(|hit| hit.content.text()).collect();
    assert_eq!(by_words, ["Vermilion", "Which colour shall it be?"]);
}

#[tokio::test]
async fn the_task_indexes_after_a_write_and_stops() {
    let bench = Bench::new().await;
    let task = bench.memory.upkeep();
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    let found = tokio::time::timeout(Duration::from_secs(20), async {
        while !is_found_by_words(&bench, "Aurora").await {
            tokio::task::yield_now().await;
        }
    });
    assert!(found.await.is_ok());
    task.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_task_begins_with_what_an_earlier_process_left() {
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let bench = Bench::with(Taps::default(), |builder| builder.text(text.clone())).await;
    bench.tend().await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    let later = bench.elsewhere().text(text).build().await.unwrap();
    let task = later.upkeep();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let scope = bench.owner("ada").scope().clone();
    assert_eq!(later.of(&scope).search(&Search::new("Aurora")).await.unwrap().hits.len(), 1);
    task.stop().await;
}

#[tokio::test]
async fn closing_writes_down_accesses_and_closes_every_store() {
    let counting = Arc::new(Counting::default());
    let taps = Taps { text: counting.clone(), vectors: counting.clone(), ..Taps::default() };
    let bench = Bench::with(taps, |builder| builder).await;
    let ada = bench.owner("ada");
    let id = ada.remember(Remember::fact("Boreas is a tulip")).await.unwrap().id;
    bench.tend().await;
    ada.recall(&Search::new("Boreas")).await.unwrap();
    bench.memory.close().await.unwrap();
    assert_eq!((counting.calls("close"), bench.chat.calls("close")), (2, 1));
    assert_eq!(ada.get(&[id]).await.unwrap()[0].access_count, 1);
    bench.memory.close().await.unwrap();
}

#[tokio::test]
async fn a_store_that_does_not_close_keeps_no_other_open() {
    let broken = Arc::new(Faulty::at(1, When::Before).of("close").lasting());
    let bench = Bench::with(Taps { text: broken, ..Taps::default() }, |builder| builder).await;
    assert!(bench.memory.close().await.is_err());
    assert_eq!(bench.chat.calls("close"), 1);
}

#[tokio::test]
async fn a_text_that_the_embedder_refuses_keeps_no_other_from_being_indexed() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::Refuses("poison"));
    let talk = bench.session("ada");
    talk.append(vec![bench.user("My rose is called Aurora."), bench.user("poison"), bench.user("Boreas is a tulip")])
        .await
        .unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.rejected, report.retried, report.dead), (1, 0, 0), "{report:?}");
    let found = bench.owner("ada").search(&Search::new("Aurora Boreas")).await.unwrap();
    let near = found.hits.iter().filter(|hit| hit.signals.cosine.is_some()).count();
    assert_eq!(near, 2, "{:?}", found.hits);
}

/// Fails the first put.
#[derive(Debug, Default)]
struct FirstPut(AtomicU64);

impl Tap for FirstPut {
    fn enter(&self, call: &'static str) -> Result<()> {
        let is_first = call == "put" && self.0.fetch_add(1, Ordering::SeqCst) == 0;
        if is_first { Err(Error::invalid("one of the entries is refused")) } else { Ok(()) }
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn notes_that_failed_together_are_tried_again_each_alone() {
    let puts = Arc::new(FirstPut::default());
    let bench = Bench::with(Taps { text: puts.clone(), ..Taps::default() }, |builder| builder).await;
    for name in ["one", "two", "three"] {
        let talk = bench.owner("ada").session(&session(name));
        talk.append(vec![bench.user(&format!("the flower of {name}"))]).await.unwrap();
    }
    assert_eq!(bench.memory.upkeep_once().await.unwrap().retried, 3);
    bench.clock.advance(Duration::from_secs(5));
    bench.tend().await;
    assert_eq!(puts.0.load(Ordering::SeqCst), 1 + 3);
}
