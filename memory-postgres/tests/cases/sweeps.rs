//! Sweeps beside an owner whose records cannot be deleted.

use std::sync::Arc;

use memory_core::record::Record;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Error, Scope, Timestamp};
use memory_postgres::PgRecords;
use memory_testkit::{Failure, Scene, equal, fails};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::support::{open, ordinary};

/// Makes deletions of ada's records fail.
const REFUSE: &str = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$; \
     CREATE TRIGGER refuse BEFORE UPDATE ON record FOR EACH ROW WHEN (OLD.scope = 'sweeps.ada') EXECUTE FUNCTION refuse()";

/// Counts the deletions, which all fail as they do on a table that is locked. A sequence is not undone with its transaction.
const LOCK: &str = "CREATE SEQUENCE tries; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     PERFORM nextval('tries'); RAISE EXCEPTION USING ERRCODE = 'lock_not_available'; END $$; \
     CREATE TRIGGER refuse BEFORE UPDATE ON record FOR EACH ROW EXECUTE FUNCTION refuse()";

/// Puts a record of an owner that expires at a time.
async fn put(records: &PgRecords, subject: &str, expires_at: i64) -> Scene {
    let mut record = Record::new("fact", "tea", Timestamp(1));
    record.first.expires_at = Some(Timestamp(expires_at));
    let puts = vec![Put { record: Arc::new(record), expect: Expect::Absent }];
    records.put(&Scope::new("sweeps", subject)?, &RecordBatch { fence: None, puts }).await?;
    Ok(())
}

/// Connects to a schema.
async fn connect(url: &str, schema: &str) -> sqlx::Result<PgConnection> {
    let mut connection = PgConnection::connect(&ordinary(url)).await?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(schema);
    path.execute(&mut connection).await?;
    Ok(connection)
}

/// The records of all others are deleted, also where hers would fill the sweep, and then the error is told.
pub(crate) async fn beside_an_owner_that_fails(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let records = PgRecords::new(&open(&url, &schema).await?);
    for (subject, expires_at) in [("ada", 5), ("ada", 5), ("ada", 5), ("bob", 6), ("eve", 6), ("joe", 7)] {
        put(&records, subject, expires_at).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = connect(&url, &schema).await.map_err(failed)?;
    sqlx::raw_sql(REFUSE).execute(&mut connection).await.map_err(failed)?;
    equal(records.sweep(Timestamp(9), 2).await?, 2)?;
    equal(records.sweep(Timestamp(9), 2).await?, 1)?;
    fails!(records.sweep(Timestamp(9), 2).await, Error::Backend { .. });
    sqlx::raw_sql("DROP TRIGGER refuse ON record").execute(&mut connection).await.map_err(failed)?;
    equal(records.sweep(Timestamp(9), 100).await?, 3)?;
    connection.close().await.map_err(failed)
}

/// Not every owner is tried where the server does not delete anything.
pub(crate) async fn of_a_server_that_is_away(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let records = PgRecords::new(&open(&url, &schema).await?);
    for number in 0..10 {
        put(&records, &number.to_string(), 5).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = connect(&url, &schema).await.map_err(failed)?;
    sqlx::raw_sql(LOCK).execute(&mut connection).await.map_err(failed)?;
    fails!(records.sweep(Timestamp(9), 100).await, error if error.is_retryable());
    let tries = sqlx::query_scalar::<_, i64>("SELECT last_value FROM tries").fetch_one(&mut connection).await;
    equal(tries.map_err(failed)?, 3)?;
    sqlx::raw_sql("DROP TRIGGER refuse ON record").execute(&mut connection).await.map_err(failed)?;
    equal(records.sweep(Timestamp(9), 100).await?, 10)?;
    connection.close().await.map_err(failed)
}
