//! A search without words, a search without an index, and how far the indexes are.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{ContextRequest, Memory, Remember, Search, SearchResults, Stage};
use memory_core::reference::{MemChat, MemRecords};
use memory_core::{Error, Message, Role, Scope, Truth};
use memory_testkit::doubles::Counting;

use crate::bench::{Bench, Taps, session};

fn texts(found: &SearchResults) -> Vec<String> {
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

/// Six messages in three sessions and two records, told one second after the other.
async fn told(bench: &Bench) {
    let ada = bench.owner("ada");
    for (name, text) in [("a", "1"), ("b", "2"), ("c", "3"), ("a", "4"), ("b", "5")] {
        ada.session(&session(name)).append(vec![bench.user(text)]).await.unwrap();
    }
    bench.clock.advance(Duration::from_secs(1));
    ada.remember(Remember::fact("6")).await.unwrap();
    ada.session(&session("a")).append(vec![bench.say(Role::Assistant, "7")]).await.unwrap();
    bench.clock.advance(Duration::from_secs(1));
    ada.remember(Remember::preference("8").with_ttl(Duration::from_secs(60))).await.unwrap();
    bench.owner("bob").session(&session("a")).append(vec![bench.user("of another")]).await.unwrap();
}

#[tokio::test]
async fn sessions_that_ended_before_the_newest_are_not_read() {
    let chat = Arc::new(Counting::default());
    let bench = Bench::with(Taps { chat: Arc::clone(&chat), ..Taps::default() }, |builder| builder).await;
    let ada = bench.owner("ada");
    for number in 0..100 {
        ada.session(&session(&number.to_string())).append(vec![bench.user(&format!("word {number}"))]).await.unwrap();
    }
    let before = chat.calls("read");
    let found = ada.search(&Search::new("").limit(2)).await.unwrap();
    assert_eq!(texts(&found), ["word 99", "word 98"]);
    assert_eq!(chat.calls("read") - before, 16);
}

#[tokio::test]
async fn a_memory_without_an_index_says_what_to_set() {
    let truth = (Truth::chat(Arc::new(MemChat::default())), Truth::records(Arc::new(MemRecords::default())));
    let memory = Memory::builder(truth.0, truth.1).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let talk = ada.session(&session("talk"));
    talk.append(vec![Message::new(Role::User, "a rose", memory.now())]).await.unwrap();
    let error = ada.search(&Search::new("rose")).await.unwrap_err();
    assert!(matches!(&error, Error::Unsupported { what, .. } if what.contains("MEMORY_TEXT_URL")), "{error}");
    let context = talk.context("rose", 1_000).await.unwrap();
    let degraded = &context.receipt.search.degraded;
    assert!(degraded.len() == 1 && degraded[0].stage == Stage::Text, "{degraded:?}");
    assert_eq!(degraded[0].why, error.with_causes());
    assert_eq!(texts(&ada.search(&Search::new("")).await.unwrap()), ["a rose"]);
    let bare = talk.assemble(&ContextRequest::new("rose", 1_000).recall(0)).await.unwrap();
    assert_eq!(bare.receipt.search.degraded, []);
}

#[tokio::test]
async fn an_owner_sees_how_far_the_indexes_are_behind_for_it_alone() {
    let bench = Bench::new().await;
    told(&bench).await;
    let pending = |subject| {
        let owner = bench.owner(subject);
        async move {
            let indexes = owner.indexes().await;
            indexes.iter().map(|index| index.backlog.as_ref().unwrap().pending).collect::<Vec<_>>()
        }
    };
    // Three sessions and two records, for the index of words and that of meaning.
    assert_eq!((pending("ada").await, pending("bob").await), (vec![5, 5], vec![1, 1]));
    assert_eq!(pending("carol").await, [0, 0]);
    bench.tend().await;
    assert_eq!((pending("ada").await, pending("bob").await), (vec![0, 0], vec![0, 0]));
}
