//! The backends, each with all that it can store, without guards; drivers have their usual patience.

use std::sync::Arc;

use memory::elastic::{Elastic, ElasticConfig, ElasticText, ElasticVectors};
use memory::model::{Embedder, HashEmbedder};
use memory::postgres::{PgChat, PgRecords, PgText, PgVectors, Postgres, PostgresConfig};
use memory::qdrant::{Qdrant, QdrantConfig, QdrantVectors};
use memory::redis::{Redis, RedisBlackboard, RedisCache, RedisChat, RedisConfig};
use memory::store::{Analysis, Health, Truth};
use memory::{Error, Result, Stores};
use memory_testkit::Boxed;
use memory_testkit::services::Service;

/// How many entries a board holds.
const CAPACITY: usize = 100;

/// Opens the stores of a server at a URL.
pub(crate) type Open = fn(String) -> Boxed<'static, Result<Stores>>;

/// The kinds of servers.
pub(crate) const BACKENDS: [(fn() -> Service, Open); 4] = [
    (Service::redis, |url| Box::pin(redis(url))),
    (Service::postgres, |url| Box::pin(postgres(url))),
    (Service::qdrant, |url| Box::pin(qdrant(url))),
    (Service::elastic, |url| Box::pin(elastic(url))),
];

/// Asks a server how it is.
pub(crate) async fn probe(open: Open, url: String) -> Result<Health> {
    let stores = open(url).await?;
    let (_, store) = stores.parts().into_iter().next().ok_or(Error::Overloaded)?;
    store.ping().await
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(HashEmbedder::new(64))
}

async fn redis(url: String) -> Result<Stores> {
    let server = Redis::connect(RedisConfig::new(url)).await?;
    Ok(Stores {
        chat: Some(Truth::chat(Arc::new(RedisChat::new(&server)?))),
        cache: Some(Arc::new(RedisCache::new(&server))),
        blackboard: Some(Arc::new(RedisBlackboard::new(&server, CAPACITY)?)),
        ..Stores::default()
    })
}

async fn postgres(url: String) -> Result<Stores> {
    let (server, embedder) = (Postgres::connect(PostgresConfig::new(&url)?).await?, embedder());
    let vectors = PgVectors::open(&server, embedder.space().clone()).await?;
    Ok(Stores {
        chat: Some(Truth::chat(Arc::new(PgChat::new(&server)))),
        records: Some(Truth::records(Arc::new(PgRecords::new(&server)))),
        text: Some(Arc::new(PgText::new(&server, Analysis::english().name()))),
        vectors: vec![(Arc::new(vectors), embedder)],
        ..Stores::default()
    })
}

async fn qdrant(url: String) -> Result<Stores> {
    let (server, embedder) = (Qdrant::connect(QdrantConfig::new(url)).await?, embedder());
    let vectors = QdrantVectors::open(&server, embedder.space().clone()).await?;
    Ok(Stores { vectors: vec![(Arc::new(vectors), embedder)], ..Stores::default() })
}

async fn elastic(url: String) -> Result<Stores> {
    let (server, embedder) = (Elastic::connect(ElasticConfig::new(&url)?).await?, embedder());
    let text = ElasticText::open(&server, Analysis::english().name()).await?;
    let vectors = ElasticVectors::open(&server, embedder.space().clone()).await?;
    Ok(Stores { text: Some(Arc::new(text)), vectors: vec![(Arc::new(vectors), embedder)], ..Stores::default() })
}
