//! The server of the benches.

use memory_core::{Error, Result};
use memory_postgres::{Postgres, PostgresConfig};
use sqlx::postgres::{PgPool, PgPoolOptions};

/// Opens the schema `bench` of the database at `MEMORY_TEST_POSTGRES_URL`, and beside it the raw driver.
///
/// # Errors
/// `Invalid` if the variable is missing; any of opening.
pub(crate) async fn open() -> Result<(Postgres, PgPool)> {
    #[expect(clippy::disallowed_methods, reason = "the configuration of the benches")]
    let url = std::env::var("MEMORY_TEST_POSTGRES_URL");
    let url = url.map_err(|_| Error::invalid("MEMORY_TEST_POSTGRES_URL names the server to measure"))?;
    let database = Postgres::connect(PostgresConfig::new(&url)?.with_schema("bench")?).await?;
    let raw = PgPoolOptions::new().connect(&url).await.map_err(|_| Error::invalid("the server cannot be reached"))?;
    Ok((database, raw))
}

/// Returns the driver's answer.
///
/// # Errors
/// `Invalid` for any error of the driver: a bench stops at it.
pub(crate) fn raw<T>(answer: sqlx::Result<T>) -> Result<T> {
    answer.map_err(|error| Error::invalid(error.to_string()))
}
