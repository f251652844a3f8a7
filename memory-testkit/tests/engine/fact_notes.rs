//! What is noted for those who find facts: a stretch that is refused again and again, and what a forget tells of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::Forget;
use memory_core::extract::{ExtractRequest, Extractor, Operation, RuleExtractor};
use memory_core::{Cause, Error, Filter, Result, Transience};

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

/// Fails so long as it is told to, and counts how often it was asked.
#[derive(Debug)]
struct Failing {
    transience: Transience,
    is_failing: AtomicBool,
    asked: AtomicUsize,
}

impl Failing {
    fn new(transience: Transience) -> Arc<Self> {
        Arc::new(Self { transience, is_failing: AtomicBool::new(true), asked: AtomicUsize::default() })
    }
}

#[async_trait]
impl Extractor for Failing {
    fn name(&self) -> &str {
        "failing-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.is_failing.load(Ordering::Relaxed) {
            let (transience, source) = (self.transience, Cause::new("no answer"));
            return Err(Error::Backend { backend: "model", doing: "answer", transience, source });
        }
        RuleExtractor.extract(request).await
    }
}

/// Tends a memory of three conversations for an hour, eight seconds between two passes, while the extractor fails, and a day later
/// when it answers. Returns how often it was asked in the hour.
async fn asked_while_failing(transience: Transience) -> usize {
    let failing = Failing::new(transience);
    let extractor = Arc::clone(&failing);
    let bench = Bench::with(Taps::default(), |builder| builder.extractor(extractor)).await;
    for subject in ["ada", "bob", "eve"] {
        bench.session(subject).append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    }
    for _ in 0..450 {
        assert_eq!(bench.memory.upkeep_once().await.unwrap().dead, 0);
        bench.clock.advance(Duration::from_secs(8));
    }
    let asked = failing.asked.load(Ordering::Relaxed);
    failing.is_failing.store(false, Ordering::Relaxed);
    bench.clock.advance(Duration::from_secs(86_400));
    bench.tend().await;
    for subject in ["ada", "bob", "eve"] {
        let found = bench.owner(subject).records(&Filter::All, None, 10).await.unwrap();
        assert_eq!(found.len(), 1, "{subject}");
    }
    asked
}

#[tokio::test]
async fn a_key_that_has_expired_loses_no_fact_and_is_tried_less_and_less_often() {
    let asked = asked_while_failing(Transience::Permanent).await;
    assert!((9..=30).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_model_that_is_late_is_not_paid_for_again_and_again() {
    let asked = asked_while_failing(Transience::Late).await;
    assert!((9..=30).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_model_is_asked_no_earlier_than_it_wishes() {
    let asked = asked_while_failing(Transience::Transient { after: Some(Duration::from_secs(3_000)) }).await;
    assert_eq!(asked, 6);
}
