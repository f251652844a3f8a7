//! Long messages: they are read a few at a time, and are found like others.

use std::sync::Arc;

use memory_core::analysis::{DOCUMENT_BYTES, DOCUMENT_WORDS};
use memory_core::engine::{Forget, Hit, Remember, Search};
use memory_core::model::TokenCounter;
use memory_core::{ItemId, Message};
use memory_testkit::doubles::{Faulty, When};

use crate::bench::{Bench, Taps};

/// Counts each message as one of some 400 KiB, so that a short one stands for a long one.
#[derive(Debug)]
struct Heavy;

impl TokenCounter for Heavy {
    fn name(&self) -> &str {
        "heavy"
    }

    fn count(&self, _: &Message) -> u64 {
        100_000
    }

    fn count_text(&self, _: &str) -> u64 {
        100_000
    }
}

#[tokio::test]
async fn messages_that_are_read_a_few_at_a_time_are_found_like_those_read_together() {
    let usual = Bench::new().await;
    let heavy = Bench::with(Taps::default(), |builder| builder.counter(Arc::new(Heavy))).await;
    let messages: Vec<Message> = (0..300).map(|n| usual.user(&format!("Gate word{n} of garden {}", n % 7))).collect();
    for bench in [&usual, &heavy] {
        bench.session("ada").append(messages.clone()).await.unwrap();
        bench.tend().await;
    }
    for n in (0..300).step_by(13).chain([62, 63, 64, 65, 127, 128, 129, 299]) {
        let search = Search::new(format!("word{n} garden"));
        let [usual, heavy] = [usual.owner("ada"), heavy.owner("ada")];
        let (usual, heavy) = (usual.search(&search).await.unwrap(), heavy.search(&search).await.unwrap());
        assert_eq!(usual.hits.first().unwrap().item, ItemId::Message(messages[n].id));
        let found = |hits: &[Hit]| hits.iter().map(|hit| (hit.item.clone(), hit.signals)).collect::<Vec<_>>();
        assert_eq!(found(&usual.hits), found(&heavy.hits), "word{n}");
    }

    // What is beside a forgotten message is indexed again.
    let receipt = heavy.owner("ada").forget(&Forget::Messages(vec![messages[64].id])).await.unwrap();
    assert!(receipt.complete);
    let found = heavy.owner("ada").search(&Search::new("word64")).await.unwrap();
    assert!(found.hits.iter().all(|hit| hit.item != ItemId::Message(messages[64].id)));
}

#[tokio::test]
async fn of_a_message_longer_than_is_searched_the_beginning_is_found() {
    let by_words = Arc::new(Faulty::at(1, When::Before).of("search").lasting());
    let bench = Bench::with(Taps { vectors: by_words, ..Taps::default() }, |builder| builder).await;
    let filler = "garden ".repeat(DOCUMENT_BYTES / 7);
    let text = format!("The first is amaryllis. {filler} The last is zinnia.");
    bench.session("ada").append(vec![bench.user(&text)]).await.unwrap();
    let many: Vec<String> = (0..DOCUMENT_WORDS + 100).map(|n| format!("w{n}x")).collect();
    let many = format!("Begonia {} dahlia", many.join(" "));
    bench.owner("bob").remember(Remember::fact(many)).await.unwrap();
    bench.tend().await;
    let found =
        async |subject: &str, word: &str| bench.owner(subject).search(&Search::new(word)).await.unwrap().hits.len();
    assert_eq!((found("ada", "amaryllis").await, found("ada", "zinnia").await), (1, 0));
    assert_eq!((found("bob", "begonia").await, found("bob", "dahlia").await), (1, 0));
}
