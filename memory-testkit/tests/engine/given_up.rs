//! What upkeep has given up counts until its owner is erased.

use std::time::Duration;

use memory_core::engine::{Forget, IndexStatus, Remember};
use memory_testkit::doubles::EmbedderMode;

use crate::bench::Bench;

/// Returns how many items, and how many notes as a whole, the index of meaning was not given.
fn counts(indexes: &[IndexStatus]) -> (u64, u64) {
    (indexes[1].given_up, indexes[1].backlog.clone().unwrap().dead)
}

#[tokio::test]
async fn what_was_given_up_of_an_erased_owner_is_counted_no_longer_and_that_of_others_is() {
    let bench = Bench::new().await;
    bench.embedder.set(EmbedderMode::Refuses("poison"));
    let [ada, bob] = ["ada", "bob"].map(|subject| bench.owner(subject));
    for owner in [&ada, &bob] {
        let said = ["My rose is called Aurora.", "poison"].map(|text| bench.user(text));
        bench.session(&owner.scope().subject()).append(said.to_vec()).await.unwrap();
        owner.remember(Remember::fact("poison")).await.unwrap();
    }
    for _ in 0..5 {
        bench.memory.upkeep_once().await.unwrap();
        bench.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(counts(&bench.memory.status().await.indexes), (2, 2));
    assert!(ada.forget(&Forget::Everything).await.unwrap().complete);
    for _ in 0..2 {
        assert_eq!(counts(&bench.memory.status().await.indexes), (1, 1));
        assert_eq!((counts(&ada.indexes().await), counts(&bob.indexes().await)), ((0, 0), (1, 1)));
        bench.memory.upkeep_once().await.unwrap();
    }
}
