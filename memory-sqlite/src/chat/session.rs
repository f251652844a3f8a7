//! Sessions and their counters.

use memory_core::error::{Error, Result};
use memory_core::id::SessionId;
use memory_core::plan::chat::Counters;
use memory_core::scope::Scope;
use memory_core::store::chat::SessionState;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::client::Sqlite;
use crate::error::{BACKEND, Doing};
use crate::notes::{Mark, mark};
use crate::number::{limit, loaded};
use crate::owner::{Owner, Truth};

/// A session's row; `id` is 0 if there is none yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    pub(super) id: i64,
    pub(super) counters: Counters,
}

impl Session {
    /// Returns the state of the session called `name`, of an owner in `epoch`.
    pub(super) fn state(&self, name: &SessionId, epoch: i64) -> Result<SessionState> {
        self.counters.state(BACKEND, name, epoch)
    }

    /// Reads the columns `id, generation, revision, head, active_messages, active_tokens, asked, last_at` from the column
    /// `first` on; nulls are a session without a row.
    fn of_row(row: &SqliteRow, first: usize, doing: &'static str) -> Result<Self> {
        let number = |place: usize| row.try_get::<Option<i64>, _>(first + place).doing(doing);
        let count = |place: usize| Ok::<_, Error>(number(place)?.unwrap_or_default());
        let counters = Counters {
            generation: count(1)?,
            revision: count(2)?,
            head: count(3)?,
            active_messages: count(4)?,
            active_tokens: count(5)?,
            asked: count(6)?,
            last_at: number(7)?,
        };
        Ok(Self { id: count(0)?, counters })
    }
}

/// The rows of an owner and of a session; empty for those that are unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FoundSession {
    pub(super) owner: Option<Owner>,
    pub(super) session: Session,
    /// How many indexes follow the conversations; none for an unknown owner.
    pub(super) followers: Option<u64>,
}

impl FoundSession {
    /// Returns the epoch of the owner.
    pub(super) fn epoch(&self) -> i64 {
        self.owner.map_or(0, |owner| owner.epoch)
    }
}

/// Looks up an owner and a session.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    scope: &Scope,
    session: &SessionId,
    doing: &'static str,
) -> Result<FoundSession> {
    let sql = "SELECT owner.id, owner.epoch, (SELECT count(*) FROM enlisted WHERE truth = 0), session.id, session.generation, session.revision, session.head, \
         session.active_messages, session.active_tokens, session.asked, session.last_at \
         FROM owner LEFT JOIN session ON session.owner = owner.id AND session.key = ?2 \
         WHERE owner.truth = 0 AND owner.key = ?1 AND owner.buried = 0";
    let row = sqlx::query(sql).bind(scope.key()).bind(session.key()).fetch_optional(connection).await.doing(doing)?;
    let Some(row) = row else { return Ok(FoundSession::default()) };
    let owner = Owner { id: row.try_get(0).doing(doing)?, epoch: row.try_get(1).doing(doing)? };
    let followers = Some(loaded(row.try_get(2).doing(doing)?)?);
    Ok(FoundSession { owner: Some(owner), session: Session::of_row(&row, 3, doing)?, followers })
}

/// Makes a row for a session that has none, and returns it.
pub(super) async fn create(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &SessionId,
    doing: &'static str,
) -> Result<Session> {
    let insert = sqlx::query("INSERT INTO session (owner, key, name) VALUES (?, ?, ?)");
    let insert = insert.bind(owner.id).bind(session.key()).bind(session.name());
    let id = insert.execute(connection).await.doing(doing)?.last_insert_rowid();
    Ok(Session { id, ..Session::default() })
}

/// Writes the counters of a session.
pub(super) async fn save(connection: &mut SqliteConnection, session: &Session, doing: &'static str) -> Result<()> {
    let Counters { generation, revision, head, active_messages, active_tokens, asked, last_at } = session.counters;
    let sql = "UPDATE session SET generation = ?2, revision = ?3, head = ?4, active_messages = ?5, active_tokens = ?6, \
         last_at = ?7, asked = ?8 WHERE id = ?1";
    let update = sqlx::query(sql).bind(session.id).bind(generation).bind(revision).bind(head);
    let update = update.bind(active_messages).bind(active_tokens).bind(last_at).bind(asked);
    update.execute(connection).await.doing(doing).map(|_| ())
}

/// Counts the window of a session again, and saves it.
pub(super) async fn recount(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &mut Session,
    doing: &'static str,
) -> Result<()> {
    // `total` never overflows; a window's sum is far below the numbers that it rounds.
    let sql = "SELECT count(*), CAST(min(total(tokens), 9e18) AS INTEGER) FROM message INDEXED BY message_active \
         WHERE owner = ? AND session = ? AND archived_by IS NULL AND body IS NOT NULL";
    let counts = sqlx::query_as(sql).bind(owner.id).bind(session.id).fetch_one(&mut *connection).await;
    (session.counters.active_messages, session.counters.active_tokens) = counts.doing(doing)?;
    save(connection, session, doing).await
}

/// Returns up to `count` sessions that hold messages, after the session `after`, in order.
pub(super) async fn list(
    file: &Sqlite,
    scope: &Scope,
    after: Option<&SessionId>,
    count: usize,
) -> Result<Vec<SessionState>> {
    let (scope, after, doing) = (scope.clone(), after.cloned(), "list sessions");
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT owner.epoch, session.key, session.id, session.generation, session.revision, session.head, \
                 session.active_messages, session.active_tokens, session.asked, session.last_at \
                 FROM owner JOIN session ON session.owner = owner.id \
                 WHERE owner.truth = 0 AND owner.key = ? AND owner.buried = 0 AND session.key > ? AND session.head > 0 \
                 ORDER BY session.key LIMIT ?";
            let rows = sqlx::query(sql).bind(scope.key()).bind(after.as_ref().map_or("", SessionId::key));
            let rows = rows.bind(limit(count)).fetch_all(connection).await.doing(doing)?;
            let state = |row: &SqliteRow| {
                let key: &str = row.try_get(1).doing(doing)?;
                let name = SessionId::from_key(key).map_err(|_| Error::corrupt(BACKEND, "no session has this key"))?;
                Session::of_row(row, 2, doing)?.state(&name, row.try_get(0).doing(doing)?)
            };
            rows.iter().map(state).collect()
        })
    });
    work.await
}

/// Deletes a session if it is still as it was `seen`, and returns how many messages it held.
pub(super) async fn delete(file: &Sqlite, scope: &Scope, seen: &SessionState) -> Result<u64> {
    let (scope, seen, doing) = (scope.clone(), seen.clone(), "delete a session");
    let work = file.write(doing, move |connection| {
        Box::pin(async move {
            let found = find(connection, &scope, &seen.session, doing).await?;
            let is_to_be_deleted = found.session.state(&seen.session, found.epoch())?.is_to_be_deleted(&seen)?;
            let FoundSession { owner, session: kept, .. } = found;
            let Some(owner) = owner.filter(|_| is_to_be_deleted) else { return Ok(0) };
            let values = sqlx::query(
                "DELETE FROM value WHERE owner = ?1 AND place = 0 \
                 AND item IN (SELECT item FROM message WHERE owner = ?1 AND session = ?2)",
            );
            values.bind(owner.id).bind(kept.id).execute(&mut *connection).await.doing(doing)?;
            let sql = "SELECT count(*) FROM message WHERE owner = ? AND session = ? AND layer = 0 AND body IS NOT NULL";
            let held = sqlx::query_scalar(sql).bind(owner.id).bind(kept.id);
            let held = held.fetch_one(&mut *connection).await.doing(doing)?;
            let rows = sqlx::query("DELETE FROM message WHERE owner = ? AND session = ?").bind(owner.id).bind(kept.id);
            rows.execute(&mut *connection).await.doing(doing)?;
            let counters = kept.counters.emptied(BACKEND)?;
            save(connection, &Session { id: kept.id, counters }, doing).await?;
            mark(connection, Truth::Chat, owner, kept.id, Mark::Emptied).await?;
            loaded(held)
        })
    });
    work.await
}
