//! What was written and is in no index yet is read from truth, and nothing else is.

use std::sync::Arc;

use memory_core::engine::{Scoped, Search};
use memory_core::rank::{Ranking, Weights};
use memory_testkit::doubles::Counting;

use crate::bench::{Bench, Taps};

async fn texts(owner: &Scoped, words: &str) -> Vec<String> {
    let found = owner.search(&Search::new(words)).await.unwrap();
    assert_eq!((found.receipt.degraded.len(), found.receipt.dropped_at_hydration), (0, 0));
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

#[tokio::test]
async fn what_is_indexed_is_read_from_the_index_alone() {
    let counting = Arc::new(Counting::default());
    let bench = Bench::with(Taps { chat: counting.clone(), ..Taps::default() }, |builder| builder).await;
    let rose = bench.user("My rose is called Aurora.");
    bench.session("ada").append(vec![rose.clone()]).await.unwrap();
    let ada = bench.owner("ada");
    let reads = async |words: &str| {
        let by_words = Search::new(words).ranking(Ranking::ZScore(Weights { text: 1.0, vector: 0.0 }));
        let before = counting.calls("get");
        ada.search(&by_words).await.unwrap();
        counting.calls("get") - before
    };
    // Nothing is found, and what was written was looked at.
    assert_eq!(reads("tulip").await, 1);
    // What was looked at is not read again as a hit.
    assert_eq!(reads("Aurora").await, 1);
    bench.tend().await;
    assert_eq!(reads("tulip").await, 0);
    // What was stored before is left to the index, whoever repeats it.
    bench.session("ada").append(vec![rose]).await.unwrap();
    assert_eq!(reads("tulip").await, 0);
    assert_eq!(texts(&ada, "Aurora").await, ["My rose is called Aurora."]);
}
