//! Models that panic, hang or fail for one text: each is an error like another, and holds up nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::engine::{Memory, Remember, Search, SearchResults, Stage};
use memory_core::model::{Embedder as _, TokenCounter};
use memory_core::reference::{MemChat, MemRecords, MemVectors};
use memory_core::window::HeuristicCounter;
use memory_core::{Error, ItemId, Message, Scope, Truth};
use memory_testkit::doubles::{EmbedderMode, FakeEmbedder, ManualClock};
use tokio::time::Instant;

use crate::bench::{Bench, Taps, session};

/// Returns how many of the hits were found by meaning.
fn near(found: &SearchResults) -> usize {
    found.hits.iter().filter(|hit| hit.signals.cosine.is_some()).count()
}

async fn search(bench: &Bench, words: &str) -> SearchResults {
    bench.owner("ada").search(&Search::new(words)).await.unwrap()
}

#[tokio::test]
async fn upkeep_goes_on_after_an_embedder_has_panicked() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::PanicsOn("poison"));
    let task = bench.memory.upkeep();
    let ada = bench.owner("ada");
    ada.session(&session("bad")).append(vec![bench.user("poison")]).await.unwrap();
    let given_up = tokio::time::timeout(Duration::from_secs(20), async {
        // Tried in vain and put off, and found by its words all the same.
        while search(&bench, "poison").await.hits.is_empty() {
            tokio::task::yield_now().await;
        }
        ada.session(&session("good")).append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
        while near(&search(&bench, "Aurora").await) == 0 {
            tokio::task::yield_now().await;
        }
    });
    assert!(given_up.await.is_ok());
    task.stop().await;
}

#[tokio::test]
async fn a_search_whose_embedder_panics_answers_by_words_and_says_so() {
    let bench = Bench::new().await;
    bench.session("ada").append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    bench.embedder.set(EmbedderMode::PanicsOn("secret"));
    let found = search(&bench, "Aurora secret").await;
    assert_eq!((found.hits.len(), near(&found)), (1, 0));
    let [degraded] = &found.receipt.degraded[..] else { panic!("{:?}", found.receipt.degraded) };
    assert_eq!(degraded.stage, Stage::Embed);
    assert!(degraded.why.contains("embedder") && !degraded.why.contains("secret"), "{degraded:?}");
}

#[tokio::test]
async fn vectors_that_are_no_good_lose_no_message_and_its_words_find_it() {
    use EmbedderMode::{NotANumber, TooFew, WrongDimension, Zero};
    for mode in [NotANumber, TooFew, WrongDimension, Zero] {
        let bench = Bench::new().await;
        bench.embedder.set(mode);
        let talk = bench.session("ada");
        talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
        bench.memory.upkeep_once().await.unwrap();
        let found = search(&bench, "Aurora").await;
        assert_eq!((found.hits.len(), near(&found)), (1, 0), "{mode:?}");
        let context = talk.context("What is my rose called?", 500).await.unwrap();
        assert!(context.messages().any(|message| message.text().contains("Aurora")), "{mode:?}");
        // What is said once it answers well is found by its meaning.
        bench.embedder.set(EmbedderMode::Well);
        talk.append(vec![bench.user("Boreas is a tulip")]).await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
        bench.memory.upkeep_once().await.unwrap();
        assert!(near(&search(&bench, "Boreas").await) > 0, "{mode:?}");
    }
}

/// Counts well until it is told to panic.
#[derive(Debug, Default)]
struct Fragile(AtomicBool);

impl Fragile {
    fn hold(&self) {
        assert!(!self.0.load(Ordering::SeqCst), "the counter broke down");
    }
}

impl TokenCounter for Fragile {
    fn name(&self) -> &str {
        "fragile"
    }

    fn count(&self, message: &Message) -> u64 {
        self.hold();
        HeuristicCounter.count(message)
    }

    fn count_text(&self, text: &str) -> u64 {
        self.hold();
        HeuristicCounter.count_text(text)
    }
}

#[tokio::test]
async fn a_counter_that_panics_fails_the_call_that_counts_and_no_other() {
    let counter = Arc::new(Fragile::default());
    let bench = Bench::with(Taps::default(), |builder| builder.counter(counter.clone())).await;
    let talk = bench.session("ada");
    talk.append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
    bench.tend().await;
    let promised = |error: Error| matches!(error, Error::Backend { backend: "counter", .. }) && !error.is_retryable();
    for _ in 0..2 {
        counter.0.store(true, Ordering::SeqCst);
        assert!(talk.append(vec![bench.user("Boreas is a tulip")]).await.is_err_and(promised));
        assert!(talk.context("Who is Aurora?", 500).await.is_err_and(promised));
        assert_eq!(search(&bench, "Aurora").await.hits.len(), 1);
        counter.0.store(false, Ordering::SeqCst);
        assert_eq!(talk.context("Who is Aurora?", 500).await.unwrap().receipt.history.kept_messages, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_that_the_embedder_never_answers_for_is_given_up_and_holds_up_no_other() {
    for mode in [EmbedderMode::FailsOn("poison"), EmbedderMode::HangsOn("poison")] {
        let bench = Bench::new().await;
        bench.embedder.set(mode);
        let (talk, poison) = (bench.session("ada"), bench.user("poison"));
        // More than one step of upkeep carries out: the last one waits until the poison is given up.
        let messages = [poison.clone()].into_iter().chain(bench.chatter(150));
        talk.append(messages.chain([bench.user("My rose is called Aurora.")]).collect()).await.unwrap();
        for attempt in 1..=5 {
            let report = bench.memory.upkeep_once().await.unwrap();
            let is_near = async |words: &str| search(&bench, words).await.hits[0].signals.cosine.is_some();
            assert!(is_near("Please water plant number 7 on the balcony.").await);
            assert_eq!(is_near("My rose is called Aurora.").await, attempt == 5, "{attempt}: {report:?}");
            assert_eq!((report.retried, report.rejected), if attempt < 5 { (1, 0) } else { (0, 1) }, "{report:?}");
            let named: Vec<_> = report.given_up.iter().map(|one| (&one.scope, &one.item)).collect();
            let (owner, item) = (bench.owner("ada").scope().clone(), ItemId::Message(poison.id));
            assert_eq!(named == [(&owner, &item)], attempt == 5);
            bench.clock.advance(Duration::from_secs(60));
        }
        talk.append(vec![bench.user("Boreas is a tulip")]).await.unwrap();
        bench.tend().await;
        assert!(near(&search(&bench, "Boreas").await) > 0);
        let counts = bench.memory.status().await.indexes.into_iter().map(|index| {
            let backlog = index.backlog.unwrap();
            (backlog.pending, backlog.dead, index.given_up)
        });
        assert_eq!(counts.collect::<Vec<_>>(), [(0, 0, 0), (0, 0, 1)]);
    }
}

#[tokio::test]
async fn the_other_texts_of_a_note_are_found_at_once() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::FailsOn("poison"));
    let talk = bench.session("ada");
    let texts = ["My rose is called Aurora.", "poison", "Boreas is a tulip", "Zephyr is a lily"];
    talk.append(texts.map(|text| bench.user(text)).to_vec()).await.unwrap();
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.retried, report.rejected, report.dead), (1, 0, 0), "{report:?}");
    assert_eq!(near(&search(&bench, "Aurora Boreas Zephyr").await), 3);
}

#[tokio::test]
async fn a_record_that_cannot_be_embedded_becomes_a_dead_letter() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::FailsOn("poison"));
    let id = bench.owner("ada").remember(Remember::fact("poison")).await.unwrap().id;
    for attempt in 1..=5 {
        let report = bench.memory.upkeep_once().await.unwrap();
        let named: Vec<_> = report.given_up.iter().map(|one| one.item.clone()).collect();
        let is_last = attempt == 5;
        assert_eq!((report.dead, named == [ItemId::Record(id)]), (usize::from(is_last), is_last), "{report:?}");
        bench.clock.advance(Duration::from_secs(60));
    }
    let status = bench.memory.status().await;
    assert_eq!(status.indexes[1].backlog.clone().unwrap().dead, 1);
}

#[tokio::test]
async fn what_was_given_up_is_tried_again_when_a_memory_is_opened_anew() {
    let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
    let (clock, embedder) = (Arc::new(ManualClock::default()), Arc::new(FakeEmbedder::new(32)));
    let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
    let open = async || {
        let memory = Memory::builder(chat.clone(), records.clone()).vectors(vectors.clone(), embedder.clone());
        memory.clock(clock.clone()).build().await.unwrap()
    };
    let dead = async |memory: &Memory| memory.status().await.indexes[0].backlog.clone().unwrap().dead;
    let (first, ada) = (open().await, Scope::new("acme", "ada").unwrap());
    embedder.set(EmbedderMode::FailsOn("poison"));
    first.of(&ada).remember(Remember::fact("poison")).await.unwrap();
    for _ in 0..5 {
        first.upkeep_once().await.unwrap();
        clock.advance(Duration::from_secs(60));
    }
    assert_eq!(dead(&first).await, 1);
    embedder.set(EmbedderMode::Well);
    first.upkeep_once().await.unwrap();
    assert_eq!(dead(&first).await, 1);
    let anew = open().await;
    assert_eq!((dead(&anew).await, anew.upkeep_once().await.unwrap().indexed), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_embedder_that_answers_nothing_is_asked_twice_in_a_pass_and_costs_no_note_an_attempt() {
    let bench = Bench::new().await;
    for owner in ["ada", "bob", "carol"] {
        bench.session(owner).append(vec![bench.user("My rose is called Aurora.")]).await.unwrap();
        bench.owner(owner).remember(Remember::fact("Boreas is a tulip")).await.unwrap();
    }
    for mode in [EmbedderMode::Fails, EmbedderMode::HangsOn("")] {
        bench.embedder.set(mode);
        for _ in 0..10 {
            let before = bench.embedder.asked();
            assert_eq!(bench.memory.upkeep_once().await.unwrap().dead, 0);
            assert!(bench.embedder.asked() - before <= 2);
        }
    }
    // It answers again: at once, everything is due, and what fails now for the first time is not given up.
    bench.embedder.set(EmbedderMode::FailsOn("Boreas"));
    let report = bench.memory.upkeep_once().await.unwrap();
    assert_eq!((report.retried, report.dead), (3, 0), "{report:?}");
    assert!(near(&search(&bench, "Aurora").await) > 0);
}

#[tokio::test(start_paused = true)]
async fn several_questions_wait_together_for_an_embedder_that_never_answers() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.remember(Remember::fact("Aurora is a rose")).await.unwrap();
    bench.tend().await;
    assert_eq!(near(&search(&bench, "the rose").await), 1);
    bench.embedder.set(EmbedderMode::HangsOn(""));
    let begun = Instant::now();
    let alone = search(&bench, "a rose").await;
    let patience = begun.elapsed();
    assert_eq!((alone.hits.len(), near(&alone)), (1, 0));
    let numbered = (0..20).map(|number| Search::new(format!("rose number {number}")));
    let questions: Vec<Search> = numbered.chain([Search::new("the rose")]).collect();
    let (begun, asked) = (Instant::now(), bench.embedder.asked());
    let answers = ada.recall_many(&questions).await.unwrap();
    assert!(begun.elapsed() < patience * 3 / 2, "{:?}, and {patience:?} for one", begun.elapsed());
    assert_eq!(bench.embedder.asked() - asked, 1);
    let (last, others) = answers.split_last().unwrap();
    for answer in others {
        let stages: Vec<Stage> = answer.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
        assert_eq!((answer.hits.len(), near(answer), stages), (1, 0, vec![Stage::Embed]));
    }
    // The vector of a question asked before is there.
    assert_eq!((near(last), &last.receipt.degraded), (1, &vec![]));
}
