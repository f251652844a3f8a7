//! How long putting and searching vectors takes: one owner of 100,000, with owners of 1,000 and 100 beside it;
//! and ten owners of 10,000.
//!
//! `cargo bench -p memory-sqlite --bench vectors`

use memory_core::Scope;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorStore as _;
use memory_sqlite::{Sqlite, SqliteConfig, SqliteVectors};
use memory_testkit::bench::{Times, heading, say, vectors};

const SIZES: [usize; 3] = [100_000, 1_000, 100];

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let store = SqliteVectors::new(&Sqlite::connect(SqliteConfig::new(&path)).await?, vectors::space("bench"));
    heading();
    for size in SIZES {
        vectors::fill(&store, size).await?;
    }
    vectors::churn(&store, 100).await?;
    say(&format!("{} numbers each; the file has {} bytes", vectors::DIMENSION, std::fs::metadata(&path)?.len()));
    for size in SIZES {
        vectors::search(&store, size).await?;
    }
    let (large, new) = (vectors::owner(SIZES[0])?, vectors::entries(5, 50)?);
    let query = vectors::query(&store, vectors::queries().swap_remove(0));
    let times = Times::of(new.len(), async |number| {
        store.put(&large, new.get(number..=number).unwrap_or_default(), Visibility::OnReturn).await?;
        store.search(&large, &query).await.map(|_| ())
    });
    times.await?.report("put a vector and search, 100,000");
    several(&folder.path().join("several.db")).await?;
    let nothing = SqliteConfig::new(&path).with_vectors_held(0);
    let unheld = SqliteVectors::new(&Sqlite::connect(nothing).await?, vectors::space("bench"));
    let times = Times::of(5, async |_| unheld.search(&large, &query).await.map(|_| ()));
    times.await?.report("search 100,000, nothing held");
    Ok(())
}

/// Asks ten owners of 10,000 in turn.
async fn several(path: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
    let store = SqliteVectors::new(&Sqlite::connect(SqliteConfig::new(path)).await?, vectors::space("bench"));
    let owners = (0..10).map(|n| Scope::new("bench", &format!("one of ten: {n}"))).collect::<Result<Vec<_>, _>>()?;
    for (seed, owner) in (10..).zip(&owners) {
        for entries in vectors::entries(seed, 10_000)?.chunks(1_000) {
            store.put(owner, entries, Visibility::AfterFlush).await?;
        }
    }
    let query = vectors::query(&store, vectors::queries().swap_remove(0));
    for owner in &owners {
        store.search(owner, &query).await?;
    }
    let times = Times::of(200, async |number| {
        let Some(owner) = owners.get(number % owners.len()) else { return Ok(()) };
        store.search(owner, &query).await.map(|_| ())
    });
    times.await?.report("search one of ten of 10,000, each in turn");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run())
}
