//! Records as rows: encoded before the writer's turn, and stored in place of what is there.

use std::collections::HashMap;

use memory_core::Fields;
use memory_core::error::{Error, Result};
use memory_core::id::{Digest, RecordId};
use memory_core::record::{Record, StoredRecord};
use memory_core::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqliteConnection};

use crate::error::{BACKEND, Doing};
use crate::filter::{Bound, ValueRow, value_rows};
use crate::number::{list, loaded};
use crate::owner::Owner;
use crate::row::uuid;

/// The most rows of one statement.
const MOST_ROWS: usize = 64;

/// A record, ready to be stored.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: RecordId,
    pub(super) digest: Vec<u8>,
    body: Vec<u8>,
    fields: Fields,
    values: Vec<ValueRow>,
    hold: bool,
}

impl Encoded {
    /// Encodes a record.
    pub(super) fn new(record: &Record) -> Self {
        let (body, fields) = (record.encode(), Fields::of_record(record));
        let digest = Digest::of(&[&body]).0.to_vec();
        Self { id: record.id, digest, body, values: value_rows(&fields), fields, hold: record.hold }
    }
}

/// What stands under a record's id.
#[derive(Debug)]
pub(super) struct Known {
    /// The highest version that it ever had.
    pub(super) version: i64,
    /// Its row and digest; none if it is deleted.
    pub(super) row: Option<(i64, Vec<u8>)>,
}

/// Returns what stands under those of the ids that are or were taken.
pub(super) async fn known(
    connection: &mut SqliteConnection,
    owner: Owner,
    records: &[Encoded],
    doing: &'static str,
) -> Result<HashMap<RecordId, Known>> {
    let sql = "SELECT id, version, item, digest FROM record \
         WHERE owner = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2)) \
         UNION ALL SELECT id, version, NULL, NULL FROM record_grave \
         WHERE owner = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2))";
    let ids = list(records.iter().map(|record| record.id.0.as_bytes()));
    let rows = sqlx::query(sql).bind(owner.id).bind(ids).fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let id = RecordId(uuid(row.try_get(0).doing(doing)?)?);
        let item: Option<i64> = row.try_get(2).doing(doing)?;
        let digest: Option<Vec<u8>> = row.try_get(3).doing(doing)?;
        Ok((id, Known { version: row.try_get(1).doing(doing)?, row: item.zip(digest) }))
    });
    known.collect()
}

/// A record with what stands beside it.
pub(super) struct Stored<'a> {
    pub(super) record: &'a Encoded,
    pub(super) version: i64,
    /// Statistics to be stored; `None` leaves those that are there.
    pub(super) accessed: Option<(Option<i64>, i64)>,
}

/// Stores a record in place of what is there.
pub(super) async fn store(
    connection: &mut SqliteConnection,
    owner: Owner,
    known: Option<&Known>,
    stored: &Stored<'_>,
    doing: &'static str,
) -> Result<()> {
    let Encoded { id, digest, body, fields, values, hold } = stored.record;
    let Fields {
        unit: _,
        session,
        seq: _,
        role: _,
        speaker: _,
        kind,
        tags: _,
        trust,
        sources: _,
        at,
        expires_at,
        valid_from,
        valid_to,
        superseded_at,
        metadata: _,
    } = fields;
    let micros = |time: &Option<Timestamp>| time.map(|time| time.0);
    let sql = "INSERT INTO record (owner, id, version, digest, hold, kind, session, trust, at, expires_at, valid_from, \
         valid_to, superseded_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
         ON CONFLICT (owner, id) DO UPDATE SET version = ?3, digest = ?4, hold = ?5, kind = ?6, session = ?7, \
         trust = ?8, at = ?9, expires_at = ?10, valid_from = ?11, valid_to = ?12, superseded_at = ?13, body = ?14 \
         RETURNING item";
    let upsert = sqlx::query_scalar(sql).bind(owner.id).bind(id.0.as_bytes().as_slice()).bind(stored.version);
    let upsert = upsert.bind(digest.as_slice()).bind(*hold).bind(kind.as_deref().unwrap_or_default());
    let upsert = upsert.bind(session.as_ref().map(|session| session.name())).bind(*trust as i64).bind(at.0);
    let upsert = upsert.bind(micros(expires_at)).bind(micros(valid_from)).bind(micros(valid_to));
    let upsert = upsert.bind(micros(superseded_at)).bind(body.as_slice());
    let item: i64 = upsert.fetch_one(&mut *connection).await.doing(doing)?;
    match known {
        Some(Known { row: Some(_), .. }) => {
            let old = sqlx::query("DELETE FROM value WHERE owner = ? AND place = 1 AND item = ?");
            old.bind(owner.id).bind(item).execute(&mut *connection).await.doing(doing)?;
        }
        Some(Known { row: None, .. }) => {
            let grave = sqlx::query("DELETE FROM record_grave WHERE owner = ? AND id = ?");
            let grave = grave.bind(owner.id).bind(id.0.as_bytes().as_slice());
            grave.execute(&mut *connection).await.doing(doing)?;
        }
        None => {}
    }
    if let Some((at, count)) = stored.accessed {
        let accessed = sqlx::query("UPDATE record SET accessed_at = ?, access_count = ? WHERE owner = ? AND item = ?");
        let accessed = accessed.bind(at).bind(count).bind(owner.id).bind(item);
        accessed.execute(&mut *connection).await.doing(doing)?;
    }
    insert_values(connection, owner, item, values, doing).await
}

async fn insert_values(
    connection: &mut SqliteConnection,
    owner: Owner,
    item: i64,
    values: &[ValueRow],
    doing: &'static str,
) -> Result<()> {
    for some in values.chunks(MOST_ROWS) {
        let mut sql = QueryBuilder::new("INSERT INTO value (owner, place, item, field, key, type, value) VALUES ");
        for (place, ValueRow { field, key, kind, value }) in some.iter().enumerate() {
            sql.push(if place == 0 { "(" } else { ", (" }).push_bind(owner.id).push(", 1, ").push_bind(item);
            sql.push(", ").push_bind(*field).push(", ").push_bind(key.as_str()).push(", ").push_bind(*kind).push(", ");
            sql.push_bind(Bound(value)).push(")");
        }
        sql.build().execute(&mut *connection).await.doing(doing)?;
    }
    Ok(())
}

/// Returns a record from the columns `id, version, accessed_at, access_count, digest, body`.
pub(super) fn record(row: &SqliteRow, doing: &'static str) -> Result<StoredRecord> {
    let (digest, body): (&[u8], &[u8]) = (row.try_get(4).doing(doing)?, row.try_get(5).doing(doing)?);
    if Digest::of(&[body]).0 != digest {
        return Err(Error::corrupt(BACKEND, "a record does not match its digest"));
    }
    let accessed_at: Option<i64> = row.try_get(2).doing(doing)?;
    Ok(StoredRecord {
        record: Record::decode(BACKEND, body)?.into(),
        version: loaded(row.try_get(1).doing(doing)?)?,
        accessed_at: accessed_at.map(Timestamp),
        access_count: loaded(row.try_get(3).doing(doing)?)?,
    })
}
