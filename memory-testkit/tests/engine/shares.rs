//! Models that hang: each holds up a pass of upkeep for its share of it, and what others wait for is done in the same pass.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::{Remember, Retained, Retention, Search};
use memory_core::extract::{ExtractRequest, Extractor, Operation, RuleExtractor};
use memory_core::window::BufferConfig;
use memory_core::{Filter, Result};
use memory_testkit::doubles::StillSummarizer;
use tokio::time::Instant;

use crate::bench::{Bench, Taps, session};

/// More than five minutes hold, where each is waited for for one.
const OWNERS: usize = 12;
/// Five minutes, and one answer more.
const LONGEST: Duration = Duration::from_secs(300 + 60);
/// How long a pass takes beside an extractor that hangs.
const SHORT: Duration = Duration::from_secs(5);
const SHARE: Duration = Duration::from_secs(300);
const DAY: Duration = Duration::from_secs(86_400);

/// Hangs on what holds the word `poison`, and finds the facts in all else.
#[derive(Debug, Default)]
struct Stuck(AtomicUsize);

#[async_trait]
impl Extractor for Stuck {
    fn name(&self) -> &str {
        "stuck-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>> {
        let mut said = request.messages.iter().filter_map(|row| row.message.as_deref());
        if said.any(|message| message.text().contains("poison")) {
            self.0.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        RuleExtractor.extract(request).await
    }
}

/// Returns a memory with models that hang, whose owner `bob` has a record that is kept no longer.
async fn bench(extractor: &Arc<Stuck>) -> Bench {
    let retention = Retention::default().with_record_age(DAY);
    let bench = Bench::with(Taps::default(), |builder| {
        builder
            .buffer(BufferConfig::default().with_limit(300))
            .summarizer(Arc::new(StillSummarizer::Hanging))
            .extractor(extractor.clone())
            .retention(Retained::Everything, retention)
    })
    .await;
    bench.owner("bob").remember(Remember::fact("Bob wore a red hat")).await.unwrap();
    bench.clock.advance(2 * DAY);
    bench
}

/// Makes a pass, and returns how long it took.
async fn pass(bench: &Bench) -> Duration {
    let begun = Instant::now();
    bench.memory.upkeep_once().await.unwrap();
    begun.elapsed()
}

/// Lets facts be found for the share that the task of upkeep gives to that, and returns how long it took.
async fn share(bench: &Bench) -> Duration {
    let begun = Instant::now();
    bench.memory.find_facts(SHARE).await.unwrap();
    begun.elapsed()
}

async fn records(bench: &Bench, subject: &str) -> Vec<String> {
    let rows = bench.owner(subject).records(&Filter::All, None, 10).await.unwrap();
    rows.iter().map(|row| row.record.text.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_summariser_that_hangs_has_its_share_of_a_pass_and_everything_else_is_done_in_it() {
    let bench = bench(&Arc::default()).await;
    for n in 0..OWNERS {
        bench.owner(&format!("owner {n}")).session(&session("talk")).append(bench.chatter(15)).await.unwrap();
    }
    bench.session("bob").append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    let took = pass(&bench).await;
    assert!(took >= Duration::from_secs(300) && took <= LONGEST, "{took:?}");
    assert_eq!(records(&bench, "bob").await, ["user: I live in Lisbon"]);
    let found = bench.owner("bob").search(&Search::new("Lisbon")).await.unwrap();
    assert!(found.hits.iter().any(|hit| hit.signals.cosine.is_some()), "{:?}", found.hits);
}

#[tokio::test(start_paused = true)]
async fn an_extractor_that_hangs_has_its_share_beside_each_pass_and_every_conversation_its_turn() {
    let stuck = Arc::new(Stuck::default());
    let bench = bench(&stuck).await;
    for n in 0..OWNERS {
        bench.session(&format!("owner {n}")).append(vec![bench.user("poison")]).await.unwrap();
    }
    for _ in 0..3 {
        let took = pass(&bench).await;
        assert!(took <= SHORT, "{took:?}");
        assert_eq!(records(&bench, "bob").await, [""; 0], "what comes behind the extractor is done");
        let took = share(&bench).await;
        assert!(took <= LONGEST, "{took:?}");
    }
    assert_eq!(stuck.0.load(Ordering::SeqCst), OWNERS);
}

#[tokio::test(start_paused = true)]
async fn an_extractor_that_hangs_on_one_conversation_finds_the_facts_of_others_in_the_same_share() {
    let bench = bench(&Arc::default()).await;
    bench.session("ada").append(vec![bench.user("poison")]).await.unwrap();
    for n in 0..OWNERS {
        bench.session(&format!("owner {n}")).append(vec![bench.user("I live in Lisbon.")]).await.unwrap();
    }
    let took = pass(&bench).await;
    assert!(took <= SHORT, "{took:?}");
    let took = took + share(&bench).await;
    assert!(took < Duration::from_secs(90), "{took:?}");
    for n in 0..OWNERS {
        assert_eq!(records(&bench, &format!("owner {n}")).await, ["user: I live in Lisbon"]);
    }
}
