//! How long an owner of many records takes to forget a session.
//!
//! `MEMORY_TEST_POSTGRES_URL=postgres://… cargo bench -p memory-postgres --bench forgetting -- [RECORDS]`

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Truth;
use memory_postgres::{PgChat, PgRecords, Postgres, PostgresConfig};
use memory_testkit::bench::forgetting::forgetting;
use memory_testkit::bench::{Outcome, against, numbers};

fn main() -> ExitCode {
    against("postgres", measure)
}

async fn measure(url: String) -> Outcome<()> {
    let [records] = numbers([500_000]);
    let database = Postgres::connect(PostgresConfig::new(&url)?.with_schema("forgetting")?).await?;
    let chat = Truth::chat(Arc::new(PgChat::new(&database)));
    forgetting(chat, Truth::records(Arc::new(PgRecords::new(&database))), records).await
}
