//! The server of the benches of search.

use memory_postgres::{Postgres, PostgresConfig};
use memory_testkit::bench::Outcome;
use sqlx::postgres::{PgPool, PgPoolOptions};

/// Opens the schema `bench` of the database at `url`, and beside it the driver alone.
pub(crate) async fn open(url: &str) -> Outcome<(Postgres, PgPool)> {
    let database = Postgres::connect(PostgresConfig::new(url)?.with_schema("bench")?).await?;
    Ok((database, PgPoolOptions::new().connect(url).await?))
}
