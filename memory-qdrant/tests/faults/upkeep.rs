//! A memory whose vectors lie in a server that goes away, or loses them.

use std::sync::Arc;

use ::qdrant_client::qdrant::{DeletePointsBuilder, Filter};
use memory_core::model::Embedder as _;
use memory_qdrant::{Qdrant, QdrantVectors};
use memory_testkit::Scene;
use memory_testkit::doubles::FakeEmbedder;
use memory_testkit::services::{Index, Servers, index_fills_again, index_follows};

use super::{DIMENSION, config, driver, told};

pub(super) async fn follows(servers: Servers) -> Scene {
    let open = async |url: String, patience| {
        let client = Qdrant::connect(config(url).with_timeout(patience).with_write_timeout(patience)).await?;
        let space = FakeEmbedder::new(DIMENSION).space().clone();
        Ok(Index::Vectors(Arc::new(QdrantVectors::open(&client, space).await?)))
    };
    index_follows(&servers, "qdrant", open).await
}

pub(super) async fn fills_again(servers: Servers) -> Scene {
    let url = servers.url("qdrant")?;
    let client = Qdrant::connect(config(&url)).await?;
    let vectors = Arc::new(QdrantVectors::open(&client, FakeEmbedder::new(DIMENSION).space().clone()).await?);
    let (driver, collection) = (driver(&url)?, vectors.collection().to_owned());
    let lose = async || {
        let all = DeletePointsBuilder::new(collection).points(Filter::default()).wait(true);
        told(driver.delete_points(all).await).map(drop)
    };
    index_fills_again(Index::Vectors(vectors), lose).await
}
