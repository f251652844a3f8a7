//! The example as a person runs it, on four test servers; and what only four servers together can show.

use std::process::{Command, ExitCode};
use std::sync::Arc;

use memory::model::HashEmbedder;
use memory::store::Health;
use memory::{MessageId, Settings};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Failure, Scene, Suite, check, printed};

async fn truth(url: String) -> memory::Result<Health> {
    // Tables of another version may lie where they lie by default.
    let url = place(&url, "schema", &format!("probe{}", std::process::id()));
    Settings::new(url).connect().await?.chat()?.store().ping().await
}

async fn cache(url: String) -> memory::Result<Health> {
    let stores = Settings::new("memory:").with_cache(url).connect().await?;
    stores.cache.ok_or(memory::Error::Overloaded)?.ping().await
}

async fn words(url: String) -> memory::Result<Health> {
    let stores = Settings::new("memory:").with_text(format!("elastic+{url}")).connect().await?;
    stores.text.ok_or(memory::Error::Overloaded)?.ping().await
}

async fn meanings(url: String) -> memory::Result<Health> {
    let settings = Settings::new("memory:").with_vectors(format!("qdrant+{url}"));
    let stores = settings.with_embedder(Arc::new(HashEmbedder::new(8))).connect().await?;
    stores.vectors.into_iter().next().ok_or(memory::Error::Overloaded)?.0.ping().await
}

/// Runs the example for a person of its own, in places of its own, and returns what it says.
fn run(servers: &Servers, person: &str) -> Result<String, Failure> {
    let name = format!("f{}", person.replace('-', ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_example-all-four"));
    command
        .arg(person)
        .env("MEMORY_URL", place(&servers.url("postgres")?, "schema", &name))
        .env("MEMORY_CACHE_URL", format!("{}?prefix={name}", servers.url("redis")?))
        .env("MEMORY_TEXT_URL", format!("elastic+{}?prefix={name}", servers.url("elastic")?))
        .env("MEMORY_VECTORS_URL", format!("qdrant+{}?prefix={name}", servers.url("qdrant")?));
    printed(&mut command)
}

fn place(url: &str, key: &str, value: &str) -> String {
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}{key}={value}")
}

async fn one_memory_lives_in_four_servers(servers: Servers) -> Scene {
    let person = MessageId::fresh().to_string();
    for _ in 0..2 {
        let told = run(&servers, &person)?;
        for part in ["chat: ", "records: ", "text: ", "vectors: ", "cache: "] {
            check!(told.contains(part), "{part} is not in {told}");
        }
        check!(told.contains("indexed: 7 entries, 0 failures"), "{told}");
        check!(told.contains("first search: 3 hits, 0 stages degraded"), "{told}");
        check!(told.contains("second search: 3 hits, 0 stages degraded"), "{told}");
        check!(told.contains("complete: true"), "{told}");
    }
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("example-all-four")
        .service(Service::postgres(), truth)
        .service(Service::redis(), cache)
        .service(Service::elastic(), words)
        .service(Service::qdrant(), meanings)
        .test("one_memory_lives_in_four_servers", one_memory_lives_in_four_servers)
        .run()
}
