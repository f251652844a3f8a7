//! Row-level security: the wall behind the owner's key in every statement.

use memory_core::record::Record;
use memory_core::store::Store as _;
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::{Error, Timestamp};
use memory_postgres::{PgChat, PgRecords, Postgres, PostgresConfig};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::{Connection as _, PgConnection, QueryBuilder};
use uuid::Uuid;

use super::writers::{Talk, new};
use crate::support::{admin, open, ordinary};

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

/// Makes a role that has nothing to do with the tables.
const STRANGER: &str = "DO $$ BEGIN \
     IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memory_stranger') THEN \
     CREATE ROLE memory_stranger NOSUPERUSER NOBYPASSRLS; END IF; \
     EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN NULL; END $$";

/// Runs a statement that names the schema.
async fn change(admin: &mut PgConnection, before: &'static str, schema: &str, behind: &'static str) -> Scene {
    let mut sql = QueryBuilder::new(before);
    sql.push(schema).push(behind);
    sql.build().execute(admin).await.map(|_| ()).map_err(|error| failed(&error))
}

/// Returns why a schema is not opened.
async fn refusal(url: &str, schema: &str) -> Result<String, Failure> {
    match open(url, schema).await {
        Err(Error::Unsupported { backend: _, what }) => Ok(what),
        Err(error) => Err(error.into()),
        Ok(_) => Err("a schema that others may change is opened".into()),
    }
}

/// A schema in which others may make functions is not opened, nor one in which they have: what statements call is ours.
pub(crate) async fn strangers(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    open(&url, &schema).await?;
    let mut admin = admin(&url).await?;
    run(&mut admin, STRANGER).await?;
    for (who, grant, revoke) in
        [("PUBLIC", " TO PUBLIC", " FROM PUBLIC"), ("memory_stranger", " TO memory_stranger", " FROM memory_stranger")]
    {
        change(&mut admin, "GRANT USAGE, CREATE ON SCHEMA ", &schema, grant).await?;
        let why = refusal(&url, &schema).await?;
        let remedy = format!("REVOKE CREATE ON SCHEMA {schema} FROM {who}");
        check!(why.contains(&remedy), "it is told {why}");
        run(&mut admin, "SET ROLE memory_stranger").await?;
        let planted = ".append_messages(text) RETURNS text LANGUAGE sql AS 'SELECT $1'";
        change(&mut admin, "CREATE FUNCTION ", &schema, planted).await?;
        run(&mut admin, "RESET ROLE").await?;
        change(&mut admin, "REVOKE CREATE ON SCHEMA ", &schema, revoke).await?;
        let why = refusal(&url, &schema).await?;
        check!(why.contains("function append_messages") && why.contains("memory_stranger"), "it is told {why}");
        change(&mut admin, "DROP FUNCTION ", &schema, ".append_messages(text)").await?;
        open(&url, &schema).await?;
    }
    Ok(())
}

/// Nothing is made in a schema that was there before, and others may change.
pub(crate) async fn open_schemas(servers: Servers) -> Scene {
    let (url, schema) = (servers.url("postgres")?, format!("t{}", Uuid::now_v7().simple()));
    let mut admin = admin(&url).await?;
    change(&mut admin, "CREATE SCHEMA ", &schema, "").await?;
    change(&mut admin, "GRANT USAGE, CREATE ON SCHEMA ", &schema, " TO PUBLIC").await?;
    check!(refusal(&url, &schema).await?.contains("FROM PUBLIC"), "it is not told who may change the schema");
    let sql = "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)";
    let made = sqlx::query_scalar::<_, i64>(sql).bind(&schema).fetch_one(&mut admin).await;
    equal(made.map_err(|error| failed(&error))?, 0)?;
    // The role that makes the tables may be given the right: others trust it, because it owns them.
    change(&mut admin, "REVOKE CREATE ON SCHEMA ", &schema, " FROM PUBLIC").await?;
    change(&mut admin, "GRANT CREATE ON SCHEMA ", &schema, " TO memory_tester").await?;
    open(&url, &schema).await?;
    Postgres::connect(PostgresConfig::new(&url)?.with_schema(&schema)?).await?;
    Ok(())
}
