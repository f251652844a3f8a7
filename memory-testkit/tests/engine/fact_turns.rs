//! An extractor that is slow holds up nothing, and no two processes ask it the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::{Memory, Scoped, Search};
use memory_core::extract::{ExtractRequest, Extractor, Operation, RuleExtractor};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::upkeep::IndexName;
use memory_core::{Error, Filter, Message, MessageId, Result, Role, Scope, Truth};
use memory_testkit::doubles::ManualClock;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};

use crate::bench::{Bench, Taps, session};

/// How long the extractor takes.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a person waits for the next prompt at most.
const PROMPT: Duration = Duration::from_secs(5);
const SECOND: Duration = Duration::from_secs(1);
/// Long enough for all that a test has found.
const LONG: Duration = Duration::from_secs(300);

/// Finds facts by rules, long after it was asked, and counts how often it was shown each message.
#[derive(Debug, Default)]
struct Slow {
    asked: AtomicUsize,
    shown: Mutex<HashMap<MessageId, usize>>,
    /// Whether it refuses to answer, at once.
    refuses: AtomicBool,
}

impl Slow {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Returns how many messages it was shown, and how often one of them at most.
    fn shown(&self) -> (usize, usize) {
        let shown = self.shown.lock().unwrap();
        (shown.len(), shown.values().copied().max().unwrap_or_default())
    }
}

#[async_trait]
impl Extractor for Slow {
    fn name(&self) -> &str {
        "slow-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        for row in &request.messages {
            *self.shown.lock().unwrap().entry(row.id).or_default() += 1;
        }
        if self.refuses.load(Ordering::SeqCst) {
            return Err(Error::invalid("the answer is none"));
        }
        sleep(ANSWER).await;
        RuleExtractor.extract(request).await
    }
}

async fn bench() -> (Bench, Arc<Slow>) {
    let slow = Arc::new(Slow::default());
    let extractor = Arc::clone(&slow);
    (Bench::with(Taps::default(), |builder| builder.extractor(extractor)).await, slow)
}

/// Makes a pass by hand, and returns how many facts it tells of and how long it took.
async fn pass(memory: &Memory) -> (usize, Duration) {
    let begun = Instant::now();
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!(report.failures, [""; 0]);
    (report.facts, begun.elapsed())
}

async fn known(owner: &Scoped) -> Vec<String> {
    let stored = owner.records(&Filter::All, None, 100).await.unwrap();
    let mut texts: Vec<String> = stored.iter().map(|stored| stored.record.text.clone()).collect();
    texts.sort();
    texts
}

/// Returns whether the index of meaning has a message with this word.
async fn is_indexed(owner: &Scoped, word: &str) -> bool {
    let found = owner.search(&Search::new(word)).await.unwrap();
    found.hits.iter().any(|hit| hit.content.text().contains(word) && hit.signals.cosine.is_some())
}

#[tokio::test(start_paused = true)]
async fn the_next_prompt_comes_while_facts_are_found_and_what_is_said_meanwhile_is_indexed() {
    let (bench, slow) = bench().await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    for (said, word) in [("I live in Lisbon.", "Lisbon"), ("I like tea.", "tea")] {
        talk.append(vec![bench.user(said)]).await.unwrap();
        let (facts, took) = pass(&bench.memory).await;
        assert!(facts == 0 && took <= PROMPT, "{took:?}");
        assert!(is_indexed(&ada, word).await, "{word}");
    }
    assert_eq!((slow.asked(), known(&ada).await), (1, vec![]));
    // The answers come although nobody waits for them.
    sleep(2 * ANSWER).await;
    assert_eq!(known(&ada).await, ["user: I like tea", "user: I live in Lisbon"]);
    assert_eq!((pass(&bench.memory).await.0, slow.shown()), (2, (2, 1)));
}

#[tokio::test(start_paused = true)]
async fn the_task_indexes_while_facts_are_found_and_a_pass_by_hand_throws_no_answer_away() {
    let (bench, slow) = bench().await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    let upkeep = bench.memory.upkeep();
    for (said, word) in [("I live in Lisbon.", "Lisbon"), ("I like tea.", "tea")] {
        talk.append(vec![bench.user(said)]).await.unwrap();
        sleep(SECOND).await;
        assert!(is_indexed(&ada, word).await, "{word}");
        assert_eq!(slow.asked(), 1);
    }
    let (facts, took) = pass(&bench.memory).await;
    assert!(facts == 0 && took <= PROMPT, "{took:?}");
    sleep(2 * ANSWER).await;
    assert_eq!(known(&ada).await, ["user: I like tea", "user: I live in Lisbon"]);
    assert_eq!(slow.shown(), (2, 1));
    upkeep.stop().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_has_no_time_waits_for_the_answer_under_way_alone() {
    let (bench, slow) = bench().await;
    for subject in ["ada", "bob"] {
        bench.session(subject).append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    }
    assert_eq!(pass(&bench.memory).await.0, 0);
    assert_eq!(bench.memory.find_facts(Duration::ZERO).await.unwrap().facts, 1);
    assert_eq!(slow.asked(), 1);
    assert_eq!(bench.memory.find_facts(LONG).await.unwrap().facts, 1);
    assert_eq!(slow.asked(), 2);
    let begun = Instant::now();
    assert_eq!(bench.memory.find_facts(LONG).await.unwrap().facts, 0);
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_extractor_that_is_retired_or_whose_task_is_stopped_is_asked_nothing_more() {
    for is_retired in [true, false] {
        let (bench, slow) = bench().await;
        let upkeep = bench.memory.upkeep();
        for subject in ["ada", "bob"] {
            bench.session(subject).append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
        }
        sleep(SECOND).await;
        let begun = Instant::now();
        if is_retired {
            bench.memory.retire(&IndexName::new("facts/slow-1").unwrap()).await.unwrap();
        } else {
            upkeep.stop().await;
        }
        assert!(begun.elapsed() <= Duration::from_secs(12), "{:?}", begun.elapsed());
        sleep(LONG).await;
        assert_eq!((slow.asked(), known(&bench.owner("ada")).await), (1, vec![]), "{is_retired}");
    }
}

/// Truth that several memories share, as processes do, and the model that all of them ask.
#[derive(Default)]
struct Ground {
    clock: Arc<ManualClock>,
    chat: Arc<MemChat>,
    records: Arc<MemRecords>,
    slow: Arc<Slow>,
}

impl Ground {
    async fn open(&self) -> Memory {
        let builder = Memory::builder(Truth::chat(self.chat.clone()), Truth::records(self.records.clone()));
        builder.extractor(self.slow.clone()).clock(self.clock.clone()).build().await.unwrap()
    }

    /// Has a process of its own say that Ada lives in Lisbon, ask about it and be killed.
    fn dies(&self) {
        runtime().block_on(async {
            let memory = self.open().await;
            let talk = ada(&memory).session(&session("talk"));
            if talk.state().await.unwrap().head.0 == 0 {
                talk.append(vec![Message::new(Role::User, "I live in Lisbon.", memory.now())]).await.unwrap();
            }
            memory.upkeep_once().await.unwrap();
        });
    }
}

fn ada(memory: &Memory) -> Scoped {
    memory.of(&Scope::new("acme", "ada").unwrap())
}

/// Returns a runtime of its own: what it runs is gone when it is dropped, as when a process is killed.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn two_processes_ask_about_each_stretch_once_and_share_the_work() {
    let ground = Ground::default();
    let (one, other) = (ground.open().await, ground.open().await);
    // Two stretches each.
    for subject in ["ada", "bob", "eve", "joe"] {
        let talk = one.of(&Scope::new("acme", subject).unwrap()).session(&session("talk"));
        let said = (0..20).map(|n| Message::new(Role::User, format!("I like dish {n}."), one.now()));
        talk.append(said.collect()).await.unwrap();
    }
    let begun = Instant::now();
    let (ours, theirs) = tokio::join!(one.find_facts(LONG), other.find_facts(LONG));
    let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
    assert_eq!((ours.failures, theirs.failures), (vec![], vec![]));
    assert_eq!((ours.facts + theirs.facts, ground.slow.asked(), ground.slow.shown()), (80, 8, (80, 1)));
    assert!(begun.elapsed() <= 5 * ANSWER, "{:?}", begun.elapsed());
}

#[test]
fn what_a_killed_process_has_asked_about_is_asked_again_when_its_time_is_over() {
    let ground = Ground::default();
    ground.dies();
    assert_eq!(ground.slow.asked(), 1);
    runtime().block_on(async {
        let memory = ground.open().await;
        for (seconds, asked) in [(0, 1), (89, 1), (2, 2)] {
            ground.clock.advance(Duration::from_secs(seconds));
            memory.find_facts(LONG).await.unwrap();
            assert_eq!(ground.slow.asked(), asked);
        }
        assert_eq!(known(&ada(&memory)).await, ["user: I live in Lisbon"]);
    });
}

#[test]
fn a_process_that_is_killed_again_and_again_uses_up_no_attempts() {
    let ground = Ground::default();
    for asked in 1..8 {
        ground.dies();
        assert_eq!(ground.slow.asked(), asked);
        ground.clock.advance(Duration::from_secs(91));
    }
    runtime().block_on(async {
        let memory = ground.open().await;
        ground.slow.refuses.store(true, Ordering::SeqCst);
        assert_eq!(memory.upkeep_once().await.unwrap().retried, 1);
        ground.slow.refuses.store(false, Ordering::SeqCst);
        ground.clock.advance(Duration::from_secs(91));
        assert_eq!(memory.find_facts(LONG).await.unwrap().facts, 1);
    });
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_closes_cuts_off_the_question_and_another_one_asks_later() {
    let ground = Ground::default();
    let memory = ground.open().await;
    let said = Message::new(Role::User, "I live in Lisbon.", memory.now());
    ada(&memory).session(&session("talk")).append(vec![said]).await.unwrap();
    memory.upkeep_once().await.unwrap();
    let begun = Instant::now();
    memory.close().await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(12), "{:?}", begun.elapsed());
    sleep(LONG).await;
    assert_eq!((ground.slow.asked(), known(&ada(&memory)).await), (1, vec![]));
    ground.clock.advance(Duration::from_secs(91));
    assert_eq!(ground.open().await.find_facts(LONG).await.unwrap().facts, 1);
}
