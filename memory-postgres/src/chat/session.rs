//! Sessions and their counters.

use memory_core::error::{Error, Result};
use memory_core::id::SessionId;
use memory_core::plan::chat::Counters;
use memory_core::scope::Scope;
use memory_core::store::chat::SessionState;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::number::{limit, loaded};

/// The counters of a session, and its owner's epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    /// Whether the owner is known.
    pub(super) is_owned: bool,
    pub(super) epoch: i64,
    pub(super) counters: Counters,
}

/// A session that is being written.
pub(super) struct OpenSession<'a> {
    pub(super) scope: &'a Scope,
    pub(super) name: &'a SessionId,
    pub(super) session: Session,
}

impl Session {
    /// Returns the counters from the answer of a database function; `None` stands for an unknown owner.
    ///
    /// # Errors
    /// `Corrupt` if they are not eight.
    pub(super) fn of_counters(counters: Option<&[Option<i64>]>) -> Result<Self> {
        let Some(counters) = counters else { return Ok(Self::default()) };
        let [epoch, generation, revision, head, active_messages, active_tokens, asked, last_at] = counters else {
            return Err(Error::corrupt(BACKEND, "a session has not eight counters"));
        };
        let counters = Counters {
            generation: generation.unwrap_or_default(),
            revision: revision.unwrap_or_default(),
            head: head.unwrap_or_default(),
            active_messages: active_messages.unwrap_or_default(),
            active_tokens: active_tokens.unwrap_or_default(),
            asked: asked.unwrap_or_default(),
            last_at: *last_at,
        };
        Ok(Self { is_owned: epoch.is_some(), epoch: epoch.unwrap_or_default(), counters })
    }

    /// Returns the state of the session called `name`.
    pub(super) fn state(&self, name: &SessionId) -> Result<SessionState> {
        self.counters.state(BACKEND, name, self.epoch)
    }
}

/// Locks the session against other writers until the transaction ends, and returns its counters.
pub(super) async fn enter<'a>(
    connection: &mut PgConnection,
    scope: &'a Scope,
    name: &'a SessionId,
    doing: &'static str,
) -> Attempt<OpenSession<'a>> {
    let sql = "SELECT ARRAY[epoch, generation, revision, head, active_messages, active_tokens, asked, last_at] \
         FROM enter_session($1, $2)";
    let counters = sqlx::query_scalar::<_, Vec<Option<i64>>>(sql).bind(scope.key()).bind(name.key());
    let counters = counters.fetch_one(connection).await.doing(doing)?;
    Ok(OpenSession { scope, name, session: Session::of_counters(Some(&counters))? })
}

/// Makes the owner of a session known.
pub(super) async fn own(
    connection: &mut PgConnection,
    place: &mut OpenSession<'_>,
    doing: &'static str,
) -> Attempt<()> {
    if place.session.is_owned {
        return Ok(());
    }
    let sql = "INSERT INTO owner (scope, truth, epoch) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(place.scope.key()).execute(connection).await.doing(doing)?;
    place.session.is_owned = true;
    Ok(())
}

/// Writes the counters of a session.
pub(super) async fn save(connection: &mut PgConnection, place: &OpenSession<'_>, doing: &'static str) -> Attempt<()> {
    let Session { is_owned: _, epoch, counters } = place.session;
    let Counters { generation, revision, head, active_messages, active_tokens, asked, last_at } = counters;
    let sql = "INSERT INTO session AS s \
         (scope, epoch, key, generation, revision, head, active_messages, active_tokens, asked, last_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (scope, epoch, key) DO UPDATE SET \
         generation = excluded.generation, revision = excluded.revision, head = excluded.head, \
         active_messages = excluded.active_messages, active_tokens = excluded.active_tokens, asked = excluded.asked, \
         last_at = excluded.last_at";
    let save = sqlx::query(sql).bind(place.scope.key()).bind(epoch).bind(place.name.key()).bind(generation);
    let save = save.bind(revision).bind(head).bind(active_messages).bind(active_tokens).bind(asked).bind(last_at);
    save.execute(connection).await.doing(doing).map(|_| ())
}

/// Counts the window of a session again, and saves it.
pub(super) async fn recount(
    connection: &mut PgConnection,
    place: &mut OpenSession<'_>,
    doing: &'static str,
) -> Attempt<()> {
    let sql = "SELECT count(*), least(coalesce(sum(tokens), 0), 9223372036854775807)::int8 FROM message \
         WHERE scope = $1 AND epoch = $2 AND session = $3 AND archived_by IS NULL AND body IS NOT NULL";
    let counts = sqlx::query_as(sql).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    let (messages, tokens) = counts.fetch_one(&mut *connection).await.doing(doing)?;
    let counters = &mut place.session.counters;
    (counters.active_messages, counters.active_tokens) = (messages, tokens);
    save(connection, place, doing).await
}

/// Returns up to `count` sessions that hold messages, after the session `after`, in order.
pub(super) async fn list(
    server: &Postgres,
    scope: &Scope,
    after: Option<&SessionId>,
    count: usize,
) -> Result<Vec<SessionState>> {
    let doing = "list sessions";
    let sessions = server.run(Call::statement(doing), (scope.clone(), after.cloned()), move |connection, call| {
        Box::pin(async move {
            let (scope, after) = call;
            let rows = sqlx::query("SELECT key, state FROM list_sessions($1, $2, $3)").bind(scope.key());
            let rows = rows.bind(after.as_ref().map_or("", SessionId::key)).bind(limit(count));
            let rows = rows.fetch_all(connection).await.doing(doing)?;
            rows.iter().map(|row| listed(row, doing)).collect()
        })
    });
    sessions.await
}

fn listed(row: &PgRow, doing: &'static str) -> Attempt<SessionState> {
    let name = named(row.try_get(0).doing(doing)?)?;
    let counters: Vec<Option<i64>> = row.try_get(1).doing(doing)?;
    Ok(Session::of_counters(Some(&counters))?.state(&name)?)
}

/// Returns the session with this key.
///
/// # Errors
/// `Corrupt` for an invalid key.
pub(super) fn named(key: &str) -> Result<SessionId> {
    SessionId::from_key(key).map_err(|_| Error::corrupt(BACKEND, "no session has this key"))
}

/// Deletes a session if it is still as it was `seen`, and returns how many messages it held.
pub(super) async fn delete(server: &Postgres, scope: &Scope, seen: &SessionState) -> Result<u64> {
    let doing = "delete a session";
    let deleted = server.run(
        Call::transaction(doing).rows(usize::MAX),
        (scope.clone(), seen.clone()),
        move |connection, (scope, seen)| {
            Box::pin(async move {
                let session = &seen.session;
                let mut place = enter(connection, scope, session, doing).await?;
                if !place.session.state(session)?.is_to_be_deleted(seen)? {
                    return Ok(0);
                }
                let sql = "WITH gone AS (DELETE FROM message WHERE scope = $1 AND epoch = $2 AND session = $3 \
                 RETURNING layer = 0 AND body IS NOT NULL AS is_held) SELECT count(*) FILTER (WHERE is_held) FROM gone";
                let held = sqlx::query_scalar(sql).bind(scope.key()).bind(place.session.epoch).bind(session.key());
                let held = held.fetch_one(&mut *connection).await.doing(doing)?;
                let epoch = place.session.epoch;
                place.session.counters = place.session.counters.emptied(BACKEND)?;
                save(connection, &place, doing).await?;
                let note = sqlx::query("SELECT note_gone(0::int2, $1, $2, $3)").bind(scope.key()).bind(epoch);
                note.bind(session.key()).execute(connection).await.doing(doing)?;
                Ok(loaded(held)?)
            })
        },
    );
    deleted.await
}
