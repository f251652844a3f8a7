//! The example as a person runs it, on a test server.

use std::process::{Command, ExitCode};

use memory::Result;
use memory::postgres::{PgChat, Postgres, PostgresConfig};
use memory::store::{Health, Store as _};
use memory_testkit::services::{Servers, Service};
use memory_testkit::{Scene, Suite, check, printed};
use uuid::Uuid;

async fn probe(url: String) -> Result<Health> {
    let config = PostgresConfig::new(&url)?.with_schema(&format!("t{}", Uuid::now_v7().simple()))?;
    PgChat::new(&Postgres::connect(config).await?).ping().await
}

async fn what_was_told_is_there_in_the_next_run(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    for things in [1, 2] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_example-postgres"));
        let told = printed(command.env("DATABASE_URL", &url).env("DATABASE_SCHEMA", &schema))?;
        check!(told.contains(&format!("ada has said {things} things")), "{told}");
        check!(told.contains("bob has said 0 things"), "{told}");
        check!(told.contains(&format!("{things} things of ada are about tea")), "{told}");
        check!(told.contains("0 things of bob are about tea"), "{told}");
    }
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("example-postgres")
        .service(Service::postgres(), probe)
        .test("what_was_told_is_there_in_the_next_run", what_was_told_is_there_in_the_next_run)
        .run()
}
