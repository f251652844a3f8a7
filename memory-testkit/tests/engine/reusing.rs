//! How much of a context the receipt says that a prompt cache holds.

use std::time::Duration;

use memory_core::engine::{Forget, Remember};
use memory_core::window::BufferConfig;

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

#[tokio::test]
async fn o14_what_is_reused_is_told_also_to_a_caller_that_opens_a_handle_for_each_request() {
    let bench = Bench::new().await;
    bench.session("ada").append(bench.chatter(3)).await.unwrap();
    bench.session("bob").append(bench.chatter(3)).await.unwrap();
    let reused = async |subject: &str| {
        let stable = BufferConfig::default().with_stable_prefix();
        let talk = bench.session(subject).with(stable).unwrap();
        talk.context("", 1_000).await.unwrap().receipt.prefix_reuse_ratio
    };
    assert_eq!([reused("ada").await, reused("ada").await], [None, Some(1.0)]);
    assert_eq!(reused("bob").await, None, "another conversation begins with something else");
    // What is forgotten is forgotten here too.
    bench.owner("ada").forget(&Forget::Everything).await.unwrap();
    bench.session("ada").append(bench.chatter(3)).await.unwrap();
    assert_eq!(reused("ada").await, None);
}
