//! Writing the rows of items.

use memory_core::{Fields, ItemId, Result, Timestamp, Version};
use sqlx::SqliteConnection;

use super::sessions;
use crate::error::Doing;
use crate::filter::{Bound, ValueRow, role_number, unit_number, value_rows};
use crate::index::key::stored_key;
use crate::index::owner::whole;
use crate::index::rows::{insert, json_numbers};

const DOING: &str = "write the items";

/// An item as it is to be stored.
pub(crate) struct Row<'r> {
    pub(crate) id: i64,
    pub(crate) item: &'r ItemId,
    pub(crate) version: Version,
    pub(crate) digest: &'r [u8],
    pub(crate) block: Option<i64>,
    pub(crate) fields: &'r Fields,
}

/// Puts items, each once, in place of the rows with their numbers.
pub(crate) async fn put(connection: &mut SqliteConnection, owner: i64, rows: &[Row<'_>]) -> Result<()> {
    let ids = json_numbers(rows.iter().map(|row| row.id));
    clear_values(connection, owner, &ids).await?;
    let before = sessions::of(connection, owner, &ids).await?;
    let sessions =
        sessions::intern(connection, owner, rows.iter().filter_map(|row| row.fields.session.as_ref())).await?;
    let head = "INSERT OR REPLACE INTO index_item (owner, id, item, epoch, revision, digest, block, unit, session, seq, \
                role, speaker, kind, trust, at, expires_at, valid_from, valid_to, superseded_at, fields) ";
    insert(connection, head, rows, |columns, row| {
        let Row { id, item, version, digest, block, fields } = row;
        // Lists, agent and metadata are rows of values.
        let Fields { unit, session, seq, role, speaker, kind, trust, at, .. } = fields;
        let Fields { expires_at, valid_from, valid_to, superseded_at, .. } = fields;
        let time = |time: &Option<Timestamp>| time.map(|time| time.0);
        let session = session.as_ref().and_then(|session| sessions.get(session.name()).copied());
        columns.push_bind(owner).push_bind(*id).push_bind(stored_key(item));
        columns.push_bind(whole(version.epoch.0)).push_bind(whole(version.revision)).push_bind(digest.to_vec());
        columns.push_bind(*block).push_bind(unit_number(*unit)).push_bind(session);
        columns.push_bind(seq.and_then(|seq| i64::try_from(seq.0).ok())).push_bind(role.and_then(role_number));
        columns.push_bind(speaker.clone()).push_bind(kind.clone()).push_bind(*trust as i64).push_bind(at.0);
        columns.push_bind(time(expires_at)).push_bind(time(valid_from));
        columns.push_bind(time(valid_to)).push_bind(time(superseded_at));
        columns.push_bind(if is_told(fields) { None } else { Some(fields.encode()) });
    })
    .await?;
    sessions::forget_empty(connection, owner, &before).await?;
    let values: Vec<(i64, ValueRow)> =
        rows.iter().flat_map(|row| value_rows(row.fields).into_iter().map(|value| (row.id, value))).collect();
    let head = "INSERT OR IGNORE INTO index_value (owner, item, field, key, type, value) ";
    insert(connection, head, &values, |columns, (id, row)| {
        let ValueRow { field, key, kind, value } = row;
        columns.push_bind(owner).push_bind(*id).push_bind(*field).push_bind(key.clone()).push_bind(*kind);
        columns.push_bind(Bound(value));
    })
    .await
}

/// Returns whether the columns of an item tell all of its fields.
fn is_told(fields: &Fields) -> bool {
    let Fields {
        unit: _,
        session: _,
        sessions,
        seq,
        role: _,
        speaker: _,
        agent,
        runs,
        kind: _,
        tags,
        trust: _,
        sources,
        at: _,
        expires_at: _,
        valid_from: _,
        valid_to: _,
        superseded_at: _,
        metadata,
    } = fields;
    let are_none = sessions.is_empty() && runs.is_empty() && tags.is_empty() && sources.is_empty();
    are_none && agent.is_none() && metadata.is_empty() && seq.is_none_or(|seq| i64::try_from(seq.0).is_ok())
}

/// Stores that items are now in `block`.
pub(crate) async fn move_to(connection: &mut SqliteConnection, owner: i64, ids: &[i64], block: i64) -> Result<()> {
    let sql = "UPDATE index_item SET block = ? WHERE owner = ? AND id IN (SELECT value FROM json_each(?))";
    let ids = json_numbers(ids.iter().copied());
    let moved = sqlx::query(sql).bind(block).bind(owner).bind(ids).execute(connection).await;
    moved.map(|_| ()).doing(DOING)
}

/// Deletes items.
pub(crate) async fn delete(connection: &mut SqliteConnection, owner: i64, ids: &[i64]) -> Result<()> {
    let ids = json_numbers(ids.iter().copied());
    clear_values(connection, owner, &ids).await?;
    let sessions = sessions::of(connection, owner, &ids).await?;
    let sql = "DELETE FROM index_item WHERE owner = ? AND id IN (SELECT value FROM json_each(?))";
    let deleted = sqlx::query(sql).bind(owner).bind(&ids).execute(&mut *connection).await;
    deleted.map(|_| ()).doing(DOING)?;
    sessions::forget_empty(connection, owner, &sessions).await
}

async fn clear_values(connection: &mut SqliteConnection, owner: i64, ids: &str) -> Result<()> {
    let sql = "DELETE FROM index_value WHERE owner = ? AND item IN (SELECT value FROM json_each(?))";
    let cleared = sqlx::query(sql).bind(owner).bind(ids).execute(connection).await;
    cleared.map(|_| ()).doing(DOING)
}
