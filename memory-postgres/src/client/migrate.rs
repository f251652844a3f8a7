//! Migrations, recorded in a table within the schema.

use memory_core::error::{Cause, Error, Result, Transience};
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::PgConnection;

use super::home;
use crate::config::PostgresConfig;
use crate::error::{BACKEND, Doing, classify};

const DOING: &str = "migrate the tables";

/// The table that records the migrations done.
const TABLE: &str = "memory_migrations";

/// Returns the migrations in order: 10, 11, 16, 26 and 29 touch the search stores, 14 both, the others the truth.
fn migrations() -> Vec<Migration> {
    let plain = |version, name: &'static str, sql: &'static str| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    vec![
        plain(1, "truth", include_str!("../../migrations/0001_truth.sql")),
        plain(2, "chat", include_str!("../../migrations/0002_chat.sql")),
        plain(3, "records", include_str!("../../migrations/0003_records.sql")),
        plain(4, "upkeep", include_str!("../../migrations/0004_upkeep.sql")),
        plain(5, "settle", include_str!("../../migrations/0005_settle.sql")),
        plain(10, "text", include_str!("../../migrations/0010_text.sql")),
        plain(11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
        plain(12, "pinned", include_str!("../../migrations/0012_pinned.sql")),
        plain(13, "counters", include_str!("../../migrations/0013_counters.sql")),
        plain(14, "incarnations", include_str!("../../migrations/0014_incarnations.sql")),
        plain(16, "erasers", include_str!("../../migrations/0016_erasers.sql")),
        plain(17, "generations", include_str!("../../migrations/0017_generations.sql")),
        plain(20, "retire", include_str!("../../migrations/0020_retire.sql")),
        plain(21, "leads", include_str!("../../migrations/0021_leads.sql")),
        plain(22, "large_deletions", include_str!("../../migrations/0022_large_deletions.sql")),
        plain(23, "views", include_str!("../../migrations/0023_views.sql")),
        plain(24, "records by time", include_str!("../../migrations/0024_records_by_time.sql")),
        plain(25, "marks", include_str!("../../migrations/0025_marks.sql")),
        plain(26, "left indexes", include_str!("../../migrations/0026_left_indexes.sql")),
        plain(27, "retire beside", include_str!("../../migrations/0027_retire_beside.sql")),
        plain(28, "half enlisted", include_str!("../../migrations/0028_half_enlisted.sql")),
        plain(29, "places", include_str!("../../migrations/0029_places.sql")),
        plain(30, "found facts", include_str!("../../migrations/0030_found_facts.sql")),
        plain(31, "forgotten", include_str!("../../migrations/0031_forgotten.sql")),
    ]
}

/// Creates the schema, and creates or upgrades its tables; only checks them if the configuration forbids migrations.
pub(super) async fn migrate(connection: &mut PgConnection, config: &PostgresConfig) -> Result<()> {
    let migrations = migrations();
    // Before anything is called that a stranger may have put there.
    home::check(connection, &config.schema).await?;
    let done = done(connection, &config.schema).await?;
    // Most processes find everything done, and need neither the lock nor the rights. Every number is compared, because a new
    // migration of truth may have a lower number than those of the search stores.
    let wanted = migrations.iter().map(|migration| migration.version);
    if done.as_ref().is_some_and(|done| wanted.eq(done.iter().copied())) {
        return Ok(());
    }
    if !config.is_migrating {
        return Err(unsupported("use tables of another version"));
    }
    if done.is_none() {
        create_schema(connection, config).await?;
        // Whoever was faster may have made it, and a database may give away rights in each new one.
        home::check(connection, &config.schema).await?;
    }
    let settle = sqlx::raw_sql("SET statement_timeout = 0").execute(&mut *connection).await;
    settle.doing(DOING).map_err(|failure| failure.error)?;
    let mut migrator = Migrator::with_migrations(migrations);
    migrator.dangerous_set_table_name(TABLE);
    // Takes an advisory lock, so that only one of several processes migrates and the others find it done.
    migrator.run_direct(None, &mut *connection, false).await.map_err(of_migration)
}

/// Returns the numbers of the migrations done, in order; none if there is no table of them.
async fn done(connection: &mut PgConnection, schema: &str) -> Result<Option<Vec<i64>>> {
    // A table of the same name in another schema of the search path is not ours. One in a schema that was made this moment may not
    // be found by its name yet.
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('memory_migrations') \
         AND relnamespace = to_regnamespace($1))";
    let is_there = sqlx::query_scalar(sql).bind(schema).fetch_one(&mut *connection).await;
    if !is_there.doing(DOING).map_err(|failure| failure.error)? {
        return Ok(None);
    }
    let sql = "SELECT version FROM memory_migrations WHERE success ORDER BY version";
    let done = sqlx::query_scalar(sql).fetch_all(connection).await.doing(DOING).map_err(|failure| failure.error)?;
    Ok(Some(done))
}

/// Creates the schema if it is missing. Its name is passed as a setting, because statements are static.
///
/// If two processes create it at once, the second waits for the first and gets an error that it exists, which is ignored. A
/// lock would not avoid that, because a connection's catalog cache may be older than the lock.
async fn create_schema(connection: &mut PgConnection, config: &PostgresConfig) -> Result<()> {
    let name = sqlx::query("SELECT set_config('memory.schema', $1, false)").bind(&config.schema);
    name.execute(&mut *connection).await.doing(DOING).map_err(|failure| failure.error)?;
    let sql = "DO $$ BEGIN \
         IF to_regnamespace(current_setting('memory.schema')) IS NULL THEN \
         EXECUTE format('CREATE SCHEMA %I', current_setting('memory.schema')); END IF; \
         EXCEPTION WHEN duplicate_schema OR unique_violation THEN NULL; END $$";
    sqlx::raw_sql(sql).execute(&mut *connection).await.doing(DOING).map_err(|failure| failure.error)?;
    // The server may have resolved the search path just before another connection committed the schema, and cached it without:
    // then the tables would be made in the next schema of the path.
    let path = sqlx::query("SELECT set_config('search_path', current_setting('search_path'), false)");
    path.execute(connection).await.doing(DOING).map(|_| ()).map_err(|failure| failure.error)
}

fn of_migration(error: MigrateError) -> Error {
    match error {
        MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _) => classify(&source, DOING).error,
        MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
            unsupported("read tables written by a newer version")
        }
        MigrateError::VersionMismatch(_) | MigrateError::Dirty(_) => {
            Error::corrupt(BACKEND, "the tables are not those of their version")
        }
        _ => {
            let source = Cause::new("the migration failed");
            Error::Backend { backend: BACKEND, doing: DOING, transience: Transience::Permanent, source }
        }
    }
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported { backend: BACKEND, what: what.to_owned() }
}
