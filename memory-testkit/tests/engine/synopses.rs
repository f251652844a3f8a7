//! Synopses and summarisers that fail, sources that go meanwhile, and what a synopsis saves.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::{Forget, Remember, Scoped, Synopsis, SynopsisConfig};
use memory_core::model::{Summarizer, Summary, SummaryRequest};
use memory_core::{Error, RecordId};
use memory_testkit::doubles::StillSummarizer;
use memory_testkit::fixture::Fixture;
use tokio::time::{Instant, sleep, timeout};

use crate::bench::{Bench, Taps, session};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Answers well at first, then as another.
#[derive(Debug)]
struct Turning(OnceLock<StillSummarizer>);

#[async_trait]
impl Summarizer for Turning {
    async fn summarize(&self, request: &SummaryRequest) -> memory_core::Result<Summary> {
        match self.0.get() {
            Some(other) => other.summarize(request).await,
            None => Ok(Summary { text: "Ada keeps bees.".to_owned(), by: "turning".to_owned() }),
        }
    }
}

/// The ways in which a summariser is of no use.
fn useless() -> Vec<StillSummarizer> {
    let said = ["", " \n ", &"babble ".repeat(2_000), &"x".repeat(10 << 20)].map(StillSummarizer::saying);
    said.into_iter().chain([StillSummarizer::Failing, StillSummarizer::Panicking, StillSummarizer::Hanging]).collect()
}

async fn with(summarizer: Arc<dyn Summarizer>) -> (Bench, Scoped) {
    let bench = Bench::with(Taps::default(), |builder| builder.summarizer(summarizer)).await;
    let ada = bench.owner("ada");
    ada.remember(Remember::fact("Ada keeps bees and reads Homer.")).await.unwrap();
    (bench, ada)
}

fn identity(synopsis: &Synopsis) -> (&str, &str) {
    synopsis.identity.as_ref().map_or(("", ""), |half| (half.text.as_str(), half.by.as_str()))
}

#[tokio::test(start_paused = true)]
async fn s1_14_what_is_there_stays_if_a_summariser_is_of_no_use_and_the_report_says_so() {
    for other in useless() {
        let name = format!("{other:?}").chars().take(40).collect::<String>();
        let turning = Arc::new(Turning(OnceLock::new()));
        let (bench, ada) = with(turning.clone()).await;
        ada.synopsis().await.unwrap();
        bench.tend().await;
        assert_eq!(identity(&ada.synopsis().await.unwrap()), ("Ada keeps bees.", "turning"));
        turning.0.set(other).unwrap();
        bench.clock.advance(7 * DAY);
        assert!(ada.synopsis().await.unwrap().identity.unwrap().is_stale);
        let report = bench.memory.upkeep_once().await.unwrap();
        assert_eq!((report.synopses, report.failures.len()), (0, 1), "{name}: {report:?}");
        assert_eq!(identity(&ada.synopsis().await.unwrap()), ("Ada keeps bees.", "turning"), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn s1_14_an_extract_stands_in_where_nothing_is_told_yet() {
    for useless in useless() {
        let (bench, ada) = with(Arc::new(useless)).await;
        ada.synopsis().await.unwrap();
        let report = bench.memory.upkeep_once().await.unwrap();
        assert_eq!((report.synopses, report.failures.len()), (1, 1), "{report:?}");
        assert_eq!(identity(&ada.synopsis().await.unwrap()), ("- Ada keeps bees and reads Homer.", "extractive"));
    }
}

#[tokio::test(start_paused = true)]
async fn s1_14_c17_no_call_waits_for_a_summariser() {
    let (bench, ada) = with(Arc::new(StillSummarizer::Hanging)).await;
    let talk = ada.session(&session("talk"));
    talk.append(vec![bench.user("Hello")]).await.unwrap();
    let upkeep = bench.memory.upkeep();
    let start = Instant::now();
    for _ in 0..10 {
        assert_eq!(ada.synopsis().await.unwrap(), Synopsis::default());
        assert!(talk.context("Hello", 1_000).await.unwrap().receipt.synopsis.is_none());
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    drop(upkeep);
}

#[tokio::test(start_paused = true)]
async fn s1_14_what_was_told_since_keeps_a_half_stale_until_it_is_built_anew() {
    // The pass that hangs is cut off.
    for other in [StillSummarizer::Failing, StillSummarizer::Hanging] {
        let turning = Arc::new(Turning(OnceLock::new()));
        let (bench, ada) = with(turning.clone()).await;
        ada.synopsis().await.unwrap();
        bench.tend().await;
        assert!(!ada.synopsis().await.unwrap().identity.unwrap().is_stale);
        ada.remember(Remember::fact("Ada moved to Cork last winter.")).await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
        let name = format!("{other:?}");
        turning.0.set(other).unwrap();
        let _ = timeout(Duration::from_secs(1), bench.memory.upkeep_once()).await;
        sleep(Duration::from_millis(1)).await;
        assert!(ada.synopsis().await.unwrap().identity.unwrap().is_stale, "{name}");
    }
}

/// Looks at what it is to tell anew, and tells something else meanwhile, the first time.
#[derive(Debug, Default)]
struct Looking {
    owner: OnceLock<Scoped>,
    tells: Option<&'static str>,
    /// Whether the half was stale each time.
    seen: Mutex<Vec<bool>>,
}

#[async_trait]
impl Summarizer for Looking {
    async fn summarize(&self, _: &SummaryRequest) -> memory_core::Result<Summary> {
        if let Some(owner) = self.owner.get() {
            let is_stale = owner.synopsis().await?.identity.is_some_and(|half| half.is_stale);
            let is_first = self.seen.lock().unwrap().is_empty();
            self.seen.lock().unwrap().push(is_stale);
            if let Some(tells) = self.tells.filter(|_| is_first) {
                owner.remember(Remember::fact(tells)).await?;
            }
        }
        Ok(Summary { text: "Ada keeps bees.".to_owned(), by: "looking".to_owned() })
    }
}

#[tokio::test]
async fn s1_14_a_half_is_stale_while_it_is_built_anew_and_afterwards_if_something_was_told_meanwhile() {
    for tells in [None, Some("Ada sold her house.")] {
        let looking = Arc::new(Looking { tells, ..Looking::default() });
        let (bench, ada) = with(looking.clone()).await;
        ada.synopsis().await.unwrap();
        bench.tend().await;
        ada.remember(Remember::fact("Ada moved to Cork last winter.")).await.unwrap();
        looking.owner.set(ada.clone()).unwrap();
        for is_stale in [tells.is_some(), false] {
            bench.clock.advance(Duration::from_secs(60));
            bench.tend().await;
            assert_eq!(ada.synopsis().await.unwrap().identity.unwrap().is_stale, is_stale, "{tells:?}");
        }
        // Whoever looked at it meanwhile did not ask for another one.
        let times = 1 + usize::from(tells.is_some());
        assert_eq!(*looking.seen.lock().unwrap(), vec![true; times], "{tells:?}");
    }
}

/// Forgets the source of what it tells, while it tells it.
#[derive(Debug, Default)]
struct Forgetting(OnceLock<(Scoped, RecordId)>);

#[async_trait]
impl Summarizer for Forgetting {
    async fn summarize(&self, _: &SummaryRequest) -> memory_core::Result<Summary> {
        if let Some((owner, id)) = self.0.get() {
            owner.forget(&Forget::Records(vec![*id])).await?;
        }
        Ok(Summary { text: "Ada keeps bees.".to_owned(), by: "late".to_owned() })
    }
}

#[tokio::test]
async fn s1_14_what_is_forgotten_while_it_is_told_is_not_told() {
    let forgetting = Arc::new(Forgetting::default());
    let (bench, ada) = with(forgetting.clone()).await;
    let id = ada.records(&memory_core::Filter::All, None, 1).await.unwrap()[0].record.id;
    forgetting.0.set((ada.clone(), id)).unwrap();
    ada.synopsis().await.unwrap();
    for _ in 0..3 {
        bench.tend().await;
        assert_eq!(ada.synopsis().await.unwrap(), Synopsis::default());
        bench.clock.advance(Duration::from_secs(60));
    }
}

#[tokio::test]
async fn s1_14_what_was_told_is_gone_when_all_it_was_told_from_has_expired() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    ada.remember(Remember::fact("Ada is on the train.").with_ttl(DAY)).await.unwrap();
    ada.synopsis().await.unwrap();
    bench.tend().await;
    assert!(!ada.synopsis().await.unwrap().is_empty());
    bench.clock.advance(8 * DAY);
    ada.synopsis().await.unwrap();
    bench.tend().await;
    assert_eq!(ada.synopsis().await.unwrap(), Synopsis::default());
}

#[tokio::test]
async fn s1_15_a_synopsis_of_the_sample_conversation_saves_nine_tenths() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    let mut said = 0;
    for (id, messages) in Fixture::load().unwrap().sessions {
        said += ada.session(&id).append(messages).await.unwrap().tokens;
    }
    for fact in ["Her name is Ada.", "She prefers short answers.", "She is patient."] {
        ada.remember(Remember::fact(fact)).await.unwrap();
    }
    ada.synopsis().await.unwrap();
    bench.tend().await;
    let context = ada.session(&session("new")).context("Hello", 4_000).await.unwrap();
    let shown = context.receipt.synopsis.unwrap();
    println!("{shown}");
    assert_eq!(shown.history_tokens, said);
    assert!(said > 5_000 && (200..=1_000).contains(&shown.tokens), "{shown:?} of {said}");
    assert!(shown.saved().unwrap() >= 0.9, "{shown:?}");
}

#[tokio::test]
async fn settings_that_cannot_be_are_refused() {
    let good = SynopsisConfig::default();
    let bad = [
        SynopsisConfig { identity_ttl: Duration::ZERO, ..good },
        SynopsisConfig { context_ttl: Duration::ZERO, ..good },
        SynopsisConfig { context_max_age: Duration::from_secs(1), ..good },
        SynopsisConfig { max_tokens: 0, ..good },
    ];
    for config in bad {
        assert!(matches!(config.check(), Err(Error::Invalid { .. })), "{config:?}");
    }
    assert!(good.check().is_ok());
}

#[tokio::test(start_paused = true)]
async fn s1_14_a_clock_that_was_ahead_holds_up_no_synopsis() {
    let (bench, ada) = with(Arc::new(Turning(OnceLock::new()))).await;
    let now = bench.memory.now();
    bench.clock.advance(365 * DAY);
    ada.synopsis().await.unwrap();
    bench.tend().await;
    bench.clock.set(now);
    ada.remember(Remember::fact("Ada moved to Cork.")).await.unwrap();
    ada.synopsis().await.unwrap();
    bench.clock.advance(DAY);
    ada.synopsis().await.unwrap();
    assert_eq!(bench.memory.upkeep_once().await.unwrap().synopses, 1);
}

/// Takes its time, and notes of what it was asked.
#[derive(Debug, Default)]
struct Slow(Mutex<Vec<String>>);

impl Slow {
    /// Returns of what it was asked since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl Summarizer for Slow {
    async fn summarize(&self, request: &SummaryRequest) -> memory_core::Result<Summary> {
        self.0.lock().unwrap().push(request.records[0].record.text.clone());
        sleep(Duration::from_secs(45)).await;
        Ok(Summary { text: "Somebody.".to_owned(), by: "slow".to_owned() })
    }
}

#[tokio::test(start_paused = true)]
async fn s1_14_a_slow_summariser_is_asked_for_five_minutes_and_gets_to_everybody() {
    let slow = Arc::new(Slow::default());
    let bench = Bench::with(Taps::default(), |builder| builder.summarizer(slow.clone())).await;
    let told = |name: &str| [format!("{name} keeps bees"), format!("{name} looks for a house")];
    for name in ["a", "b", "c", "d", "e"] {
        let [who, what] = told(name);
        let owner = bench.owner(name);
        owner.remember(Remember::fact(who)).await.unwrap();
        owner.remember(Remember::new("goal", what)).await.unwrap();
        owner.synopsis().await.unwrap();
    }
    bench.tend().await;
    // It began the last one before five minutes were over.
    let all: Vec<String> = ["a", "b", "c", "d", "e"].into_iter().flat_map(told).collect();
    assert_eq!(slow.take(), all[..7]);
    bench.clock.advance(Duration::from_secs(60));
    bench.owner("a").remember(Remember::fact("a moved to Cork last winter")).await.unwrap();
    // Who is new does not come before those that have waited.
    bench.owner("0").remember(Remember::fact("0 keeps bees")).await.unwrap();
    bench.owner("0").synopsis().await.unwrap();
    bench.tend().await;
    let asked = slow.take();
    assert_eq!((&asked[..3], asked.len()), (&all[7..], 5), "{asked:?}");
}
