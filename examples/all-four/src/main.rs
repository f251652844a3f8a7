//! One memory over four servers: the truth in Postgres, vectors in Qdrant, words in Elasticsearch, a cache in Redis.
//!
//! ```sh
//! export MEMORY_URL=postgres://app@localhost/memory MEMORY_VECTORS_URL=qdrant://localhost:6334
//! export MEMORY_TEXT_URL=elastic://localhost:9200 MEMORY_CACHE_URL=redis://localhost
//! cargo run -p example-all-four -- ada
//! ```

use std::io::{self, Write as _};
use std::sync::Arc;

use memory::model::HashEmbedder;
use memory::{Error, Forget, Message, Remember, Result, Role, Scope, Search, SessionId, Settings};

#[tokio::main]
async fn main() -> Result<()> {
    let person = std::env::args().nth(1).ok_or_else(|| Error::invalid("say whose memory it is"))?;
    // A real agent brings a model here; this one counts words.
    let embedder = Arc::new(HashEmbedder::new(256));
    let memory = Settings::from_env()?.with_embedder(embedder).open().await?.build().await?;
    for store in memory.status().await.stores {
        let health = store.health?;
        say(&format!("{}: {} {}, {:?}", store.part, health.server, health.version, health.durability))?;
    }

    let owner = memory.of(&Scope::new("all-four", &person)?);
    let session = owner.session(&SessionId::new("support")?);
    let appended = session
        .append(vec![
            Message::new(Role::User, "My name is Charlie, and parcel E-4471-B never arrived.", memory.now()),
            Message::new(Role::Assistant, "I am sorry, Charlie. I will look for the parcel.", memory.now()),
        ])
        .await?;
    owner.remember(Remember::preference("Charlie wants parcels left with the neighbour")).await?;
    say(&format!("stored: {:?}", appended.durability))?;

    // Indexes follow the truth; a service keeps `memory.upkeep()` as a task instead.
    let report = memory.upkeep_once().await?;
    say(&format!("indexed: {} entries, {} failures", report.indexed, report.failures.len()))?;

    // The second search finds the vector of its query, and what it found, in the cache.
    for round in ["first", "second"] {
        let found = owner.search(&Search::new("where do parcels go").limit(3)).await?;
        let (hits, degraded) = (found.hits.len(), found.receipt.degraded.len());
        say(&format!("{round} search: {hits} hits, {degraded} stages degraded, {} µs", found.receipt.took_micros))?;
    }
    let context = session.context("Where is my parcel?", 1_000).await?;
    say(&format!("context: {} tokens of 1000", context.tokens()))?;

    let forgotten = owner.forget(&Forget::Everything).await?;
    let stores: Vec<String> =
        forgotten.stores.iter().map(|store| format!("{} of {}", store.removed, store.part)).collect();
    say(&format!("forgotten: {}, complete: {}", stores.join(", "), forgotten.complete))?;
    memory.close().await
}

fn say(line: &str) -> Result<()> {
    writeln!(io::stdout(), "{line}").map_err(|error| Error::invalid(error.to_string()))
}
