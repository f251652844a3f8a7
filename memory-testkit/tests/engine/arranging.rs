//! The second stage of ranking: a reranker, and near-duplicates behind what adds something.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{ContextRequest, Remember, Scoped, Search, SearchResults, Stage};
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
async fn a_reranker_orders_the_best_candidates_and_the_receipt_tells_its_scores() {
    let (_bench, ada) = bench(Arc::new(FakeReranker::new(RerankerMode::Well))).await;
    let found = ada.search(&by_words().limit(2)).await.unwrap();
    assert_eq!(texts(&found), ["Our kiln", "The kiln is blue and stands outside"]);
    assert_eq!(found.hits[0].signals.reranked, Some(-8.0));
    assert!(found.receipt.degraded.is_empty());
    let left_out = &found.receipt.left_out[0];
    assert_eq!(left_out.signals.reranked, Some(-(LONG.len() as f32)));
    assert!(left_out.signals.to_string().ends_with("reranked -72.000"), "{}", left_out.signals);
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

#[tokio::test]
async fn o11_near_duplicates_stand_behind_what_adds_something() {
    let bench = Bench::new().await;
    let ada = bench.owner("ada");
    for text in ["Kiln temperature is 900 degrees", "Kiln temperature is 901 degrees", "A blue kiln stands outside"] {
        ada.remember(Remember::fact(text)).await.unwrap();
    }
    bench.tend().await;
    let search =
        || Search::new("kiln temperature").ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 })).limit(2);
    let alike = texts(&ada.search(&search()).await.unwrap());
    assert!(alike.iter().all(|text| text.contains("temperature")), "{alike:?}");
    assert_eq!(texts(&ada.search(&search().mmr(1.0)).await.unwrap()), alike);
    let various = texts(&ada.search(&search().mmr(0.3)).await.unwrap());
    assert_eq!(various, [alike[0].as_str(), "A blue kiln stands outside"]);

    let request = |lambda| ContextRequest::new("What temperature has the kiln?", 1_000).recall(2).mmr(lambda);
    let context = bench.session("ada").assemble(&request(0.3)).await.unwrap();
    assert!(context.messages().any(|message| message.text().contains("blue kiln")), "{}", context.receipt);
    for lambda in [-0.1, 1.1, f32::NAN] {
        assert!(ada.search(&search().mmr(lambda)).await.is_err(), "{lambda}");
        assert!(bench.session("ada").assemble(&request(lambda)).await.is_err(), "{lambda}");
    }
}
