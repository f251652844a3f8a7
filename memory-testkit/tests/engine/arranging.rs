//! A reranker that misbehaves.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Remember, Scoped, Search, SearchResults, Stage};
use memory_core::rank::{Ranking, Weights};
use memory_testkit::doubles::{FakeReranker, RerankerMode};

use crate::bench::{Bench, Taps};

const LONG: &str = "Kiln kiln kiln kiln: the kiln of the kiln workshop, said the kiln master";

/// The best text by words is the longest, which the reranker likes least.
async fn bench(reranker: Arc<FakeReranker>) -> (Bench, Scoped) {
    let bench =
        Bench::with(Taps::default(), |builder| builder.reranker(reranker).patience(Duration::from_millis(50))).await;
    let ada = bench.owner("ada");
    for text in [LONG, "The kiln is blue and stands outside", "Our kiln"] {
        ada.remember(Remember::fact(text)).await.unwrap();
    }
    bench.tend().await;
    (bench, ada)
}

fn by_words() -> Search {
    Search::new("kiln").ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }))
}

fn texts(found: &SearchResults) -> Vec<String> {
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

#[tokio::test]
async fn a_reranker_that_misbehaves_leaves_the_order_of_the_ranking() {
    let reranker = Arc::new(FakeReranker::new(RerankerMode::Well));
    let (bench, ada) = bench(Arc::clone(&reranker)).await;
    use RerankerMode::{Fails, Hangs, NotANumber, Panics, TooFew};
    for mode in [Fails, Hangs, NotANumber, Panics, TooFew] {
        reranker.set(mode);
        let found = ada.search(&by_words().limit(1)).await.unwrap();
        assert_eq!(texts(&found), [LONG], "{mode:?}");
        assert_eq!(found.receipt.degraded[0].stage, Stage::Rerank, "{mode:?}");
        assert!(!found.receipt.degraded[0].why.contains("kiln"), "{mode:?}");
        assert_eq!(found.hits[0].signals.reranked, None);
        let context = bench.session("ada").context("Where is the kiln?", 1_000).await.unwrap();
        assert!(context.receipt.search.degraded.iter().any(|degraded| degraded.stage == Stage::Rerank), "{mode:?}");
        assert!(context.receipt.tokens.recalled > 0);
    }
}
