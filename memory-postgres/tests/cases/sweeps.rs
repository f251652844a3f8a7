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

/// Puts a record of an owner that expires at a time.
async fn put(records: &PgRecords, subject: &str, expires_at: i64) -> Scene {
    let mut record = Record::new("fact", "tea", Timestamp(1));
    record.first.expires_at = Some(Timestamp(expires_at));
    let puts = vec![Put { record: Arc::new(record), expect: Expect::Absent }];
    records.put(&Scope::new("sweeps", subject)?, &RecordBatch { fence: None, puts }).await?;
    Ok(())
}

/// The records of all others are deleted, also where hers would fill the sweep, and then the error is told.
pub(crate) async fn beside_an_owner_that_fails(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let records = PgRecords::new(&open(&url, &schema).await?);
    for (subject, expires_at) in [("ada", 5), ("ada", 5), ("ada", 5), ("bob", 6), ("eve", 6), ("joe", 7)] {
        put(&records, subject, expires_at).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut connection).await.map_err(failed)?;
    sqlx::raw_sql(REFUSE).execute(&mut connection).await.map_err(failed)?;
    equal(records.sweep(Timestamp(9), 2).await?, 2)?;
    equal(records.sweep(Timestamp(9), 2).await?, 1)?;
    fails!(records.sweep(Timestamp(9), 2).await, Error::Backend { .. });
    sqlx::raw_sql("DROP TRIGGER refuse ON record").execute(&mut connection).await.map_err(failed)?;
    equal(records.sweep(Timestamp(9), 100).await?, 3)?;
    connection.close().await.map_err(failed)
}
