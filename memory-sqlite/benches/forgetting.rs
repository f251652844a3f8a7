//! How long an owner of many records takes to forget a session.
//!
//! `cargo bench -p memory-sqlite --bench forgetting -- [RECORDS]`

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Truth;
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords};
use memory_testkit::bench::forgetting::forgetting;
use memory_testkit::bench::{Outcome, alone, numbers};

fn main() -> ExitCode {
    alone(measure)
}

async fn measure() -> Outcome<()> {
    let [records] = numbers([500_000]);
    let folder = tempfile::tempdir()?;
    let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&file)));
    forgetting(chat, Truth::records(Arc::new(SqliteRecords::new(&file))), records).await
}
