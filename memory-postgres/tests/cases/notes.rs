//! Notes as an earlier version could have left them.

use std::sync::Arc;

use memory_core::record::Record;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::store::upkeep::{IndexName, Outcome, Upkeep as _};
use memory_core::{Error, Scope, Seq, Timestamp};
use memory_postgres::{PgRecords, Postgres};
use memory_testkit::{Failure, Scene, check, equal};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;

/// A note with the largest number there is, and one that cannot be read.
pub(crate) async fn of_earlier_versions(database: Postgres, ordinary: String) -> Scene {
    let tenant = uuid::Uuid::now_v7().to_string();
    let (records, index) = (PgRecords::new(&database), IndexName::new(&format!("text/{tenant}"))?);
    records.enlist(&index, None, usize::MAX).await?;
    for subject in ["ada", "bob"] {
        let record = Arc::new(Record::new("fact", "the rose is called Aurora", Timestamp(1)));
        let puts = vec![Put { record, expect: Expect::Absent }];
        records.put(&Scope::new(&tenant, subject)?, &RecordBatch { fence: None, puts }).await?;
    }
    let failed = |error: sqlx::Error| Failure::new(error.to_string());
    let mut connection = PgConnection::connect(&ordinary).await.map_err(failed)?;
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
