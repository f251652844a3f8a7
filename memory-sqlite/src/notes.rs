//! Notes of what indexes have not taken in yet, made in the transaction of each write.

mod enlist;
mod settle;
#[cfg(test)]
mod tests;

use memory_core::error::{Error, Result};
use memory_core::id::{RecordId, Seq, SessionId};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, IndexName, Note, NotePages, Target, latest_due};
use memory_core::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::client::Sqlite;
use crate::error::{BACKEND, Doing};
use crate::number::{limit, loaded, push_hex, stored};
use crate::owner::{self, Owner, Truth};

pub(crate) use enlist::{doubt, enlist, indexes, retire, revive};
pub(crate) use settle::settle;

const MARK: &str = "note what is to be indexed";

/// Before every time, so that a note is due at once.
const AT_ONCE: i64 = i64::MIN;

/// A change of a session, or of the whole owner.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// Messages were appended.
    Appended { from: i64, upto: i64 },
    /// Messages that an index may already hold were changed. No reader who finds facts holds any.
    Changed { from: i64, upto: i64 },
    /// The session was deleted.
    Emptied,
    /// The owner's erasure has begun.
    Buried,
}

impl Mark {
    fn range(self) -> (i64, i64) {
        match self {
            Self::Appended { from, upto } | Self::Changed { from, upto } => (from, upto),
            Self::Emptied => (1, 0),
            Self::Buried => (0, 0),
        }
    }

    /// Extends the notes and keeps their stamps. Only a dead note begins anew.
    const APPENDED: &str = "INSERT INTO note (owner, enlisted, session, epoch, \"from\", upto, gone, stamp, due, place) \
         SELECT ?1, enlisted.id, ?2, ?3, ?4, ?5, ?6, sequence.last, ?7, sequence.last FROM enlisted, sequence \
         WHERE enlisted.truth = 0 \
         ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = min(\"from\", excluded.\"from\"), \
         upto = max(upto, excluded.upto), attempts = iif(dead, 0, attempts), due = iif(dead, excluded.due, due), \
         place = iif(dead, excluded.place, place), dead = 0";

    /// Extends the notes with a new stamp, so that a settlement under way does not cover the change. Those of whoever finds facts
    /// stay as they are.
    const CHANGED: &str = "INSERT INTO note (owner, enlisted, session, epoch, \"from\", upto, gone, stamp, due, place) \
         SELECT ?1, enlisted.id, ?2, ?3, ?4, ?5, ?6, sequence.last, ?7, sequence.last FROM enlisted, sequence \
         WHERE enlisted.truth = ?8 AND instr(enlisted.name, ?9) <> 1 \
         ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = min(\"from\", excluded.\"from\"), \
         upto = max(upto, excluded.upto), stamp = excluded.stamp, attempts = 0, due = excluded.due, \
         place = excluded.place, dead = 0";

    /// Replaces the notes.
    const REPLACED: &str = "INSERT INTO note (owner, enlisted, session, epoch, \"from\", upto, gone, stamp, due, place) \
         SELECT ?1, enlisted.id, ?2, ?3, ?4, ?5, ?6, sequence.last, ?7, sequence.last FROM enlisted, sequence \
         WHERE enlisted.truth = ?8 \
         ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = excluded.\"from\", upto = excluded.upto, \
         gone = excluded.gone, stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, \
         dead = 0";
}

/// Notes a change of a session, or with session 0 of the owner, for every index.
pub(crate) async fn mark(
    connection: &mut SqliteConnection,
    truth: Truth,
    owner: Owner,
    session: i64,
    mark: Mark,
) -> Result<()> {
    if !advance(connection, truth, 1).await? {
        return Ok(());
    }
    let (from, upto) = mark.range();
    let sql = match mark {
        Mark::Appended { .. } => Mark::APPENDED,
        Mark::Changed { .. } => Mark::CHANGED,
        Mark::Emptied | Mark::Buried => Mark::REPLACED,
    };
    let is_gone = matches!(mark, Mark::Emptied);
    let note = sqlx::query(sql).bind(owner.id).bind(session).bind(owner.epoch).bind(from).bind(upto);
    let note = note.bind(is_gone).bind(AT_ONCE).bind(truth.number()).bind(IndexName::FACTS);
    note.execute(connection).await.doing(MARK).map(|_| ())
}

/// Notes the new versions of records for every index; `is_gone` if they were deleted.
pub(crate) async fn mark_records(
    connection: &mut SqliteConnection,
    owner: Owner,
    versions: &[([u8; 16], i64)],
    is_gone: bool,
) -> Result<()> {
    if versions.is_empty() || !advance(connection, Truth::Records, versions.len()).await? {
        return Ok(());
    }
    let mut list = String::from("[");
    for (place, (id, version)) in versions.iter().enumerate() {
        list.push_str(if place == 0 { "[\"" } else { ",[\"" });
        push_hex(&mut list, id);
        list.push_str(&format!("\",{version}]"));
    }
    list.push(']');
    let sql = "INSERT INTO note (owner, enlisted, record, epoch, \"from\", upto, gone, stamp, due, place) \
         SELECT ?1, enlisted.id, unhex(item.value ->> 0), ?2, item.value ->> 1, item.value ->> 1, ?3, \
         sequence.last - ?4 + 1 + item.key, ?5, sequence.last - ?4 + 1 + item.key \
         FROM enlisted, sequence, json_each(?6) AS item WHERE enlisted.truth = 1 \
         ON CONFLICT DO UPDATE SET epoch = excluded.epoch, \"from\" = excluded.\"from\", upto = excluded.upto, \
         gone = excluded.gone, stamp = excluded.stamp, attempts = 0, due = excluded.due, place = excluded.place, \
         dead = 0";
    let note = sqlx::query(sql).bind(owner.id).bind(owner.epoch).bind(is_gone).bind(limit(versions.len()));
    note.bind(AT_ONCE).bind(list).execute(connection).await.doing(MARK).map(|_| ())
}

/// Takes `count` new numbers; takes none and returns false if no index follows the truth.
async fn advance(connection: &mut SqliteConnection, truth: Truth, count: usize) -> Result<bool> {
    let sql = "UPDATE sequence SET last = last + ? WHERE EXISTS (SELECT 1 FROM enlisted WHERE truth = ?)";
    let advance = sqlx::query(sql).bind(limit(count)).bind(truth.number()).execute(connection).await.doing(MARK)?;
    Ok(advance.rows_affected() > 0)
}

/// Returns up to `count` notes of `index` that are due at `now`, the longest due first.
pub(crate) async fn pending(
    file: &Sqlite,
    truth: Truth,
    index: &IndexName,
    now: Timestamp,
    count: usize,
) -> Result<Vec<Note>> {
    let (index, doing) = (index.clone(), "read notes");
    // Of one moment: a note that was settled between two pages would have others passed over.
    let work = file.snapshot(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT owner.key, session.key, note.record, note.epoch, note.\"from\", note.upto, note.stamp, \
                 note.attempts, note.gone FROM note JOIN owner ON owner.id = note.owner \
                 LEFT JOIN session ON session.id = note.session \
                 WHERE note.enlisted = (SELECT id FROM enlisted WHERE truth = ? AND name = ?) \
                 AND note.dead = 0 AND note.due BETWEEN ? AND ? ORDER BY note.due, note.place LIMIT ? OFFSET ?";
            let mut pages = NotePages::new(count);
            // Due notes, then those that were delayed while the clock was wrong.
            for (first, last) in [(AT_ONCE, now.0), (latest_due(now).0.saturating_add(1), i64::MAX)] {
                pages.restart();
                while let Some((most, offset)) = pages.next_page() {
                    let found = sqlx::query(sql).bind(truth.number()).bind(index.as_str()).bind(first).bind(last);
                    let found = found.bind(limit(most)).bind(limit(offset));
                    let rows = found.fetch_all(&mut *connection).await.doing(doing)?;
                    pages.take(rows.iter().map(|row| note(row, doing)));
                }
            }
            pages.finish()
        })
    });
    work.await
}

fn note(row: &SqliteRow, doing: &'static str) -> Result<Note> {
    let damaged = |_: Error| Error::corrupt(BACKEND, "a note names nothing that can be");
    let scope: String = row.try_get(0).doing(doing)?;
    let session: Option<String> = row.try_get(1).doing(doing)?;
    let record: Vec<u8> = row.try_get(2).doing(doing)?;
    let target = match session {
        Some(key) => Target::Messages(SessionId::from_key(&key).map_err(damaged)?),
        None if record.is_empty() => Target::Owner,
        None => Target::Record(RecordId(crate::row::uuid(&record)?)),
    };
    let number = |column: usize| loaded(row.try_get(column).doing(doing)?);
    Ok(Note {
        scope: Scope::from_key(&scope).map_err(damaged)?,
        target,
        epoch: Epoch(number(3)?),
        from: Seq(number(4)?),
        upto: Seq(number(5)?),
        stamp: number(6)?,
        attempts: u32::try_from(number(7)?).unwrap_or(u32::MAX),
        gone: row.try_get(8).doing(doing)?,
    })
}

/// Returns how far `index` is behind.
pub(crate) async fn backlog(file: &Sqlite, truth: Truth, index: &IndexName) -> Result<Backlog> {
    let (index, doing) = (index.clone(), "count notes");
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT count(*) FILTER (WHERE dead = 0), count(*) FILTER (WHERE dead = 1) FROM note \
                 WHERE enlisted = (SELECT id FROM enlisted WHERE truth = ? AND name = ?)";
            let counts = sqlx::query_as::<_, (i64, i64)>(sql).bind(truth.number()).bind(index.as_str());
            counts.fetch_one(connection).await.doing(doing)
        })
    });
    let (pending, dead) = work.await?;
    Ok(Backlog { pending: loaded(pending)?, dead: loaded(dead)? })
}

/// Returns how far `index` is behind for one owner.
pub(crate) async fn backlog_of(file: &Sqlite, truth: Truth, scope: &Scope, index: &IndexName) -> Result<Backlog> {
    let (scope, index, doing) = (scope.clone(), index.clone(), "count an owner's notes");
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT count(*) FILTER (WHERE dead = 0), count(*) FILTER (WHERE dead = 1) FROM note \
                 WHERE owner = (SELECT id FROM owner WHERE truth = ?1 AND key = ?2 AND buried = 0) \
                 AND enlisted = (SELECT id FROM enlisted WHERE truth = ?1 AND name = ?3)";
            let counts = sqlx::query_as::<_, (i64, i64)>(sql);
            let counts = counts.bind(truth.number()).bind(scope.key()).bind(index.as_str());
            counts.fetch_one(connection).await.doing(doing)
        })
    });
    let (pending, dead) = work.await?;
    Ok(Backlog { pending: loaded(pending)?, dead: loaded(dead)? })
}

/// Raises the owner's epoch above `seen` and notes the erasure for every index, unless that was done. The owner's other notes
/// are lost with its old number.
pub(crate) async fn bury(file: &Sqlite, truth: Truth, scope: &Scope, seen: Epoch) -> Result<Epoch> {
    seen.check()?;
    let (scope, doing) = (scope.clone(), "begin an erasure");
    let work = file.write(doing, move |connection| {
        Box::pin(async move {
            let epoch = owner::find(connection, truth, &scope, doing).await?.map_or(0, |owner| owner.epoch);
            if epoch > stored(seen.0)? {
                return Ok(epoch);
            }
            let next = Epoch(seen.0.saturating_add(1));
            let owner = owner::bury(connection, truth, &scope, next, doing).await?;
            mark(connection, truth, owner, 0, Mark::Buried).await?;
            Ok(owner.epoch)
        })
    });
    Ok(Epoch(loaded(work.await?)?))
}
