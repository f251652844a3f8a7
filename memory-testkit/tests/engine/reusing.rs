//! How much of a context the receipt says that a prompt cache holds.

use std::time::Duration;

use memory_core::engine::Remember;

use crate::bench::Bench;

#[tokio::test]
async fn a_synopsis_that_was_told_anew_is_no_beginning_that_a_prompt_cache_holds() {
    let bench = Bench::new().await;
    let (ada, talk) = (bench.owner("ada"), bench.session("ada"));
    ada.remember(Remember::fact("Ada keeps bees and reads Homer.")).await.unwrap();
    talk.append(bench.chatter(1)).await.unwrap();
    ada.synopsis().await.unwrap();
    bench.tend().await;
    let reused = async || {
        let receipt = talk.context("", 1_000).await.unwrap().receipt;
        assert!(receipt.tokens.synopsis > 0, "{receipt}");
        receipt.prefix_reuse_ratio
    };
    assert_eq!([reused().await, reused().await], [None, Some(1.0)]);
    bench.clock.advance(Duration::from_secs(8 * 24 * 3_600));
    ada.synopsis().await.unwrap();
    bench.tend().await;
    // It has the same words and another time, and stands before all else.
    assert_eq!([reused().await, reused().await], [Some(0.0), Some(1.0)]);
}
