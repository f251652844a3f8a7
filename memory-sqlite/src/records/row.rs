//! Records as rows: encoded before the writer's turn, and stored in place of the old ones.

use std::collections::HashMap;

use memory_core::Fields;
use memory_core::error::{Error, Result};
use memory_core::id::{Digest, RecordId};
use memory_core::plan::records::{self, KnownRecord};
use memory_core::record::{Record, StoredRecord};
use memory_core::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqliteConnection};

use crate::error::{BACKEND, Doing};
use crate::filter::{Bound, ValueRow};
use crate::number::{list, loaded, runs};
use crate::owner::Owner;
use crate::row::uuid;

/// A record, with the values by which filters find it.
pub(super) type Encoded = records::Row<Vec<ValueRow>>;

/// A record with its version and access statistics.
pub(super) type Stored<'a> = records::Stored<'a, Vec<ValueRow>>;

/// Returns the state of the records under those of the ids that are or were taken.
pub(super) async fn known(
    connection: &mut SqliteConnection,
    owner: Owner,
    records: &[Encoded],
    doing: &'static str,
) -> Result<HashMap<RecordId, KnownRecord>> {
    let sql = "SELECT id, version, digest FROM record \
         WHERE owner = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2)) \
         UNION ALL SELECT id, version, NULL FROM record_grave \
         WHERE owner = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2))";
    let ids = list(records.iter().map(|record| record.id.0.as_bytes()));
    let rows = sqlx::query(sql).bind(owner.id).bind(ids).fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let id = RecordId(uuid(row.try_get(0).doing(doing)?)?);
        Ok((id, KnownRecord { version: row.try_get(1).doing(doing)?, digest: row.try_get(2).doing(doing)? }))
    });
    known.collect()
}

/// Stores records in place of the old ones.
pub(super) async fn store(
    connection: &mut SqliteConnection,
    owner: Owner,
    known: &HashMap<RecordId, KnownRecord>,
    rows: &[Stored<'_>],
    doing: &'static str,
) -> Result<()> {
    let is_there = |row: &&Stored<'_>| known.get(&row.record.id).is_some_and(|known| known.digest.is_some());
    let (old, new): (Vec<_>, Vec<_>) = rows.iter().partition(is_there);
    for some in runs(&new) {
        insert(connection, owner, some, doing).await?;
    }
    let dead = new.iter().filter(|row| known.contains_key(&row.record.id)).map(|row| row.record.id.0.as_bytes());
    let graves = "DELETE FROM record_grave WHERE owner = ? AND id IN (SELECT unhex(value) FROM json_each(?))";
    let dead = list(dead);
    if dead != "[]" {
        sqlx::query(graves).bind(owner.id).bind(dead).execute(&mut *connection).await.doing(doing)?;
    }
    for row in old {
        replace(connection, owner, row, doing).await?;
    }
    insert_values(connection, owner, rows, doing).await
}

/// The columns for filters, in the order of the table.
struct Seen<'a> {
    kind: &'a str,
    session: Option<&'a str>,
    trust: i64,
    at: i64,
    times: [Option<i64>; 4],
}

impl<'a> Seen<'a> {
    fn of(fields: &'a Fields) -> Self {
        let Fields {
            unit: _,
            session,
            sessions: _,
            seq: _,
            role: _,
            speaker: _,
            agent: _,
            runs: _,
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
        Self {
            kind: kind.as_deref().unwrap_or_default(),
            session: session.as_ref().map(|session| session.name()),
            trust: *trust as i64,
            at: at.0,
            times: [micros(expires_at), micros(valid_from), micros(valid_to), micros(superseded_at)],
        }
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    owner: Owner,
    rows: &[&Stored<'_>],
    doing: &'static str,
) -> Result<()> {
    let mut sql = QueryBuilder::new(
        "INSERT INTO record (owner, id, version, digest, hold, accessed_at, access_count, kind, session, trust, at, \
         expires_at, valid_from, valid_to, superseded_at, body) ",
    );
    sql.push_values(rows, |mut row, Stored { record, version, accessed }| {
        let Encoded { id, digest, body, fields, facets: _, hold } = record;
        let (accessed_at, access_count) = accessed.unwrap_or_default();
        let Seen { kind, session, trust, at, times } = Seen::of(fields);
        row.push_bind(owner.id).push_bind(id.0.as_bytes().as_slice()).push_bind(*version);
        row.push_bind(digest.as_slice()).push_bind(*hold).push_bind(accessed_at).push_bind(access_count);
        row.push_bind(kind).push_bind(session).push_bind(trust).push_bind(at);
        for time in times {
            row.push_bind(time);
        }
        row.push_bind(body.as_bytes());
    });
    sql.build().execute(connection).await.doing(doing).map(|_| ())
}

async fn replace(connection: &mut SqliteConnection, owner: Owner, row: &Stored<'_>, doing: &'static str) -> Result<()> {
    let Stored { record, version, accessed } = row;
    let Encoded { id, digest, body, fields, facets: _, hold } = record;
    let Seen { kind, session, trust, at, times } = Seen::of(fields);
    let sql = "UPDATE record SET version = ?3, digest = ?4, hold = ?5, kind = ?6, session = ?7, trust = ?8, at = ?9, \
         expires_at = ?10, valid_from = ?11, valid_to = ?12, superseded_at = ?13, body = ?14, \
         accessed_at = iif(?15, ?16, accessed_at), access_count = iif(?15, ?17, access_count) \
         WHERE owner = ?1 AND id = ?2 RETURNING item";
    let mut update = sqlx::query_scalar(sql).bind(owner.id).bind(id.0.as_bytes().as_slice()).bind(*version);
    update = update.bind(digest.as_slice()).bind(*hold).bind(kind).bind(session).bind(trust).bind(at);
    for time in times {
        update = update.bind(time);
    }
    let (accessed_at, access_count) = accessed.unwrap_or_default();
    let update = update.bind(body.as_bytes()).bind(accessed.is_some()).bind(accessed_at).bind(access_count);
    let item: i64 = update.fetch_one(&mut *connection).await.doing(doing)?;
    let values = sqlx::query("DELETE FROM value WHERE owner = ? AND place = 1 AND item = ?").bind(owner.id).bind(item);
    values.execute(connection).await.doing(doing).map(|_| ())
}

async fn insert_values(
    connection: &mut SqliteConnection,
    owner: Owner,
    rows: &[Stored<'_>],
    doing: &'static str,
) -> Result<()> {
    let values = rows.iter().flat_map(|row| row.record.facets.iter().map(|value| (row.record.id, value)));
    for some in runs(&values.collect::<Vec<_>>()) {
        let mut sql = QueryBuilder::new("INSERT INTO value (owner, place, item, field, key, type, value) VALUES ");
        for (place, (id, value)) in some.iter().enumerate() {
            let ValueRow { field, key, kind, value } = value;
            sql.push(if place == 0 { "(" } else { ", (" }).push_bind(owner.id);
            sql.push(", 1, (SELECT item FROM record WHERE owner = ").push_bind(owner.id);
            sql.push(" AND id = ").push_bind(id.0.as_bytes().as_slice()).push("), ").push_bind(*field);
            sql.push(", ").push_bind(key.as_str()).push(", ").push_bind(*kind).push(", ");
            sql.push_bind(Bound(value)).push(")");
        }
        sql.build().execute(&mut *connection).await.doing(doing)?;
    }
    Ok(())
}

/// Returns a record from the columns `id, version, accessed_at, access_count, digest, body`.
pub(super) fn record(row: &SqliteRow, doing: &'static str) -> Result<StoredRecord> {
    let id = RecordId(uuid(row.try_get(0).doing(doing)?)?);
    let accessed_at: Option<i64> = row.try_get(2).doing(doing)?;
    Ok(StoredRecord {
        record: content(row, doing).map_err(|error| error.damaging(format_args!("the record {id}")))?.into(),
        version: loaded(row.try_get(1).doing(doing)?)?,
        accessed_at: accessed_at.map(Timestamp),
        access_count: loaded(row.try_get(3).doing(doing)?)?,
    })
}

fn content(row: &SqliteRow, doing: &'static str) -> Result<Record> {
    let (digest, body): (&[u8], &[u8]) = (row.try_get(4).doing(doing)?, row.try_get(5).doing(doing)?);
    if Digest::of(&[body]).0 != digest {
        return Err(Error::corrupt(BACKEND, "it does not match its digest"));
    }
    Record::decode(BACKEND, body)
}
