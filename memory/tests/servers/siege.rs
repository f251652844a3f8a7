//! Sieges: two processes over each backend, with kills and cut ways. What a backend lacks lies in a SQLite file beside it.

use std::process::ExitCode;
use std::sync::Arc;

use memory::model::Embedder;
use memory::store::Truth;
use memory::store::reference::MemChat;
use memory::{Error, Result, Settings, Stores};
use memory_testkit::services::Servers;
use memory_testkit::siege::{Places, Siege};
use memory_testkit::simulation::Ground;
use memory_testkit::{Failure, Scene, check};

use crate::places::with;

const SQLITE: Siege = Siege::new("sqlite", |places, embedder| {
    Box::pin(async move { ground(settings(&places, 0, "", embedder)?.connect().await?) })
});

const POSTGRES: Siege = Siege::new("postgres", |places, embedder| {
    Box::pin(async move { ground(settings(&places, 0, "schema", embedder)?.connect().await?) })
});

const REDIS: Siege = Siege::new("redis", |places, embedder| {
    Box::pin(async move {
        let redis = url(&places, 1, "prefix")?;
        let truth = Settings::new(&redis).with_cache(&redis).connect().await?;
        let rest = ground(settings(&places, 0, "", embedder)?.connect().await?)?;
        Ok(Ground { chat: truth.chat.ok_or_else(missing)?, cache: truth.cache, ..rest })
    })
});

const QDRANT: Siege = Siege::new("qdrant", |places, embedder| {
    Box::pin(async move {
        let vectors = format!("qdrant+{}", url(&places, 1, "prefix")?);
        ground(settings(&places, 0, "", embedder)?.with_vectors(vectors).connect().await?)
    })
});

const ELASTIC: Siege = Siege::new("elastic", |places, embedder| {
    Box::pin(async move {
        let indexes = format!("elastic+{}", url(&places, 1, "prefix")?);
        let settings = settings(&places, 0, "", embedder)?.with_text(&indexes).with_vectors(&indexes);
        ground(settings.connect().await?)
    })
});

/// Each process keeps conversations for itself, so that what was said is nowhere in the end; nothing is forgotten.
const FORGETFUL: Siege = Siege::new("forgetful", |places, embedder| {
    Box::pin(async move {
        let rest = ground(settings(&places, 0, "", embedder)?.connect().await?)?;
        Ok(Ground { chat: Truth::chat(Arc::<MemChat>::default()), ..rest })
    })
})
.forgetting(|_| false);

/// Returns the settings of a memory at one of the places; `key` keeps it apart from others.
fn settings(places: &Places, place: usize, key: &str, embedder: Arc<dyn Embedder>) -> Result<Settings> {
    Ok(Settings::new(url(places, place, key)?).with_embedder(embedder))
}

fn url(places: &Places, place: usize, key: &str) -> Result<String> {
    let url = places.urls.get(place).ok_or_else(|| Error::invalid("a place is missing"))?;
    Ok(if key.is_empty() { url.clone() } else { with(url, key, &places.name) })
}

fn missing() -> Error {
    Error::invalid("a store is missing")
}

fn ground(stores: Stores) -> Result<Ground> {
    Ok(Ground {
        chat: stores.chat.ok_or_else(missing)?,
        records: stores.records.ok_or_else(missing)?,
        text: stores.text.ok_or_else(missing)?,
        vectors: stores.vectors.into_iter().next().ok_or_else(missing)?.0,
        cache: stores.cache,
    })
}

/// Is a process of one of the sieges, if this program was started as one.
pub(crate) fn process() -> Option<ExitCode> {
    [SQLITE, POSTGRES, REDIS, QDRANT, ELASTIC, FORGETFUL].iter().find_map(Siege::process)
}

pub(crate) async fn sqlite(servers: Servers) -> Scene {
    beside_a_file(SQLITE, &servers, None).await
}

pub(crate) async fn postgres(servers: Servers) -> Scene {
    POSTGRES.hold(vec![servers.url("postgres")?]).await
}

pub(crate) async fn redis(servers: Servers) -> Scene {
    beside_a_file(REDIS, &servers, Some("redis")).await
}

pub(crate) async fn qdrant(servers: Servers) -> Scene {
    beside_a_file(QDRANT, &servers, Some("qdrant")).await
}

pub(crate) async fn elastic(servers: Servers) -> Scene {
    beside_a_file(ELASTIC, &servers, Some("elastic")).await
}

pub(crate) async fn forgetful(servers: Servers) -> Scene {
    let Err(failure) = beside_a_file(FORGETFUL.operations(300), &servers, None).await else {
        return Err(Failure::new("the siege found nothing"));
    };
    check!(failure.to_string().contains("was acknowledged and is lost"), "{failure}");
    Ok(())
}

/// Holds a siege of a SQLite file, and of a server if one is named.
async fn beside_a_file(siege: Siege, servers: &Servers, server: Option<&str>) -> Scene {
    let folder = tempfile::tempdir().map_err(|error| Failure::new(error.to_string()))?;
    let mut urls = vec![format!("sqlite:{}", folder.path().join("memory.db").display())];
    if let Some(server) = server {
        urls.push(servers.url(server)?);
    }
    siege.hold(urls).await
}
