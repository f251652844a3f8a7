//! How long putting and searching texts take, over generated messages of one owner.
//!
//! `cargo bench -p memory-sqlite --bench text`

use std::path::Path;

use memory_core::store::text::TextStore;
use memory_core::{ItemId, MessageId, Result};
use memory_sqlite::{Sqlite, SqliteConfig, SqliteText};
use memory_testkit::bench::{Times, heading, say, texts};
use memory_testkit::generate::deletion;

async fn open(path: &Path) -> Result<SqliteText> {
    let file = Sqlite::connect(SqliteConfig::new(path)).await?;
    Ok(SqliteText::new(&file, "bench-1"))
}

async fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    heading();
    let store = open(&path).await?;
    texts::fill(&store).await?;
    drop(store);
    say(&format!("the file has {} bytes", std::fs::metadata(&path)?.len()));
    let (queries, scope) = (texts::queries()?, texts::large()?);
    let times = Times::of(queries.len(), async |number| {
        let store = open(&path).await?;
        let Some(query) = queries.get(number) else { return Ok(()) };
        store.search(&scope, query).await.map(|_| ())
    });
    times.await?.report("open the file, and search");
    let store = open(&path).await?;
    let times = Times::of(queries.len(), async |number| {
        let Some(query) = queries.get(number) else { return Ok(()) };
        store.search(&scope, query).await.map(|_| ())
    });
    times.await?.report("search for other words than before");
    texts::search(&store).await?;
    texts::put(&store).await?;
    let times = Times::of(20, async |number| {
        let item = ItemId::Message(MessageId::of_content(&(number * 500).to_le_bytes()));
        store.delete(&scope, &deletion([item])).await
    });
    times.await?.report("delete a message");
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
