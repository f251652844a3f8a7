//! Access statistics, deletion and expiry.

use std::collections::BTreeMap;

use memory_core::error::{Error, Result};
use memory_core::id::RecordId;
use memory_core::scope::Scope;
use memory_core::time::Timestamp;
use sqlx::SqliteConnection;

use super::fence;
use crate::client::Sqlite;
use crate::error::Doing;
use crate::notes::mark_records;
use crate::number::{limit, list, loaded};
use crate::owner::{self, Owner, Truth};
use crate::row::uuid;

const DELETE: &str = "delete records";

/// Counts an access of records at `at`: once for each record and time, and only forwards in time.
pub(super) async fn touch(file: &Sqlite, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let (scope, list, doing) = (scope.clone(), list(ids.iter().map(|id| id.0.as_bytes())), "note accesses");
    let work = file.write(doing, move |connection| {
        Box::pin(async move {
            let sql = "UPDATE record SET accessed_at = ?3, \
                 access_count = iif(access_count < 9223372036854775807, access_count + 1, access_count) \
                 WHERE owner = (SELECT id FROM owner WHERE truth = 1 AND key = ?1 AND buried = 0) \
                 AND id IN (SELECT unhex(value) FROM json_each(?2)) AND (accessed_at IS NULL OR accessed_at < ?3)";
            let update = sqlx::query(sql).bind(scope.key()).bind(list).bind(at.0);
            update.execute(connection).await.doing(doing).map(|_| ())
        })
    });
    work.await
}

/// A record that is to be deleted.
struct Doomed {
    item: i64,
    id: [u8; 16],
    version: i64,
}

/// Deletes records up to the versions given, and returns how many there were.
pub(super) async fn delete(file: &Sqlite, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
    if records.is_empty() {
        return Ok(0);
    }
    let (scope, records) = (scope.clone(), records.to_vec());
    let work = file.write(DELETE, move |connection| {
        Box::pin(async move {
            // Even an unknown owner, because a put of its first record may be under way.
            let owner = owner::obtain(connection, Truth::Records, &scope, DELETE).await?;
            let mut doomed = Vec::new();
            for (id, latest) in records {
                let sql = "SELECT item, version FROM record WHERE owner = ? AND id = ?";
                let found = sqlx::query_as(sql).bind(owner.id).bind(id.0.as_bytes().as_slice());
                let Some((item, version)) = found.fetch_optional(&mut *connection).await.doing(DELETE)? else {
                    continue;
                };
                if loaded(version)? > latest {
                    return Err(Error::Conflict);
                }
                doomed.push(Doomed { item, id: *id.0.as_bytes(), version });
            }
            fence::raise(connection, owner, None, DELETE).await?;
            remove(connection, owner, doomed).await
        })
    });
    work.await
}

/// Deletes up to `count` records that have expired at `now`, soonest first.
///
/// The records are read in the deleting transaction, so that one put again meanwhile is not lost. One whose id is damaged stays: it must
/// not keep those of other owners from being deleted.
pub(crate) async fn sweep(file: &Sqlite, now: Timestamp, count: usize) -> Result<u64> {
    let work = file.write(DELETE, move |connection| {
        Box::pin(async move {
            let sql = "SELECT owner.id, owner.epoch, record.item, record.id, record.version \
                 FROM record INDEXED BY record_expiry JOIN owner ON owner.id = record.owner \
                 WHERE record.expires_at <= ? AND record.expires_at IS NOT NULL AND record.hold = 0 AND owner.buried = 0 \
                 AND length(record.id) = 16 \
                 ORDER BY record.expires_at, owner.key, record.id LIMIT ?";
            let rows = sqlx::query_as::<_, (i64, i64, i64, Vec<u8>, i64)>(sql).bind(now.0).bind(limit(count));
            let mut doomed: BTreeMap<i64, (Owner, Vec<Doomed>)> = BTreeMap::new();
            for (id, epoch, item, record, version) in rows.fetch_all(&mut *connection).await.doing(DELETE)? {
                let record = Doomed { item, id: uuid(&record)?.into_bytes(), version };
                let (_, list) = doomed.entry(id).or_insert_with(|| (Owner { id, epoch }, Vec::new()));
                list.push(record);
            }
            let mut removed = 0;
            for (owner, list) in doomed.into_values() {
                removed += remove(connection, owner, list).await?;
            }
            Ok(removed)
        })
    });
    work.await
}

/// Deletes records, keeps their versions as tombstones and notes them gone; returns how many there were.
async fn remove(connection: &mut SqliteConnection, owner: Owner, doomed: Vec<Doomed>) -> Result<u64> {
    let mut gone = Vec::with_capacity(doomed.len());
    for Doomed { item, id, version } in doomed {
        let row = sqlx::query("DELETE FROM record WHERE owner = ? AND item = ?").bind(owner.id).bind(item);
        if row.execute(&mut *connection).await.doing(DELETE)?.rows_affected() == 0 {
            // Named twice in one call.
            continue;
        }
        let values = sqlx::query("DELETE FROM value WHERE owner = ? AND place = 1 AND item = ?");
        values.bind(owner.id).bind(item).execute(&mut *connection).await.doing(DELETE)?;
        let version = version.saturating_add(1);
        // A tombstone beside a record is damage, which must not keep other records from being deleted.
        let grave = sqlx::query(
            "INSERT INTO record_grave (owner, id, version) VALUES (?, ?, ?) \
             ON CONFLICT DO UPDATE SET version = max(version, excluded.version)",
        );
        let grave = grave.bind(owner.id).bind(id.as_slice()).bind(version);
        grave.execute(&mut *connection).await.doing(DELETE)?;
        gone.push((id, version));
    }
    mark_records(connection, owner, &gone, true).await?;
    Ok(gone.len() as u64)
}
