//! Settling notes.

use memory_core::error::Result;
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target};
use sqlx::SqliteConnection;

use super::{AT_ONCE, advance};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::number::stored;
use crate::owner::{Truth, find};

const SETTLE: &str = "settle notes";

/// The key of a note in the table.
struct Key {
    enlisted: i64,
    owner: i64,
    session: i64,
    record: Vec<u8>,
}

/// Applies the outcomes of notes whose targets have not changed since they were read.
pub(crate) async fn settle(file: &Sqlite, truth: Truth, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let (index, notes) = (index.clone(), notes.to_vec());
    let work = file.write(SETTLE, move |connection| {
        Box::pin(async move {
            let sql = "SELECT id FROM enlisted WHERE truth = ? AND name = ?";
            let enlisted = sqlx::query_scalar(sql).bind(truth.number()).bind(index.as_str());
            let Some(enlisted) = enlisted.fetch_optional(&mut *connection).await.doing(SETTLE)? else { return Ok(()) };
            for (note, outcome) in &notes {
                if let Some(key) = locate(connection, truth, enlisted, note).await? {
                    settle_one(connection, truth, &key, note, outcome).await?;
                }
            }
            Ok(())
        })
    });
    work.await
}

async fn locate(connection: &mut SqliteConnection, truth: Truth, enlisted: i64, note: &Note) -> Result<Option<Key>> {
    let Some(owner) = find(connection, truth, &note.scope, SETTLE).await? else { return Ok(None) };
    let (session, record) = match &note.target {
        Target::Owner => (0, Vec::new()),
        Target::Record(id) => (0, id.0.as_bytes().to_vec()),
        Target::Messages(session) => {
            let sql = "SELECT id FROM session WHERE owner = ? AND key = ?";
            let session = sqlx::query_scalar(sql).bind(owner.id).bind(session.key());
            let Some(id) = session.fetch_optional(connection).await.doing(SETTLE)? else { return Ok(None) };
            (id, Vec::new())
        }
    };
    Ok(Some(Key { enlisted, owner: owner.id, session, record }))
}

/// Settles one note. Attempts are counted from the note, so that a settlement that is repeated counts once.
async fn settle_one(
    connection: &mut SqliteConnection,
    truth: Truth,
    key: &Key,
    note: &Note,
    outcome: &Outcome,
) -> Result<()> {
    advance(connection, truth, 1).await?;
    let attempts = i64::from(note.attempts.saturating_add(1));
    let (stamp, upto) = (stored(note.stamp)?, stored(note.upto.0)?);
    let Key { enlisted, owner, session, record } = key;
    let of_note = |sql| sqlx::query(sql).bind(owner).bind(enlisted).bind(session).bind(record.as_slice()).bind(stamp);
    let query = match outcome {
        Outcome::Retry { at, why } => of_note(RETRY).bind(attempts).bind(at.0).bind(why.as_str()),
        Outcome::Dead { why } => of_note(DEAD).bind(attempts).bind(upto).bind(why.as_str()),
        Outcome::Done { through } => {
            let through = stored(through.0.min(note.upto.0))?;
            let gone = of_note(DONE).bind(through).execute(&mut *connection).await.doing(SETTLE)?;
            if gone.rows_affected() > 0 {
                return Ok(());
            }
            of_note(ADVANCED).bind(through).bind(AT_ONCE)
        }
    };
    query.execute(connection).await.doing(SETTLE).map(|_| ())
}

const RETRY: &str = "UPDATE note SET attempts = max(attempts, ?6), due = ?7, why = ?8, \
     place = (SELECT last FROM sequence) \
     WHERE owner = ?1 AND enlisted = ?2 AND session = ?3 AND record = ?4 AND stamp = ?5 AND dead = 0";

/// Gives up a note, unless messages were appended since it was read: these have not been tried.
const DEAD: &str = "UPDATE note SET attempts = max(attempts, ?6), dead = iif(upto = ?7, 1, dead), why = ?8 \
     WHERE owner = ?1 AND enlisted = ?2 AND session = ?3 AND record = ?4 AND stamp = ?5";

const DONE: &str = "DELETE FROM note WHERE owner = ?1 AND enlisted = ?2 AND session = ?3 AND record = ?4 AND stamp = ?5 \
     AND (?6 >= upto OR \"from\" > upto)";

const ADVANCED: &str = "UPDATE note SET \"from\" = max(\"from\", ?6 + 1), attempts = 0, gone = 0, dead = 0, due = ?7, \
     why = NULL, place = (SELECT last FROM sequence) \
     WHERE owner = ?1 AND enlisted = ?2 AND session = ?3 AND record = ?4 AND stamp = ?5";
