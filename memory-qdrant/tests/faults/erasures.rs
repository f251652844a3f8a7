//! Erasures beside writers: nothing older is ever found again.

use ::qdrant_client::Qdrant as Driver;
use ::qdrant_client::qdrant::{
    Condition, Filter, PointStruct, RetrievedPoint, ScrollPointsBuilder, UpsertPointsBuilder, Vector,
};
use memory_core::store::Store as _;
use memory_core::{Epoch, Scope};
use memory_qdrant::QdrantVectors;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};

use super::{DIMENSION, NOTHING, config, driver, entry, found, open, owner, put, told};

const ROUNDS: u64 = 40;
const WRITERS: u64 = 4;

/// Puts of the old epoch begin before an erasure and end after it. From its return on no search finds any of them, and
/// when the last has returned nothing of them is left.
pub(super) async fn race(servers: Servers) -> Scene {
    let store = open(config(servers.url("qdrant")?)).await?;
    for round in 0..ROUNDS {
        let ada = owner("ada")?;
        let writers = (0..WRITERS).map(|writer| {
            let (store, ada) = (store.clone(), ada.clone());
            tokio::spawn(async move {
                for number in 0..1 + round % 4 {
                    put(&store, &ada, &[entry(10 * writer + number)?]).await?;
                }
                Ok::<(), Failure>(())
            })
        });
        let writers: Vec<_> = writers.collect();
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        store.erase(&ada, Epoch(1)).await?;
        equal(found(&store, &ada).await?, NOTHING)?;
        for writer in writers {
            writer.await.map_err(|error| Failure::new(error.to_string()))??;
            equal(found(&store, &ada).await?, NOTHING)?;
        }
        let erased = store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (0, 0))?;
    }
    Ok(())
}

/// Returns the points of an owner, to be written once more.
async fn points(driver: &Driver, store: &QdrantVectors, ada: &Scope) -> Result<Vec<PointStruct>, Failure> {
    let own = Filter::must([Condition::matches("owner", ada.key().to_owned())]);
    let request = ScrollPointsBuilder::new(store.collection()).filter(own).with_payload(true);
    let points = told(driver.scroll(request).await)?.result;
    let point = |point: RetrievedPoint| {
        let vector = Vector::new_multi(vec![vec![1.0; DIMENSION]]);
        Some(PointStruct { id: Some(point.id?), payload: point.payload, vectors: Some(vector.into()) })
    };
    Ok(points.into_iter().filter_map(point).collect())
}

/// Writes points behind the adapter, as a put does that looked at the tombstone long before.
async fn write(driver: &Driver, store: &QdrantVectors, points: Vec<PointStruct>) -> Scene {
    let request = UpsertPointsBuilder::new(store.collection(), points).wait(true);
    told(driver.upsert_points(request).await).map(drop)
}

/// A writer looked at the tombstone before an erasure, wrote after it, and died before its second look.
pub(super) async fn left_behind(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    let (store, driver, ada) = (open(config(&url)).await?, driver(&url)?, owner("ada")?);
    put(&store, &ada, &[entry(1)?]).await?;
    let late = points(&driver, &store, &ada).await?;
    equal(late.len(), 1)?;
    store.erase(&ada, Epoch(1)).await?;
    write(&driver, &store, late).await?;
    equal(found(&store, &ada).await?, NOTHING)?;
    let mut newer = entry(2)?;
    newer.version.epoch = Epoch(1);
    put(&store, &ada, &[newer]).await?;
    equal(found(&store, &ada).await?, [2])?;
    let erased = store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (1, 0))?;
    equal(found(&store, &ada).await?, [2])
}

/// A writer looked at the tombstone before an erasure, wrote after it, heard no answer, and puts the same again.
pub(super) async fn repeated(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    let (store, driver, ada) = (open(config(&url)).await?, driver(&url)?, owner("ada")?);
    put(&store, &ada, &[entry(1)?]).await?;
    let late = points(&driver, &store, &ada).await?;
    store.erase(&ada, Epoch(1)).await?;
    let mut newer = entry(2)?;
    newer.version.epoch = Epoch(1);
    put(&store, &ada, &[newer]).await?;
    write(&driver, &store, late).await?;
    equal(points(&driver, &store, &ada).await?.len(), 2)?;
    put(&store, &ada, &[entry(1)?]).await?;
    equal(points(&driver, &store, &ada).await?.len(), 1)?;
    equal(found(&store, &ada).await?, [2])
}

pub(super) async fn at_once(servers: Servers) -> Scene {
    let (store, ada) = (open(config(servers.url("qdrant")?)).await?, owner("ada")?);
    let erasures: Vec<_> = [3, 9, 1, 7, 5, 2, 8, 4]
        .into_iter()
        .map(|below| {
            let (store, ada) = (store.clone(), ada.clone());
            tokio::spawn(async move { store.erase(&ada, Epoch(below)).await })
        })
        .collect();
    for erasure in erasures {
        erasure.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    for epoch in 0..12 {
        let mut entry = entry(epoch)?;
        entry.version.epoch = Epoch(epoch);
        put(&store, &ada, &[entry]).await?;
    }
    let kept = found(&store, &ada).await?;
    check!(kept == [9, 10, 11], "kept {kept:?}");
    Ok(())
}
