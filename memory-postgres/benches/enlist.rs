//! How long writers wait while an index is enlisted over many records.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench enlist -- [RECORDS]`

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Truth;
use memory_postgres::{PgChat, PgRecords, Postgres, PostgresConfig};
use memory_testkit::bench::enlist::enlisting;
use memory_testkit::bench::{Outcome, against, numbers};

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    against("postgres", async |url| tokio::spawn(measure(url)).await?)
}

async fn measure(url: String) -> Outcome<()> {
    let [records] = numbers([200_000]);
    let database = Postgres::connect(PostgresConfig::new(&url)?.with_schema("enlist")?).await?;
    let chat = Truth::chat(Arc::new(PgChat::new(&database)));
    enlisting(&chat, &Truth::records(Arc::new(PgRecords::new(&database))), records).await
}
