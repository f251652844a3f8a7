//! Servers that are killed, frozen, and asked with another key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use memory_core::store::vectors::VectorStore as _;
use memory_core::{Error, Scope};
use memory_qdrant::{Qdrant, QdrantVectors};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, fails, rounds};

use super::{config, entry, found, open, owner, put, query, space};

const KILLS: usize = 8;
const WRITERS: u64 = 4;
/// How many writes are acknowledged between two kills.
const BETWEEN: u64 = 60;

/// What writers have done, and whether they are to go on.
#[derive(Default)]
struct Progress {
    acknowledged: AtomicU64,
    is_over: AtomicBool,
}

/// Puts one entry after the other, each again and again until it is acknowledged; returns how many there are.
async fn write(store: QdrantVectors, ada: Scope, writer: u64, progress: Arc<Progress>) -> Result<u64, Failure> {
    let mut number = 0;
    while !progress.is_over.load(Ordering::Relaxed) {
        let entries = [entry(writer * 1_000_000 + number)?];
        while let Err(error) = store.put(&ada, &entries, memory_core::store::text::Visibility::OnReturn).await {
            check!(error.is_retryable(), "{error:?}");
        }
        number += 1;
        progress.acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    Ok(number)
}

pub(super) async fn acknowledged(servers: Servers) -> Scene {
    let mut server = servers.own("qdrant")?.start().await?;
    let limits = config(server.url()).with_timeout(Duration::from_secs(5)).with_write_timeout(Duration::from_secs(5));
    let (store, ada, progress) = (open(limits).await?, owner("ada")?, Arc::new(Progress::default()));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(store.clone(), ada.clone(), writer, Arc::clone(&progress))))
        .collect();
    let kills = rounds(KILLS) as u64;
    for kill in 1..=kills {
        while progress.acknowledged.load(Ordering::Relaxed) < kill * BETWEEN {
            check!(!writers.iter().any(tokio::task::JoinHandle::is_finished), "a writer gave up");
            tokio::task::yield_now().await;
        }
        server.kill().await?;
        server.restart().await?;
    }
    progress.is_over.store(true, Ordering::Relaxed);
    let mut expected = Vec::new();
    for (writer, written) in (0..).zip(writers) {
        let count = written.await.map_err(|error| Failure::new(error.to_string()))??;
        expected.extend((0..count).map(|number| writer * 1_000_000 + i64::try_from(number).unwrap_or(-1)));
    }
    let kept = found(&store, &ada).await?;
    check!(kept.len() as u64 >= kills * BETWEEN, "only {} entries were written", kept.len());
    check!(kept == expected, "{} entries were acknowledged, {} are there", expected.len(), kept.len());
    server.remove().await?;
    Ok(())
}

pub(super) async fn frozen(servers: Servers) -> Scene {
    let server = servers.own("qdrant")?.start().await?;
    let limit = Duration::from_secs(2);
    let (store, ada) = (open(config(server.url())).await?, owner("ada")?);
    let hasty = config(server.url()).with_timeout(limit).with_write_timeout(limit);
    let hasty = store.through(&Qdrant::connect(hasty).await?);
    put(&store, &ada, &[entry(1)?]).await?;
    equal(found(&hasty, &ada).await?, [1])?;
    server.stop().await?;
    let watch = RunningWatch::start();
    fails!(hasty.search(&ada, &query(1)).await, error if error.is_retryable());
    check!(watch.elapsed() < limit + SLACK, "a search took {:?}", watch.elapsed());
    let watch = RunningWatch::start();
    fails!(put(&hasty, &ada, &[entry(2)?]).await, _);
    check!(watch.elapsed() < limit + SLACK, "a put took {:?}", watch.elapsed());
    server.cont().await?;
    put(&store, &ada, &[entry(2)?]).await?;
    equal(found(&store, &ada).await?, [1, 2])?;
    server.remove().await?;
    Ok(())
}

pub(super) async fn key(servers: Servers) -> Scene {
    let server = servers.own("qdrant")?.with_env("QDRANT__SERVICE__API_KEY", "right-canary").start().await?;
    let right = config(server.url()).with_api_key("right-canary");
    let store = open(right.clone()).await?;
    let ada = owner("ada")?;
    put(&store, &ada, &[entry(1)?]).await?;
    for other in [config(server.url()), config(server.url()).with_api_key("wrong-canary")] {
        let client = Qdrant::connect(other).await;
        let refused = match &client {
            Ok(client) => QdrantVectors::open(client, space()).await.map(|_| ()),
            Err(error) => Err(error.clone()),
        };
        let shown = format!("{refused:?} {client:?} {store:?}");
        check!(!shown.contains("canary"), "a key is shown: {shown}");
        fails!(refused, Error::Backend { .. });
        if let Ok(client) = client {
            fails!(store.through(&client).search(&ada, &query(1)).await, error if !error.is_retryable());
        }
    }
    equal(found(&store, &ada).await?, [1])?;
    server.remove().await?;
    Ok(())
}
