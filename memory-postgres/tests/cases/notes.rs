//! Notes as an earlier version could have left them, and indexes that are retired beside writers.

use std::sync::Arc;
use std::time::Duration;

use memory_core::record::Record;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::upkeep::{IndexName, Outcome, Upkeep as _};
use memory_core::time::Stopwatch;
use memory_core::{Error, Scope, Seq, Timestamp};
use memory_postgres::{PgRecords, Postgres};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

use crate::support::{open, ordinary};

/// A note with the largest number there is, and one that cannot be read.
pub(crate) async fn of_earlier_versions(database: Postgres, url: String) -> Scene {
    let tenant = uuid::Uuid::now_v7().to_string();
    let (records, index) = (PgRecords::new(&database), IndexName::new(&format!("text/{tenant}"))?);
    records.enlist(&index, None, usize::MAX).await?;
    for subject in ["ada", "bob"] {
        let record = Arc::new(Record::new("fact", "the rose is called Aurora", Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&Scope::new(&tenant, subject)?, &RecordBatch { fence: None, puts }).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    sqlx::query("SET search_path = search, public").execute(&mut connection).await.map_err(failed)?;
    let large = "UPDATE note SET \"from\" = 9223372036854775807, upto = 9223372036854775807 WHERE scope = $1";
    let bob = Scope::new(&tenant, "bob")?;
    sqlx::query(large).bind(bob.key()).execute(&mut connection).await.map_err(failed)?;
    let foreign = "UPDATE note SET scope = $1 WHERE scope = $2 \
         AND enlisted = (SELECT id FROM enlisted WHERE truth = 1 AND name = $3)";
    let ada = Scope::new(&tenant, "ada")?;
    let damage = sqlx::query(foreign).bind(format!("no key {tenant}")).bind(ada.key()).bind(index.as_str());
    damage.execute(&mut connection).await.map_err(failed)?;

    let pending = || records.pending(&index, Timestamp(0), 10);
    let notes = pending().await?;
    equal(notes.iter().map(|note| (note.scope.clone(), note.upto)).collect::<Vec<_>>(), [(bob, Seq(u64::MAX >> 1))])?;
    let done = notes.iter().map(|note| (note.clone(), Outcome::Done { through: note.upto }));
    let done: Vec<_> = done.collect();
    for _ in 0..2 {
        records.settle(&index, &done).await?;
    }
    let left = pending().await;
    check!(matches!(left, Err(Error::Corrupt { .. })), "{left:?}");
    records.retire(&index).await?;
    let others = "DELETE FROM note WHERE scope = $1";
    let rest = sqlx::query(others).bind(format!("no key {tenant}")).execute(&mut connection).await;
    rest.map_err(failed)?;
    connection.close().await.map_err(failed)
}

/// While a writer takes its time, an index that is retired waits for it, and nobody else waits.
pub(crate) async fn retired_beside_writers(url: String) -> Scene {
    let schema = format!("t{}", uuid::Uuid::now_v7().simple());
    let (records, index) = (PgRecords::new(&open(&url, &schema).await?), IndexName::new("text/retired")?);
    records.enlist(&index, None, usize::MAX).await?;
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut slow = PgConnection::connect(&ordinary(&url)).await.map_err(failed)?;
    let path = sqlx::query("SELECT set_config('search_path', $1, false)").bind(&schema);
    path.execute(&mut slow).await.map_err(failed)?;
    let write = "BEGIN; SELECT pg_advisory_xact_lock_shared('enlisted'::regclass::oid::integer, 0)";
    sqlx::raw_sql(write).execute(&mut slow).await.map_err(failed)?;
    let (retiring, retired) = (records.clone(), index.clone());
    let retiring = tokio::spawn(async move { retiring.retire(&retired).await });
    let (watch, ada) = (Stopwatch::start(), Scope::new("acme", "ada")?);
    while watch.elapsed() < Duration::from_millis(500) {
        let record = Arc::new(Record::new("fact", uuid::Uuid::now_v7().to_string(), Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&ada, &RecordBatch { fence: None, puts }).await?;
    }
    check!(!retiring.is_finished(), "it did not wait for the writer");
    sqlx::raw_sql("COMMIT").execute(&mut slow).await.map_err(failed)?;
    retiring.await.map_err(|stopped| Failure::new(stopped.to_string()))??;
    equal(records.indexes().await?.len(), 0)?;
    slow.close().await.map_err(failed)
}
