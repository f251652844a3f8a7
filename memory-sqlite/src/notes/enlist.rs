//! Enlisting and retiring indexes, in short write transactions, so that other writers come in between.

use memory_core::error::Result;
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName};
use sqlx::SqliteConnection;

use super::{AT_ONCE, advance};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::number::{limit, stored};
use crate::owner::Truth;
use crate::row::uuid;

const ENLIST: &str = "enlist an index";
const RETIRE: &str = "retire an index";

/// How many owners one step visits at most.
const OWNERS: usize = 200;
/// How many notes one step deletes at most.
const STEP: i64 = 10_000;

/// Begins to keep notes for `index`, and notes some stored items. Returns whether all are noted.
pub(crate) async fn enlist(
    file: &Sqlite,
    truth: Truth,
    index: &IndexName,
    told: Option<Incarnation>,
    count: usize,
) -> Result<bool> {
    let known = indexes(file, truth).await?.into_iter().find(|known| known.name == *index);
    if known.is_some_and(|known| known.is_noted && (told.is_none() || known.incarnation == told)) {
        return Ok(true);
    }
    let (index, told) = (index.clone(), told.map(|told| told.0.as_bytes().to_vec()));
    let work = file.write(ENLIST, move |connection| {
        Box::pin(async move {
            let sql = "INSERT INTO enlisted (truth, name, incarnation, is_noted) VALUES (?, ?, ?, 0) \
                 ON CONFLICT DO UPDATE SET incarnation = excluded.incarnation, is_noted = 0, noted_owner = '', noted_key = '' \
                 WHERE excluded.incarnation IS NOT NULL AND incarnation IS NOT excluded.incarnation";
            let begin = sqlx::query(sql).bind(truth.number()).bind(index.as_str()).bind(told);
            begin.execute(&mut *connection).await.doing(ENLIST)?;
            let sql = "SELECT id, noted_owner, noted_key FROM enlisted WHERE truth = ? AND name = ? AND is_noted = 0";
            let walk = sqlx::query_as(sql).bind(truth.number()).bind(index.as_str());
            match walk.fetch_optional(&mut *connection).await.doing(ENLIST)? {
                Some((enlisted, owner, key)) => step(connection, truth, Walk { enlisted, owner, key }, limit(count)).await,
                None => Ok(true),
            }
        })
    });
    work.await
}

/// How far the stored items are noted: up to a session or record of an owner, or up to the end of the owner.
struct Walk {
    enlisted: i64,
    owner: String,
    key: String,
}

async fn step(connection: &mut SqliteConnection, truth: Truth, mut walk: Walk, mut rest: i64) -> Result<bool> {
    let mut owners = 0;
    let is_noted = loop {
        let sql = "SELECT id, key, epoch FROM owner WHERE truth = ?1 AND buried = 0 \
             AND (key > ?2 OR key = ?2 AND ?3 <> '') ORDER BY key LIMIT 1";
        let next = sqlx::query_as(sql).bind(truth.number()).bind(&walk.owner).bind(&walk.key);
        let next: Option<(i64, String, i64)> = next.fetch_optional(&mut *connection).await.doing(ENLIST)?;
        let Some((id, key, epoch)) = next else { break true };
        if rest <= 0 || owners == OWNERS {
            break false;
        }
        if walk.owner != key {
            walk = Walk { owner: key, key: String::new(), ..walk };
        }
        let (range, note) = stock(truth);
        let look = sqlx::query_as(range).bind(id).bind(&walk.key).bind(rest);
        let (count, last): (i64, Option<String>) = look.fetch_one(&mut *connection).await.doing(ENLIST)?;
        if let Some(last) = &last {
            let note =
                sqlx::query(note).bind(id).bind(walk.enlisted).bind(epoch).bind(&walk.key).bind(last).bind(AT_ONCE);
            let noted = note.execute(&mut *connection).await.doing(ENLIST)?.rows_affected();
            let advance = sqlx::query("UPDATE sequence SET last = last + ?").bind(stored(noted)?);
            advance.execute(&mut *connection).await.doing(ENLIST)?;
        }
        walk.key = last.filter(|_| count == rest).unwrap_or_default();
        (rest, owners) = (rest - count, owners + 1);
    };
    let sql = "UPDATE enlisted SET is_noted = ?, noted_owner = ?, noted_key = ? WHERE id = ?";
    let save = sqlx::query(sql).bind(is_noted).bind(walk.owner).bind(walk.key).bind(walk.enlisted);
    save.execute(connection).await.doing(ENLIST)?;
    Ok(is_noted)
}

/// Returns the statements that find the next rows of an owner, and that note them besides what is noted.
fn stock(truth: Truth) -> (&'static str, &'static str) {
    match truth {
        Truth::Chat => (
            "SELECT count(*), max(key) FROM (SELECT key FROM session WHERE owner = ?1 AND key > ?2 ORDER BY key LIMIT ?3)",
            "INSERT INTO note (owner, enlisted, session, epoch, \"from\", upto, stamp, due, place) \
             SELECT ?1, ?2, stored.id, ?3, 1, stored.head, sequence.last + stored.number, ?6, sequence.last + stored.number \
             FROM (SELECT id, head, row_number() OVER (ORDER BY key) AS number FROM session \
             WHERE owner = ?1 AND key > ?4 AND key <= ?5 AND head > 0) AS stored, sequence WHERE true \
             ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = excluded.\"from\", upto = max(upto, excluded.upto), \
             stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = 0",
        ),
        Truth::Records => (
            "SELECT count(*), nullif(hex(max(id)), '') FROM \
             (SELECT id FROM record WHERE owner = ?1 AND id > unhex(?2) ORDER BY id LIMIT ?3)",
            "INSERT INTO note (owner, enlisted, record, epoch, \"from\", upto, stamp, due, place) \
             SELECT ?1, ?2, stored.id, ?3, stored.version, stored.version, sequence.last + stored.number, ?6, \
             sequence.last + stored.number \
             FROM (SELECT id, version, row_number() OVER (ORDER BY id) AS number FROM record \
             WHERE owner = ?1 AND id > unhex(?4) AND id <= unhex(?5)) AS stored, sequence WHERE true \
             ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = excluded.\"from\", upto = excluded.upto, gone = 0, \
             stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, dead = 0",
        ),
    }
}

/// Forgets the incarnation of `index`.
pub(crate) async fn doubt(file: &Sqlite, truth: Truth, index: &IndexName) -> Result<()> {
    let (index, doing) = (index.clone(), "doubt an index");
    let work = file.write(doing, move |connection| {
        Box::pin(async move {
            let sql = "UPDATE enlisted SET incarnation = NULL WHERE truth = ? AND name = ?";
            let doubt = sqlx::query(sql).bind(truth.number()).bind(index.as_str());
            doubt.execute(connection).await.doing(doing).map(|_| ())
        })
    });
    work.await
}

/// Makes the dead notes of `index` due again, and returns how many there were.
pub(crate) async fn revive(file: &Sqlite, truth: Truth, index: &IndexName) -> Result<u64> {
    let (index, doing) = (index.clone(), "revive notes");
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT id FROM enlisted WHERE truth = ? AND name = ? \
                 AND EXISTS (SELECT 1 FROM note WHERE enlisted = id AND dead = 1)";
            let enlisted = sqlx::query_scalar::<_, i64>(sql).bind(truth.number()).bind(index.as_str());
            enlisted.fetch_optional(connection).await.doing(doing)
        })
    });
    // Dead notes are rare, and opening a file should not wait for the write lock.
    let Some(enlisted) = work.await? else { return Ok(0) };
    let work = file.write(doing, move |connection| {
        Box::pin(async move {
            advance(connection, truth, 1).await?;
            let sql = "UPDATE note SET dead = 0, attempts = 0, due = ?, why = NULL, \
                 stamp = (SELECT last FROM sequence), place = (SELECT last FROM sequence) \
                 WHERE enlisted = ? AND dead = 1";
            let revive = sqlx::query(sql).bind(AT_ONCE).bind(enlisted);
            Ok(revive.execute(connection).await.doing(doing)?.rows_affected())
        })
    });
    work.await
}

/// Returns the enlisted indexes, in the order of their names. A damaged one holds up no other.
pub(crate) async fn indexes(file: &Sqlite, truth: Truth) -> Result<Vec<Enlisted>> {
    let doing = "list indexes";
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT name, incarnation, is_noted FROM enlisted WHERE truth = ? ORDER BY name";
            sqlx::query_as(sql).bind(truth.number()).fetch_all(connection).await.doing(doing)
        })
    });
    let rows: Vec<(String, Option<Vec<u8>>, bool)> = work.await?;
    let mut enlisted = Vec::with_capacity(rows.len());
    for (name, incarnation, is_noted) in rows {
        let Ok(name) = IndexName::new(&name) else {
            tracing::warn!("a row of the list of indexes is passed over: no index has its name");
            continue;
        };
        // An incarnation that cannot be read is not known.
        let incarnation = incarnation.and_then(|bytes| uuid(&bytes).ok()).map(Incarnation);
        enlisted.push(Enlisted { name, incarnation, is_noted });
    }
    Ok(enlisted)
}

/// Drops `index` with its notes. The index disappears at once, its notes are deleted in steps, with those that an earlier call
/// left.
pub(crate) async fn retire(file: &Sqlite, truth: Truth, index: &IndexName) -> Result<()> {
    let index = index.clone();
    let work = file.write(RETIRE, move |connection| {
        Box::pin(async move {
            // A number of no truth, so that no write notes for it any more, and its name is free.
            let sql = "UPDATE enlisted SET truth = -1 - truth, name = name || ' ' || id WHERE truth = ? AND name = ?";
            let retire = sqlx::query(sql).bind(truth.number()).bind(index.as_str());
            retire.execute(connection).await.doing(RETIRE).map(|_| ())
        })
    });
    work.await?;
    while file.write(RETIRE, move |connection| Box::pin(async move { drop_some(connection).await })).await? {}
    Ok(())
}

/// Deletes some notes of retired indexes and, after the last one, the index itself; returns whether more is left.
async fn drop_some(connection: &mut SqliteConnection) -> Result<bool> {
    let sql = "SELECT id FROM enlisted WHERE truth < 0 LIMIT 1";
    let retired = sqlx::query_scalar::<_, i64>(sql).fetch_optional(&mut *connection).await.doing(RETIRE)?;
    let Some(retired) = retired else { return Ok(false) };
    let sql = "DELETE FROM note WHERE (owner, enlisted, session, record) IN \
         (SELECT owner, enlisted, session, record FROM note WHERE enlisted = ? LIMIT ?)";
    let deleted = sqlx::query(sql).bind(retired).bind(STEP).execute(&mut *connection).await.doing(RETIRE)?;
    if deleted.rows_affected() == 0 {
        let forget = sqlx::query("DELETE FROM enlisted WHERE id = ?").bind(retired);
        forget.execute(connection).await.doing(RETIRE)?;
    }
    Ok(true)
}
