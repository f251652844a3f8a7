//! Forgetting single messages.

use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::plan::chat::Position;
use memory_core::scope::Scope;
use memory_core::store::chat::Redacted;
use sqlx::{Row, SqliteConnection};

use super::compact::{bring_back, next_layer};
use super::encode::{Encoded, insert};
use super::session::{self, Session, recount};
use crate::client::Sqlite;
use crate::error::{BACKEND, Doing};
use crate::notes::{Mark, mark};
use crate::number::loaded;
use crate::owner::{self, Owner, Truth};
use crate::row::uuid;

const REDACT: &str = "forget messages";

/// A row that is to be forgotten.
struct Standing {
    item: i64,
    session: SessionId,
    seq: i64,
    is_summary: bool,
    archived_by: Option<Vec<u8>>,
}

/// Forgets messages and summaries, and returns what was touched.
pub(super) async fn redact(file: &Sqlite, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (scope, ids) = (scope.clone(), ids.to_vec());
    let work = file.write(REDACT, move |connection| {
        Box::pin(async move {
            let Some(owner) = owner::find(connection, Truth::Chat, &scope, REDACT).await? else {
                return Ok(Vec::new());
            };
            let mut touched = Vec::new();
            let mut sessions: Vec<(SessionId, Session)> = Vec::new();
            for id in ids {
                let Some(standing) = content(connection, owner, id).await? else { continue };
                let place = match sessions.iter().position(|(name, _)| *name == standing.session) {
                    Some(place) => place,
                    None => {
                        let found = session::find(connection, &scope, &standing.session, REDACT).await?;
                        sessions.push((standing.session.clone(), found.session));
                        sessions.len() - 1
                    }
                };
                let Some((_, session)) = sessions.get_mut(place) else { continue };
                let summaries = forget(connection, owner, session, id, &standing).await?;
                touched.push(Redacted { id, session: standing.session, seq: Seq(loaded(standing.seq)?), summaries });
            }
            // Each window is recounted once, however many of its messages are forgotten.
            for (_, session) in &mut sessions {
                recount(connection, owner, session, REDACT).await?;
            }
            Ok(touched)
        })
    });
    work.await
}

/// Returns the row under an id, unless it is forgotten or unknown.
async fn content(connection: &mut SqliteConnection, owner: Owner, id: MessageId) -> Result<Option<Standing>> {
    let sql = "SELECT message.item, session.key, message.seq, message.layer > 0, message.archived_by FROM message \
         JOIN session ON session.id = message.session \
         WHERE message.owner = ? AND message.id = ? AND message.body IS NOT NULL";
    let row = sqlx::query(sql).bind(owner.id).bind(id.0.as_bytes().as_slice());
    let Some(row) = row.fetch_optional(connection).await.doing(REDACT)? else { return Ok(None) };
    let key: &str = row.try_get(1).doing(REDACT)?;
    Ok(Some(Standing {
        item: row.try_get(0).doing(REDACT)?,
        session: SessionId::from_key(key).map_err(|_| Error::corrupt(BACKEND, "no session has this key"))?,
        seq: row.try_get(2).doing(REDACT)?,
        is_summary: row.try_get(3).doing(REDACT)?,
        archived_by: row.try_get(4).doing(REDACT)?,
    }))
}

/// Forgets one row and every summary that covers it; returns those summaries.
async fn forget(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &mut Session,
    id: MessageId,
    row: &Standing,
) -> Result<Vec<MessageId>> {
    let mut summaries: Vec<MessageId> = Vec::new();
    let mut next = row.archived_by.clone();
    while let Some(bytes) = next {
        let summary = MessageId(uuid(&bytes)?);
        // Restored marks may point in a circle.
        if summaries.contains(&summary) {
            break;
        }
        next = dissolve(connection, owner, session, summary, row.seq).await?;
        summaries.push(summary);
    }
    if row.is_summary {
        bring_back(connection, owner, session.id, id.0.as_bytes(), REDACT).await?;
    }
    blank(connection, owner, row.item).await?;
    session.counters.revision += 1;
    if !row.is_summary {
        // The index entries of its neighbours hold its words too.
        let (from, upto) = ((row.seq - 1).max(1), (row.seq + 1).min(session.counters.head));
        mark(connection, Truth::Chat, owner, session.id, Mark::Changed { from, upto }).await?;
    }
    Ok(summaries)
}

/// Forgets a summary, and puts its originals back; returns the summary that covers it.
async fn dissolve(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &Session,
    summary: MessageId,
    seq: i64,
) -> Result<Option<Vec<u8>>> {
    bring_back(connection, owner, session.id, summary.0.as_bytes(), REDACT).await?;
    let sql = "SELECT item, session, layer > 0, archived_by FROM message WHERE owner = ? AND id = ?";
    let found = sqlx::query_as::<_, (i64, i64, bool, Option<Vec<u8>>)>(sql).bind(owner.id);
    let found = found.bind(summary.0.as_bytes().as_slice());
    if let Some((item, at, is_summary, above)) = found.fetch_optional(&mut *connection).await.doing(REDACT)? {
        // A restored mark may name what covers nothing here: a summary of another session, or a message.
        if at != session.id {
            return Ok(None);
        }
        if is_summary {
            blank(connection, owner, item).await?;
        }
        return Ok(above);
    }
    // A restore may not have brought the summary yet. Its id is taken, so that it never comes.
    let layer = next_layer(connection, owner, session, seq, REDACT).await?;
    let position = Position { seq, layer, first: None, archived_by: None };
    insert(connection, owner, session.id, &[(position, &Encoded::marker(summary))], REDACT).await?;
    Ok(None)
}

/// Deletes the content of a row; its number and id stay taken.
async fn blank(connection: &mut SqliteConnection, owner: Owner, item: i64) -> Result<()> {
    let values = sqlx::query("DELETE FROM value WHERE owner = ? AND place = 0 AND item = ?").bind(owner.id).bind(item);
    values.execute(&mut *connection).await.doing(REDACT)?;
    // The digest goes too: a short text can be guessed from it.
    let sql = "UPDATE message SET digest = x'', tokens = 0, counter = 0, archived_by = NULL, role = NULL, speaker = NULL, \
         trust = NULL, at = NULL, body = NULL WHERE owner = ? AND item = ?";
    let update = sqlx::query(sql).bind(owner.id).bind(item).execute(connection).await;
    update.doing(REDACT).map(|_| ())
}
