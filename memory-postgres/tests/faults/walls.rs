//! Row-level security: the wall behind the owner's key in every statement.

use memory_core::record::Record;
use memory_core::store::Store as _;
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::{Error, Timestamp};
use memory_postgres::{PgChat, PgRecords, Postgres, PostgresConfig};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, equal};
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use super::writers::{Talk, new};
use crate::support::{open, ordinary};

/// Two owners with a message and a record each, and a connection of an ordinary role beside the library.
struct Wall {
    owners: [Talk; 2],
    connection: PgConnection,
}

fn failed(error: &sqlx::Error) -> Failure {
    Failure::new(error.to_string())
}

async fn build(servers: &Servers) -> Result<Wall, Failure> {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    let server = open(&url, &schema).await?;
    let owners = [Talk::new()?, Talk::new()?];
    for talk in &owners {
        talk.append(&PgChat::new(&server), &new("a secret")).await?;
        let record = Record::new("fact", "a secret", Timestamp(0)).into();
        let batch = RecordBatch { fence: None, puts: vec![Put { record, expect: Expect::Absent }] };
        PgRecords::new(&server).put(&talk.scope, &batch).await?;
    }
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(|error| failed(&error))?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(|error| failed(&error))?;
    Ok(Wall { owners, connection })
}

/// What forgets its `where`: all messages, records and sessions that there are.
const FORGETFUL: &str = "SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM record) \
     + (SELECT count(*) FROM session)";

async fn seen(connection: &mut PgConnection) -> Result<i64, Failure> {
    sqlx::query_scalar(FORGETFUL).fetch_one(connection).await.map_err(|error| failed(&error))
}

async fn run(connection: &mut PgConnection, sql: &'static str) -> Result<u64, Failure> {
    let done = sqlx::query(sql).execute(connection).await.map_err(|error| failed(&error))?;
    Ok(done.rows_affected())
}

async fn enter(connection: &mut PgConnection, talk: &Talk) -> Scene {
    run(connection, "BEGIN").await?;
    let enter = sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(talk.scope.key());
    enter.execute(connection).await.map(|_| ()).map_err(|error| failed(&error))
}

pub(crate) async fn forgotten(servers: Servers) -> Scene {
    let Wall { owners, mut connection } = build(&servers).await?;
    equal(seen(&mut connection).await?, 0)?;
    for talk in &owners {
        enter(&mut connection, talk).await?;
        equal(seen(&mut connection).await?, 3)?;
        equal(run(&mut connection, "UPDATE message SET tokens = tokens").await?, 1)?;
        equal(run(&mut connection, "DELETE FROM record").await?, 1)?;
        run(&mut connection, "COMMIT").await?;
        // A connection that is used again remembers no owner.
        equal(seen(&mut connection).await?, 0)?;
    }
    Ok(())
}

pub(crate) async fn foreign(servers: Servers) -> Scene {
    let Wall { owners, mut connection } = build(&servers).await?;
    let [own, other] = &owners;
    enter(&mut connection, own).await?;
    let sql = "INSERT INTO session (scope, epoch, key) VALUES ($1, 0, 'planted')";
    let planted = sqlx::query(sql).bind(other.scope.key()).execute(&mut connection).await;
    let code =
        planted.err().and_then(|error| error.as_database_error().and_then(|error| error.code().map(String::from)));
    equal(code.as_deref(), Some("42501"))?;
    run(&mut connection, "ROLLBACK").await?;
    // Nor a row of nobody, whom a connection without an owner would be.
    let sql = "INSERT INTO session (scope, epoch, key) VALUES ('', 0, 'planted')";
    let planted = sqlx::query(sql).execute(&mut connection).await;
    equal(planted.is_err(), true)
}

pub(crate) async fn told(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    let server = open(&url, &schema).await?;
    equal((server.is_walled(), PgChat::new(&server).ping().await?.is_walled), (true, Some(true)))?;
    let superuser = Postgres::connect(PostgresConfig::new(&url)?.with_schema(&schema)?).await?;
    equal((superuser.is_walled(), PgChat::new(&superuser).ping().await?.is_walled), (false, Some(false)))?;
    // Without the right to create anything it is told so, and nothing waits.
    let absent = PostgresConfig::new(&ordinary(&url))?.with_schema(&format!("{schema}x"))?.with_migrations(false);
    let refused = Postgres::connect(absent).await.map(|_| ());
    equal(matches!(refused, Err(Error::Unsupported { .. })), true)
}
