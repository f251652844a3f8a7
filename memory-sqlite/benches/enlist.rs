//! How long writers wait while an index is enlisted over many records.
//!
//! `cargo bench -p memory-sqlite --bench enlist -- [RECORDS]`

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Truth;
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords};
use memory_testkit::bench::enlist::enlisting;
use memory_testkit::bench::{Outcome, alone, numbers};

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    alone(|| async { tokio::spawn(measure()).await? })
}

async fn measure() -> Outcome<()> {
    let [records] = numbers([200_000]);
    let folder = tempfile::tempdir()?;
    let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&file)));
    enlisting(&chat, &Truth::records(Arc::new(SqliteRecords::new(&file))), records).await
}
