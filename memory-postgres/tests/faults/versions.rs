//! Schemas that an earlier version of the library made.

use memory_core::Scope;
use memory_core::upkeep::{IndexName, Upkeep};
use memory_postgres::PgChat;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, PgConnection, SqlSafeStr as _};
use uuid::Uuid;

use crate::support::{open, ordinary};

/// The migrations of the truth but for the last of them, and those of the search stores.
const OVERTAKEN: [(i64, &str, &str); 5] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
];

/// Makes a schema by these migrations alone, and returns its name.
async fn make(url: &str, migrations: &[(i64, &'static str, &'static str)]) -> Result<String, Failure> {
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let schema = format!("t{}", Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&ordinary(url)).await.map_err(failed)?;
    let sql = "SELECT set_config('search_path', $1 || ', public', false)";
    sqlx::query(sql).bind(&schema).execute(&mut connection).await.map_err(failed)?;
    let sql =
        "DO $$ BEGIN EXECUTE format('CREATE SCHEMA %I', split_part(current_setting('search_path'), ',', 1)); END $$";
    sqlx::raw_sql(sql).execute(&mut connection).await.map_err(failed)?;
    let migration = |(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations(migrations.iter().map(migration).collect());
    migrator.dangerous_set_table_name("memory_migrations");
    migrator.run_direct(None, &mut connection, false).await.map_err(|error| Failure::new(error.to_string()))?;
    Ok(schema)
}

pub(crate) async fn overtaken(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let schema = make(&url, &OVERTAKEN).await?;
    // Notes are the matter of the migration that is missing.
    let chat = PgChat::new(&open(&url, &schema).await?);
    chat.enlist(&IndexName::new("text/test")?).await?;
    equal(chat.epoch(&Scope::new("acme", "ada")?).await?.0, 0)
}
