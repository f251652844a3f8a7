//! A memory whose vectors lie in a server that goes away.

use std::sync::Arc;

use memory_core::model::Embedder as _;
use memory_qdrant::{Qdrant, QdrantVectors};
use memory_testkit::Scene;
use memory_testkit::doubles::FakeEmbedder;
use memory_testkit::services::{Index, Servers, index_follows};

use super::{DIMENSION, config};

pub(super) async fn follows(servers: Servers) -> Scene {
    let open = async |url: String, patience| {
        let client = Qdrant::connect(config(url).with_timeout(patience).with_write_timeout(patience)).await?;
        let space = FakeEmbedder::new(DIMENSION).space().clone();
        Ok(Index::Vectors(Arc::new(QdrantVectors::open(&client, space).await?)))
    };
    index_follows(&servers, "qdrant", open).await
}
