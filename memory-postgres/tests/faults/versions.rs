//! Schemas that an earlier version of the library made.

use memory_core::chat::{Append, ChatStore, NewMessage, Page};
use memory_core::upkeep::{IndexName, Upkeep};
use memory_core::{CounterId, Message, Role, Scope, SessionId, Timestamp};
use memory_postgres::PgChat;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Connection as _, PgConnection, SqlSafeStr as _};
use uuid::Uuid;

use super::writers::new;
use crate::support::{open, ordinary};

/// The migrations of the truth but for the last of them, and those of the search stores.
const OVERTAKEN: [(i64, &str, &str); 5] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
];

/// The migrations of a version that did not keep who counted tokens.
const COUNTERLESS: [(i64, &str, &str); 6] = [
    (1, "truth", include_str!("../../migrations/0001_truth.sql")),
    (2, "chat", include_str!("../../migrations/0002_chat.sql")),
    (3, "records", include_str!("../../migrations/0003_records.sql")),
    (4, "upkeep", include_str!("../../migrations/0004_upkeep.sql")),
    (10, "text", include_str!("../../migrations/0010_text.sql")),
    (11, "vectors", include_str!("../../migrations/0011_vectors.sql")),
];

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

/// Makes a schema by these migrations alone, and returns its name and a connection to it.
async fn make(url: &str, migrations: &[(i64, &'static str, &'static str)]) -> Result<(String, PgConnection), Failure> {
    let schema = format!("t{}", Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(&ordinary(url)).await.map_err(|error| failed(&error))?;
    let sql = "SELECT set_config('search_path', $1 || ', public', false)";
    sqlx::query(sql).bind(&schema).execute(&mut connection).await.map_err(|error| failed(&error))?;
    let sql =
        "DO $$ BEGIN EXECUTE format('CREATE SCHEMA %I', split_part(current_setting('search_path'), ',', 1)); END $$";
    sqlx::raw_sql(sql).execute(&mut connection).await.map_err(|error| failed(&error))?;
    let migration = |(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations(migrations.iter().map(migration).collect());
    migrator.dangerous_set_table_name("memory_migrations");
    migrator.run_direct(None, &mut connection, false).await.map_err(|error| Failure::new(error.to_string()))?;
    Ok((schema, connection))
}

pub(crate) async fn overtaken(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, _) = make(&url, &OVERTAKEN).await?;
    // Notes are the matter of the migration that is missing.
    let chat = PgChat::new(&open(&url, &schema).await?);
    chat.enlist(&IndexName::new("text/test")?).await?;
    equal(chat.epoch(&Scope::new("acme", "ada")?).await?.0, 0)
}

pub(crate) async fn counting(servers: Servers) -> Scene {
    let url = servers.url("postgres")?;
    let (schema, mut connection) = make(&url, &COUNTERLESS).await?;
    let (scope, session) = (Scope::new("acme", "ada")?, SessionId::new("s")?);
    let message = Message::new(Role::User, "old words", Timestamp(0));
    let body = String::from_utf8(message.encode()).map_err(|error| Failure::new(error.to_string()))?;
    let sql = "SELECT outcome FROM append_messages($1, $2, NULL, NULL, ARRAY[$3]::uuid[], ARRAY[$4]::bytea[], '{9}', \
         ARRAY['user'::bytea], '{NULL}', '{3}', '{0}', '{NULL}', ARRAY[$5]::text[])";
    let append = sqlx::query_scalar::<_, i16>(sql).bind(scope.key()).bind(session.key()).bind(message.id.0);
    let append = append.bind(message.digest(&session).0.to_vec()).bind(body);
    equal(append.fetch_one(&mut connection).await.map_err(|error| failed(&error))?, 0)?;
    let chat = PgChat::new(&open(&url, &schema).await?);
    let new = NewMessage { counter: CounterId(u32::MAX), ..new("new words") };
    let batch = Append { asked: 40_000, ..Append::new(vec![new]) };
    equal(chat.append(&scope, &session, &batch).await?.state.asked, 40_000)?;
    let rows = chat.read(&scope, &session, &Page::newest(10)).await?.messages;
    let found: Vec<_> = rows.iter().map(|row| (row.tokens, row.counter)).collect();
    equal(found, [(9, CounterId::UNKNOWN), (1, CounterId(u32::MAX))])
}
