//! Counting tokens, and the figures of a conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Remember, Remembered, Scoped, Search};
use memory_core::model::{CounterId, TokenCounter};
use memory_core::novelty::Gate;
use memory_core::reference::MemText;
use memory_core::store::chat::Page;
use memory_core::time::Stopwatch;
use memory_core::window::{BufferConfig, Folding, HeuristicCounter, MemoryStats};
use memory_core::{Error, Filter, ItemId, Message, MessageId, Role, StoredRecord};
use memory_testkit::doubles::EmbedderMode;
use tokio::task::JoinHandle;

use crate::bench::{Bench, Taps};

/// A counter that goes on with a long message only once a task beside it has run meanwhile.
#[derive(Debug, Default)]
struct Waiting {
    has_begun: AtomicBool,
    has_run: AtomicBool,
}

impl Waiting {
    /// Returns such a counter, and the task that runs beside it.
    fn beside() -> (Arc<Self>, JoinHandle<()>) {
        let counter = Arc::new(Self::default());
        let seen = Arc::clone(&counter);
        let task = tokio::spawn(async move {
            while !seen.has_begun.load(Ordering::Acquire) {
                tokio::task::yield_now().await;
            }
            seen.has_run.store(true, Ordering::Release);
        });
        (counter, task)
    }
}

impl TokenCounter for Waiting {
    fn name(&self) -> &str {
        "waiting"
    }

    fn count(&self, message: &Message) -> u64 {
        let begun = Stopwatch::start();
        while message.encoded_len() > 10_000 && !self.has_run.load(Ordering::Acquire) {
            self.has_begun.store(true, Ordering::Release);
            assert!(begun.elapsed() < Duration::from_secs(60), "no other task ran");
            std::thread::sleep(Duration::from_millis(1));
        }
        HeuristicCounter.count(message)
    }

    fn count_text(&self, text: &str) -> u64 {
        HeuristicCounter.count_text(text)
    }
}

/// A story that takes long to count.
fn story(bench: &Bench) -> Message {
    bench.user(&"a long story about roses ".repeat(4_000))
}

#[tokio::test(flavor = "current_thread")]
async fn s2_12_counting_a_long_message_holds_up_no_other_task() {
    let (counter, beside) = Waiting::beside();
    let bench = Bench::with(Taps::default(), |builder| builder.counter(counter)).await;
    bench.session("ada").append(vec![story(&bench)]).await.unwrap();
    beside.await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn s2_12_restoring_a_long_message_holds_up_no_other_task() {
    let from = Bench::new().await.session("ada");
    let (counter, beside) = Waiting::beside();
    let bench = Bench::with(Taps::default(), |builder| builder.counter(counter)).await;
    from.append(vec![story(&bench)]).await.unwrap();
    let mut rows = from.read(&Page::newest(1)).await.unwrap().messages;
    rows[0].counter = CounterId::UNKNOWN;
    bench.session("ada").restore(&rows).await.unwrap();
    beside.await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn s2_12_recounting_a_long_message_for_a_fold_holds_up_no_other_task() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![story(&bench), bench.say(Role::Assistant, "A fine story.")]).await.unwrap();
    talk.append(bench.chatter(5)).await.unwrap();
    let (counter, beside) = Waiting::beside();
    let keeper = bench.elsewhere().text(Arc::new(MemText::new(Analysis::english().name()))).counter(counter);
    let keeper = keeper.buffer(BufferConfig::default().with_limit(1_500)).build().await.unwrap();
    let report = keeper.upkeep_once().await.unwrap();
    assert!(report.summarised > 0 && report.failures.is_empty(), "{report:?}");
    beside.await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn s2_12_recounting_a_long_message_for_a_context_holds_up_no_other_task() {
    let bench = Bench::new().await;
    let talk = bench.session("ada");
    talk.append(vec![story(&bench), bench.say(Role::Assistant, "A fine story.")]).await.unwrap();
    let (counter, beside) = Waiting::beside();
    let reader = bench.elsewhere().counter(counter).build().await.unwrap();
    let there = reader.of(bench.owner("ada").scope()).session(talk.id());
    let context = there.context("", 100_000).await.unwrap();
    assert_eq!((context.parts.len(), context.receipt.recounted), (2, 2));
    beside.await.unwrap();
}

#[tokio::test]
async fn s4_12_a_conversation_tells_its_figures() {
    let config = BufferConfig::default().with_capacity_messages(10).with_limit(5_000);
    let bench = Bench::with(Taps::default(), |builder| builder.buffer(config)).await;
    let talk = bench.session("ada");
    talk.append(bench.chatter(10)).await.unwrap();
    let tokens = talk.state().await.unwrap().active_tokens;
    let stats = MemoryStats { total_entries: 20, total_tokens: tokens, capacity: 5_000, ..MemoryStats::default() };
    assert_eq!(talk.stats().await.unwrap(), stats);
    bench.memory.upkeep_once().await.unwrap();
    let folded = talk.stats().await.unwrap();
    assert_eq!((folded.total_entries, folded.summarization_count, folded.eviction_count), (11, 1, 10));
    assert!(folded.total_tokens < tokens);
    let archiving = talk.with(config.with_capacity_messages(4).with_folding(Folding::Archive)).unwrap();
    archiving.append(bench.chatter(1)).await.unwrap();
    bench.memory.upkeep_once().await.unwrap();
    let left = archiving.stats().await.unwrap();
    assert_eq!((left.total_entries, left.summarization_count, left.eviction_count), (5, 1, 18));
}

#[tokio::test]
async fn s3_12_what_is_remembered_for_a_while_has_a_life_and_a_length() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.remember(Remember::new("context", "Ada is on the train").short_term()).await.unwrap();
    ada.remember(Remember::new("context", "Ada is in Porto").long_term()).await.unwrap();
    let known = async |words: &str| !ada.search(&Search::new(words)).await.unwrap().hits.is_empty();
    bench.clock.advance(Duration::from_secs(3_599));
    assert!(known("train").await && known("Porto").await);
    bench.clock.advance(Duration::from_secs(1));
    assert!(!known("train").await && known("Porto").await);
    bench.clock.advance(Duration::from_secs(86_400 - 3_600));
    assert!(!known("Porto").await);
    let long = Remember::new("context", "é".repeat(5_001));
    assert!(matches!(ada.remember(long.clone().short_term()).await, Err(Error::Invalid { .. })));
    ada.remember(Remember::new("context", "é".repeat(5_000)).short_term()).await.unwrap();
    ada.remember(long).await.unwrap();
}

#[tokio::test]
async fn s3_13_kari_asks_for_five() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    for number in 0..8 {
        ada.remember(Remember::fact(format!("Rose {number} stands in bed {number}"))).await.unwrap();
    }
    bench.tend().await;
    assert_eq!(ada.recall(&Search::kari("the roses")).await.unwrap().hits.len(), 5);
}

#[tokio::test]
async fn s4_11_several_questions_are_answered_in_their_order() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    for number in 0..30 {
        ada.remember(Remember::fact(format!("Plant number {number} stands in the bed of {number} stones")))
            .await
            .unwrap();
    }
    bench.tend().await;
    let searches: Vec<Search> = (0..30).map(|number| Search::new(format!("plant number {number}")).limit(1)).collect();
    let (other, same) = (ada.clone(), searches.clone());
    let before = bench.embedder.asked();
    let answers = tokio::spawn(async move { other.recall_many(&same).await }).await.unwrap().unwrap();
    assert_eq!(bench.embedder.asked() - before, 1, "all questions are embedded in one batch");
    for (search, answer) in searches.iter().zip(&answers) {
        assert_eq!(answer.hits, ada.search(search).await.unwrap().hits);
    }
    assert_eq!(answers.len(), 30);
    let bad = [Search::new("plants"), Search::new("plants").limit(0)];
    assert!(matches!(ada.recall_many(&bad).await, Err(Error::Invalid { .. })));
    // One question that the embedder refuses is answered by its words, and the others by their meaning too.
    bench.embedder.set(EmbedderMode::Refuses("nettle"));
    let some = ["nettle bed", "stones of plants", "beds of stones"].map(Search::new);
    let degraded = ada.recall_many(&some).await.unwrap().into_iter().map(|answer| answer.receipt.degraded.len());
    assert_eq!(degraded.collect::<Vec<_>>(), [1, 0, 0]);
}

#[tokio::test]
async fn many_things_are_remembered_as_each_alone_would_be() {
    let bench = Bench::new().await;
    let (ada, bob) = (bench.owner("ada"), bench.owner("bob"));
    let said = bench.user("I have a cat and a dog.");
    let source = ItemId::Message(said.id);
    for owner in [&ada, &bob] {
        owner.session(&crate::bench::session("talk")).append(vec![said.clone()]).await.unwrap();
        owner.remember(Remember::fact("Ada has a cat")).await.unwrap();
    }
    let numbered = (0..600).map(|number| Remember::fact(format!("Plant number {number} wants water")));
    let mut all: Vec<Remember> = numbered.collect();
    all.push(Remember::fact("ada has a cat!").with_tag("pets"));
    all.push(Remember::fact("Ada has a dog").with_source(source.clone()));
    all.push(Remember::fact("Ada has a dog").with_tag("pets"));
    all.push(Remember::preference("Ada likes tea").with_ttl(Duration::from_secs(60)));
    let receipts = ada.remember_all(all.clone()).await.unwrap();
    let mut alone = Vec::new();
    for remember in all.clone() {
        alone.push(bob.remember(remember).await.unwrap());
    }
    assert_eq!(receipts, alone);
    let outcomes: Vec<Remembered> = receipts[600..].iter().map(|receipt| receipt.outcome).collect();
    assert_eq!(outcomes, [Remembered::Reinforced, Remembered::Stored, Remembered::Reinforced, Remembered::Stored]);
    let records = |owner: Scoped| async move { owner.records(&Filter::All, None, 1_000).await.unwrap() };
    assert_eq!(records(ada.clone()).await.len(), 603);
    let contents = |stored: Vec<StoredRecord>| stored.into_iter().map(|stored| stored.record).collect::<Vec<_>>();
    assert_eq!(contents(records(ada.clone()).await), contents(records(bob).await));
    // A repeated call adds tellings, and no record.
    ada.remember_all(all.clone()).await.unwrap();
    assert_eq!(records(ada.clone()).await.len(), 603);
    // What passes a gate is told for itself, although the same words are written beside it.
    let cat =
        [Remember::fact("Ada has a hen").with_tag("farm").gated(Gate::default()), Remember::fact("Ada has a hen")];
    let told = ada.remember_all(cat.into()).await.unwrap();
    assert_eq!(ada.get(&[told[0].id]).await.unwrap()[0].record.tags(), ["farm"]);
    ada.forget(&Forget::Records(vec![told[0].id])).await.unwrap();
    // Nothing is stored if one of them cannot be.
    let bad = vec![Remember::fact("Ada has a bird"), Remember::fact("").with_ttl(Duration::ZERO)];
    assert!(matches!(ada.remember_all(bad).await, Err(Error::Invalid { .. })));
    let orphan = Remember::fact("Ada has a fish").with_source(ItemId::Message(MessageId::fresh()));
    assert!(matches!(
        ada.remember_all(vec![Remember::fact("Ada has a bird"), orphan]).await,
        Err(Error::Invalid { .. })
    ));
    assert_eq!(records(ada.clone()).await.len(), 603);
    // What was derived is forgotten with its source, as ever.
    ada.forget(&Forget::Messages(vec![said.id])).await.unwrap();
    assert!(
        ada.search(&Search::new("dog"))
            .await
            .unwrap()
            .hits
            .iter()
            .all(|hit| hit.content.text() != "I have a cat and a dog.")
    );
    assert_eq!(ada.remember_all(Vec::new()).await.unwrap(), []);
}
