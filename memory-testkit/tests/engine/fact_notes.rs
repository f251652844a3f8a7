//! What is noted for those who find facts: a stretch that is refused again and again, and what a forget tells of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::Forget;
use memory_core::extract::{ExtractRequest, Extractor, Operation, RuleExtractor};
use memory_core::{Error, Filter, Result};

use crate::bench::{Bench, Taps};

/// Finds facts by rules, but in no stretch that names Mallory.
#[derive(Debug)]
struct Picky;

#[async_trait]
impl Extractor for Picky {
    fn name(&self) -> &str {
        "picky-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        let mut messages = request.messages.iter().filter_map(|row| row.message.as_ref());
        if messages.any(|message| message.text().contains("Mallory")) {
            return Err(Error::invalid("the answer is none"));
        }
        RuleExtractor.extract(request).await
    }
}

#[tokio::test]
async fn a_stretch_whose_answers_are_refused_is_passed_over_in_the_end() {
    let bench = Bench::with(Taps::default(), |builder| builder.extractor(Arc::new(Picky))).await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("Mallory says hello.")]).await.unwrap();
    talk.append(bench.chatter(10)).await.unwrap();
    talk.append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    let mut dead = 0;
    for _ in 0..8 {
        dead += bench.memory.upkeep_once().await.unwrap().dead;
        bench.clock.advance(Duration::from_secs(4_096));
    }
    let current = Filter::current(bench.memory.now());
    let found = bench.owner("ada").records(&current, None, 10).await.unwrap();
    let texts: Vec<&str> = found.iter().map(|stored| stored.record.text.as_str()).collect();
    assert_eq!((texts, dead), (vec!["user: I live in Lisbon"], 0));
}

#[tokio::test]
async fn a_forget_is_complete_although_somebody_finds_facts() {
    let bench = Bench::with(Taps::default(), |builder| builder.extractor(Arc::new(RuleExtractor))).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let said = bench.user("I live in Lisbon.");
    let id = said.id;
    talk.append(vec![said, bench.user("Please water the plants.")]).await.unwrap();
    bench.tend().await;
    let receipt = ada.forget(&Forget::Messages(vec![id])).await.unwrap();
    assert!(receipt.complete && receipt.unasked.is_empty(), "{receipt:?}");
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap(), []);
}

/// Finds nothing, and counts how many messages it was shown.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

#[async_trait]
impl Extractor for Counting {
    fn name(&self) -> &str {
        "counting-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        self.0.fetch_add(request.messages.len(), Ordering::Relaxed);
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_forget_has_nothing_read_again_for_facts() {
    let counting = Arc::new(Counting::default());
    let extractor = Arc::clone(&counting);
    let bench = Bench::with(Taps::default(), |builder| builder.extractor(extractor)).await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let said: Vec<_> = ["one", "two", "three"].iter().map(|text| bench.user(text)).collect();
    let id = said[1].id;
    talk.append(said).await.unwrap();
    bench.tend().await;
    assert_eq!(counting.0.load(Ordering::Relaxed), 3);
    assert!(ada.forget(&Forget::Messages(vec![id])).await.unwrap().complete);
    bench.tend().await;
    assert_eq!(counting.0.load(Ordering::Relaxed), 3);
    // What is said instead is new.
    talk.append(vec![bench.user("two and a half")]).await.unwrap();
    bench.tend().await;
    assert_eq!(counting.0.load(Ordering::Relaxed), 4);
}
