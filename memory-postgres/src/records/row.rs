//! Records as rows: encoded before a connection is taken, and stored in place of the old ones.

use std::collections::HashMap;

use memory_core::Fields;
use memory_core::error::Error;
use memory_core::id::{Digest, RecordId};
use memory_core::plan::records::{self, KnownRecord};
use memory_core::record::{Record, StoredRecord};
use memory_core::scope::Scope;
use memory_core::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};
use uuid::Uuid;

use crate::error::{Attempt, BACKEND, Doing};
use crate::number::loaded;

/// A record, with the words by which filters find it.
pub(super) type Encoded = records::Row<Option<String>>;

/// A record with its version and access statistics.
pub(super) type Stored<'a> = records::Stored<'a, Option<String>>;

/// Returns the state of the records under those of the ids that are or were taken.
pub(super) async fn known(
    connection: &mut PgConnection,
    scope: &Scope,
    epoch: i64,
    records: &[Encoded],
    doing: &'static str,
) -> Attempt<HashMap<RecordId, KnownRecord>> {
    let sql = "SELECT id, version, CASE WHEN body IS NOT NULL THEN digest END FROM record \
         WHERE scope = $1 AND epoch = $2 AND id = ANY ($3)";
    let ids: Vec<Uuid> = records.iter().map(|record| record.id.0).collect();
    let rows = sqlx::query_as::<_, (Uuid, i64, Option<Vec<u8>>)>(sql).bind(scope.key()).bind(epoch).bind(ids);
    let rows = rows.fetch_all(connection).await.doing(doing)?;
    Ok(rows.into_iter().map(|(id, version, digest)| (RecordId(id), KnownRecord { version, digest })).collect())
}

/// Stores records in place of the old ones, and notes them. Either all of them have access statistics, or none.
pub(super) async fn store(
    connection: &mut PgConnection,
    scope: &Scope,
    epoch: i64,
    rows: &[Stored<'_>],
    doing: &'static str,
) -> Attempt<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql =
        "SELECT store_records($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    let is_restored = rows.iter().all(|row| row.accessed.is_some());
    let accessed = |row: &Stored<'_>| row.accessed.unwrap_or_default();
    let time = |get: fn(&Fields) -> Option<Timestamp>| column(rows, |row| get(&row.record.fields).map(|time| time.0));
    let call = sqlx::query(sql).bind(scope.key()).bind(epoch).bind(is_restored);
    let call = call.bind(column(rows, |row| row.record.id.0)).bind(column(rows, |row| row.version));
    let call = call.bind(column(rows, |row| row.record.digest.as_slice()));
    let call = call.bind(column(rows, |row| accessed(row).0)).bind(column(rows, |row| accessed(row).1));
    let call = call.bind(column(rows, |row| row.record.hold));
    let call = call.bind(column(rows, |row| row.record.fields.kind.as_ref().map(|kind| kind.as_bytes().to_vec())));
    let session = |row: &Stored<'_>| row.record.fields.session.as_ref().map(|name| name.name().as_bytes().to_vec());
    let call = call.bind(column(rows, session)).bind(column(rows, |row| row.record.fields.trust as i16));
    let call = call.bind(column(rows, |row| row.record.fields.at.0)).bind(time(|fields| fields.expires_at));
    let call = call.bind(time(|fields| fields.valid_from)).bind(time(|fields| fields.valid_to));
    let call = call.bind(time(|fields| fields.superseded_at)).bind(column(rows, |row| row.record.facets.clone()));
    let call = call.bind(column(rows, |row| row.record.body.as_str()));
    call.execute(connection).await.doing(doing).map(|_| ())
}

fn column<'r, 'a, T>(rows: &'r [Stored<'a>], get: impl Fn(&'r Stored<'a>) -> T) -> Vec<T> {
    rows.iter().map(get).collect()
}

/// Returns a record from the columns `id, version, accessed_at, access_count, digest, body`.
pub(super) fn record(row: &PgRow, doing: &'static str) -> Attempt<StoredRecord> {
    let (digest, body): (&[u8], &str) = (row.try_get(4).doing(doing)?, row.try_get(5).doing(doing)?);
    let id = RecordId(row.try_get(0).doing(doing)?);
    let record = if Digest::of(&[body.as_bytes()]).0 == digest {
        Record::decode(BACKEND, body.as_bytes())
    } else {
        Err(Error::corrupt(BACKEND, "it does not match its digest"))
    };
    let record = record.map_err(|error| error.damaging(format_args!("the record {id}")))?;
    if record.id != id {
        return Err(Error::corrupt(BACKEND, "a row has another id than its record").into());
    }
    let accessed_at: Option<i64> = row.try_get(2).doing(doing)?;
    Ok(StoredRecord {
        record: record.into(),
        version: loaded(row.try_get(1).doing(doing)?)?,
        accessed_at: accessed_at.map(Timestamp),
        access_count: loaded(row.try_get(3).doing(doing)?)?,
    })
}
