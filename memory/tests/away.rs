//! Servers that are away: a memory opens without those of indexes and caches, and not without its truth.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use memory::model::Embedder;
use memory::receipt::Stage;
use memory::{Message, Remember, Role, Scope, Search, SessionId, Settings};
use memory_testkit::doubles::FakeEmbedder;

/// Returns the address of a port on which nothing listens, and that no other test is given: another one each time.
fn nobody() -> String {
    static LAST: AtomicU16 = AtomicU16::new(0);
    format!("127.0.0.1:{}", 1 + LAST.fetch_add(1, Ordering::Relaxed) % 6)
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(FakeEmbedder::new(8))
}

#[tokio::test]
async fn a_memory_opens_and_answers_while_its_indexes_and_cache_are_away() {
    for vectors in ["qdrant+http", "elastic+http"] {
        let settings = Settings::new("memory:").with_embedder(embedder());
        let settings = settings.with_text(format!("elastic+http://{}", nobody()));
        let settings = settings.with_vectors(format!("{vectors}://{}", nobody()));
        let stores = settings.with_cache(format!("redis://{}", nobody())).connect().await.unwrap();
        let away: Vec<&str> = stores.away.iter().map(|away| away.backend).collect();
        assert_eq!(away, ["elastic", vectors.trim_end_matches("+http"), "redis"]);
        let memory = memory::over(stores).build().await.unwrap();
        let ada = memory.of(&Scope::new("acme", "ada").unwrap());
        let talk = ada.session(&SessionId::new("talk").unwrap());
        talk.append(vec![Message::new(Role::User, "a rose", memory.now())]).await.unwrap();
        ada.remember(Remember::fact("Ada has a rose")).await.unwrap();
        let report = memory.upkeep_once().await.unwrap();
        assert!(!report.failures.is_empty(), "{report:?}");
        let found = ada.search(&Search::new("rose")).await.unwrap();
        let stages: Vec<Stage> = found.receipt.degraded.iter().map(|degraded| degraded.stage).collect();
        assert!(stages.contains(&Stage::Text) && stages.contains(&Stage::Vector), "{stages:?}");
        let context = talk.context("rose", 1_000).await.unwrap();
        assert_eq!(context.receipt.history.kept_messages, 1);
        assert!(!context.receipt.search.degraded.is_empty());
        assert_eq!(ada.search(&Search::new("")).await.unwrap().hits.len(), 2);
        assert!(ada.indexes().await.iter().all(|index| index.backlog.as_ref().unwrap().pending == 2));
        let status = memory.status().await;
        let silent: Vec<&str> =
            status.stores.iter().filter(|store| store.health.is_err()).map(|store| store.part).collect();
        assert_eq!(silent, ["text", "vectors", "cache"]);
        memory.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_truth_that_is_away_is_an_error() {
    for url in [format!("redis://{}", nobody()), format!("postgres://ada:hidden@{}/d", nobody())] {
        let error = Settings::new(url).connect().await.unwrap_err();
        assert!(error.is_retryable(), "{error:?}");
        assert!(!format!("{error:?}{}", error.with_causes()).contains("hidden"));
    }
}

#[tokio::test]
async fn what_is_wrong_for_good_is_an_error_at_once() {
    let settings = Settings::new("memory:").with_text("elastic+http://ada:hidden@db.example.org:9200");
    let error = settings.connect().await.unwrap_err();
    assert!(!error.is_retryable() && !format!("{error:?}").contains("hidden"), "{error:?}");
}
