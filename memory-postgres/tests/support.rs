//! What the tests share: the server, and an ordinary role on it.

use std::time::Duration;

use memory_core::{Error, Result};
use memory_postgres::{Postgres, PostgresConfig};
use memory_testkit::{Failure, Scene};
use sqlx::{Connection as _, PgConnection, QueryBuilder};

/// Makes the role that tests log in as, with no rights but to create schemas. Superusers pass row-level security, so a
/// test that logs in as one tests nothing.
const ROLE: &str = "DO $$ BEGIN \
     IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memory_tester') THEN \
     CREATE ROLE memory_tester LOGIN PASSWORD 'memory_tester' NOSUPERUSER NOBYPASSRLS; END IF; \
     EXECUTE format('GRANT CREATE ON DATABASE %I TO memory_tester', current_database()); \
     EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN NULL; END $$";

/// Makes the role that an application runs as.
const APPLICATION: &str = "DO $$ BEGIN \
     IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memory_application') THEN \
     CREATE ROLE memory_application LOGIN PASSWORD 'memory_application' NOSUPERUSER NOBYPASSRLS; END IF; \
     EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN NULL; END $$";

/// What the README has an administrator grant.
const RIGHTS: [&str; 3] =
    ["USAGE ON SCHEMA", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA", "USAGE ON ALL SEQUENCES IN SCHEMA"];

/// Adds pgvector, which only a superuser may where it is not marked as trusted.
const EXTENSION: &str = "DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS vector SCHEMA public; \
     EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN NULL; END $$";

/// Asks a server for its version, and makes the role on it.
pub(crate) async fn probe(url: String) -> Result<String> {
    // Whatever it is: the server does not answer yet.
    let failed = |_: sqlx::Error| Error::Overloaded;
    let mut admin = admin(&url).await?;
    sqlx::raw_sql(ROLE).execute(&mut admin).await.map_err(failed)?;
    sqlx::raw_sql(EXTENSION).execute(&mut admin).await.map_err(failed)?;
    let version = sqlx::query_scalar("SHOW server_version").fetch_one(&mut admin).await.map_err(failed)?;
    admin.close().await.map_err(failed)?;
    Ok(version)
}

/// Connects as the superuser of the server.
pub(crate) async fn admin(url: &str) -> Result<PgConnection> {
    PgConnection::connect(url).await.map_err(|_| Error::Overloaded)
}

/// Returns the URL for the ordinary role.
pub(crate) fn ordinary(url: &str) -> String {
    let place = url.rsplit_once('@').map_or(url, |(_, place)| place);
    format!("postgres://memory_tester:memory_tester@{place}")
}

/// Returns how the ordinary role opens a schema.
///
/// With more patience than usual, because a loaded machine is slow; how soon calls end is tried apart.
pub(crate) fn config(url: &str, schema: &str) -> Result<PostgresConfig> {
    let config = PostgresConfig::new(&ordinary(url))?.with_schema(schema)?;
    Ok(config.with_connections(4).with_deadline(Duration::from_secs(30)))
}

/// Opens a schema as the ordinary role.
pub(crate) async fn open(url: &str, schema: &str) -> Result<Postgres> {
    Postgres::connect(config(url, schema)?).await
}

/// Gives the role of an application the least rights on the tables that there are.
pub(crate) async fn grant(admin: &mut PgConnection, schema: &str) -> Scene {
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    sqlx::raw_sql(APPLICATION).execute(&mut *admin).await.map_err(failed)?;
    for rights in RIGHTS {
        let mut sql = QueryBuilder::new("GRANT ");
        sql.push(rights).push(" ").push(schema).push(" TO memory_application");
        sql.build().execute(&mut *admin).await.map_err(failed)?;
    }
    Ok(())
}

/// Returns how an application opens a schema that another role owns.
pub(crate) fn application(url: &str, schema: &str) -> Result<PostgresConfig> {
    let url = ordinary(url).replace("memory_tester", "memory_application");
    let config = PostgresConfig::new(&url)?.with_schema(schema)?.with_migrations(false);
    Ok(config.with_connections(4).with_deadline(Duration::from_secs(30)))
}
