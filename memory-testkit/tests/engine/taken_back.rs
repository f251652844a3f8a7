//! What indexes hold of a record once tellings of it were taken back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Remember, Scoped, Search};
use memory_core::record::Telling;
use memory_core::reference::MemText;
use memory_core::store::text::TextStore as _;
use memory_core::{Error, ItemId, Record, RecordId, Result, StoredRecord, Timestamp, Unit};
use memory_testkit::doubles::{EmbedderMode, Tap, Tapped};
use tokio::time::Instant;

use crate::bench::{Bench, Taps, session};

/// Lets every put fail while it is away.
#[derive(Debug, Default)]
struct Away(AtomicBool);

impl Tap for Away {
    fn enter(&self, call: &'static str) -> Result<()> {
        let is_refused = call == "put" && self.0.load(Ordering::SeqCst);
        if is_refused { Err(Error::Overloaded) } else { Ok(()) }
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

/// Returns a record that was told twice and is indexed, and the forget that takes the second telling back, which added a tag.
async fn told_twice(bench: &Bench, ada: &Scoped) -> (RecordId, Forget) {
    let said = bench.user("I live in Rome, and the code of my door is 4711.");
    let source = said.id;
    ada.session(&session("talk")).append(vec![said]).await.unwrap();
    let fact = || Remember::fact("Ada lives in Rome");
    let id = ada.remember(fact()).await.unwrap().id;
    let again = fact().with_source(ItemId::Message(source)).with_tag("door");
    assert_eq!(ada.remember(again).await.unwrap().id, id);
    bench.tend().await;
    (id, Forget::Messages(vec![source]))
}

#[tokio::test(start_paused = true)]
async fn a_forget_asks_no_embedder_and_is_complete_at_once() {
    let bench = Bench::with(Taps::default(), |builder| builder.kept_vectors(0)).await;
    let ada = bench.owner("ada");
    let (id, forget) = told_twice(&bench, &ada).await;
    let rome = Search::new("Rome").only(Unit::Record);
    let of_door = rome.clone().matching("tag = door".parse().unwrap());
    assert_eq!(ada.search(&of_door).await.unwrap().receipt.vector_candidates, 1);
    bench.embedder.set(EmbedderMode::HangsOn(""));
    let (begun, asked) = (Instant::now(), bench.embedder.asked());
    let receipt = ada.forget(&forget).await.unwrap();
    assert!(receipt.complete, "{receipt}");
    assert!(begun.elapsed() < Duration::from_secs(1), "it took {:?}", begun.elapsed());
    assert_eq!(bench.embedder.asked(), asked);
    bench.embedder.set(EmbedderMode::Well);
    let receipt = ada.search(&of_door).await.unwrap().receipt;
    assert_eq!((receipt.text_candidates, receipt.vector_candidates), (0, 0));
    // By words it is found all the while, by meaning once upkeep has embedded it.
    for is_near in [false, true] {
        let hits = ada.search(&rome).await.unwrap().hits;
        let found: Vec<_> = hits.iter().map(|hit| (&hit.item, hit.signals.cosine.is_some())).collect();
        assert_eq!(found, [(&ItemId::Record(id), is_near)]);
        bench.tend().await;
    }
}

#[tokio::test]
async fn a_repeated_forget_is_complete_once_the_index_that_failed_the_first_has_followed() {
    let (text, away) = (Arc::new(MemText::new(Analysis::english().name())), Arc::new(Away::default()));
    let tapped = Arc::new(Tapped::new(Arc::clone(&text), away.clone()));
    let bench = Bench::with(Taps::default(), |builder| builder.text(tapped)).await;
    let ada = bench.owner("ada");
    let (id, forget) = told_twice(&bench, &ada).await;
    let item = ItemId::Record(id);
    let told = ada.get(&[id]).await.unwrap()[0].version;
    away.0.store(true, Ordering::SeqCst);
    for call in ["the first call", "a repeat", "another repeat"] {
        let receipt = ada.forget(&forget).await.unwrap();
        assert!(!receipt.complete, "{call}: {receipt}");
        let indexed = text.versions(ada.scope(), std::slice::from_ref(&item)).await.unwrap();
        assert_eq!(indexed[0].1.revision, told, "{call}");
    }
    away.0.store(false, Ordering::SeqCst);
    let receipt = ada.forget(&forget).await.unwrap();
    assert!(receipt.complete, "{receipt}");
    let stored = ada.get(&[id]).await.unwrap()[0].version;
    let indexed = text.versions(ada.scope(), std::slice::from_ref(&item)).await.unwrap();
    assert!(stored > told && indexed[0].1.revision == stored, "{told}, {stored}, {indexed:?}");
    let of_door = Search::new("Rome").only(Unit::Record).matching("tag = door".parse().unwrap());
    assert_eq!(ada.search(&of_door).await.unwrap().receipt.text_candidates, 0);
}

#[tokio::test]
async fn a_repeated_forget_is_complete_once_very_many_records_have_followed() {
    let (text, away) = (Arc::new(MemText::new(Analysis::english().name())), Arc::new(Away::default()));
    let tapped = Arc::new(Tapped::new(Arc::clone(&text), away.clone()));
    let bench = Bench::with(Taps::default(), |builder| builder.text(tapped)).await;
    let ada = bench.owner("ada");
    let said = bench.user("I live in Rome, and the code of my door is 4711.");
    let (forget, source) = (Forget::Messages(vec![said.id]), ItemId::Message(said.id));
    ada.session(&session("talk")).append(vec![said]).await.unwrap();
    // More than are kept one by one.
    let told_twice = |number: usize| {
        let mut record = Record::new("fact", format!("Ada has house number {number}"), Timestamp(1));
        let sources = vec![source.clone()];
        let again = Telling { at: Timestamp(2), sources, tags: vec!["door".to_owned()], ..record.first.clone() };
        record.again = vec![again];
        StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 }
    };
    let rows: Vec<StoredRecord> = (0..1_010).map(told_twice).collect();
    ada.restore(&rows).await.unwrap();
    bench.tend().await;
    let items: Vec<ItemId> = rows.iter().map(|row| ItemId::Record(row.record.id)).collect();
    let followed = async || {
        let indexed = text.versions(ada.scope(), &items).await.unwrap();
        indexed.iter().filter(|(_, version)| version.revision > 1).count()
    };
    assert_eq!(text.versions(ada.scope(), &items).await.unwrap().len(), 1_010);
    away.0.store(true, Ordering::SeqCst);
    for call in ["the first call", "a repeat"] {
        let receipt = ada.forget(&forget).await.unwrap();
        assert!(!receipt.complete, "{call}: {receipt}");
        assert_eq!(followed().await, 0, "{call}");
    }
    away.0.store(false, Ordering::SeqCst);
    let receipt = ada.forget(&forget).await.unwrap();
    assert!(receipt.complete, "{receipt}");
    assert_eq!(followed().await, 1_010);
}
