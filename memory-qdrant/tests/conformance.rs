//! Every promise of vector stores, tried on a Qdrant server.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Result;
use memory_core::store::Health;
use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory_testkit::services::Service;
use memory_testkit::{Setting, Suite, Vectors};

/// The patience of a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn config(url: String) -> QdrantConfig {
    // Tenants are fresh in every scenario, so all may share a collection and stand beside one another in it.
    QdrantConfig::new(url).with_prefix("conformance").with_timeout(PATIENCE).with_write_timeout(PATIENCE)
}

async fn probe(url: String) -> Result<Health> {
    Qdrant::connect(config(url)).await?.ping().await
}

async fn vectors(setting: Setting) -> Result<Vectors> {
    let server = Qdrant::connect(config(setting.url)).await?;
    Ok(Arc::new(QdrantVectors::open(&server, setting.space).await?))
}

fn main() -> ExitCode {
    Suite::new("qdrant").service(Service::qdrant(), probe).vectors(vectors).run()
}
