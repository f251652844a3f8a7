//! Notes of what indexes have not taken in yet. The database functions that write make them, in the same transaction.

mod enlist;

use memory_core::error::{Error, Result};
use memory_core::id::{RecordId, Seq, SessionId};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, IndexName, Note, NotePages, Outcome, Target, latest_due};
use memory_core::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::number::{bound, limit, loaded, stored};
use crate::owner::{Truth, scope_of};

pub(crate) use enlist::{doubt, enlist, indexes, retire, revive};

/// Returns up to `count` notes of `index` that are due at `now`, the longest due first.
pub(crate) async fn pending(
    server: &Postgres,
    truth: Truth,
    index: &IndexName,
    now: Timestamp,
    count: usize,
) -> Result<Vec<Note>> {
    let doing = "read notes";
    let notes = server.run(Call::statement(doing), index.clone(), move |connection, index| {
        Box::pin(async move {
            // Due notes, then those that were delayed while the clock was wrong.
            let sql = "WITH e AS (SELECT id FROM enlisted WHERE truth = $1 AND name = $2), n AS ( \
                 (SELECT * FROM note WHERE enlisted = (SELECT id FROM e) AND NOT dead AND due <= $3 \
                 AND (due, place) > ($5, $6) ORDER BY due, place LIMIT $7) UNION ALL \
                 (SELECT * FROM note WHERE enlisted = (SELECT id FROM e) AND NOT dead AND due > $4 \
                 AND (due, place) > ($5, $6) ORDER BY due, place LIMIT $7)) \
                 SELECT scope, target, session, record, epoch, \"from\", upto, stamp, attempts, gone, due, place \
                 FROM n ORDER BY due, place LIMIT $7";
            let mut pages = NotePages::new(count);
            // Pages are of different moments. One begins behind the last note of the other, however many were settled between them.
            let mut last = (i64::MIN, i64::MIN);
            while let Some((most, _)) = pages.next_page() {
                let found = sqlx::query(sql).bind(truth.number()).bind(index.as_str());
                let found = found.bind(now.0).bind(latest_due(now).0).bind(last.0).bind(last.1).bind(limit(most));
                let rows = found.fetch_all(&mut *connection).await.doing(doing)?;
                if let Some(row) = rows.last() {
                    last = (row.try_get(10).doing(doing)?, row.try_get(11).doing(doing)?);
                }
                pages.take(rows.iter().map(|row| note(row, doing).map_err(|failure| failure.error)));
            }
            Ok(pages.finish()?)
        })
    });
    notes.await
}

fn note(row: &PgRow, doing: &'static str) -> Attempt<Note> {
    let session: &str = row.try_get(2).doing(doing)?;
    let damaged = |_: Error| Error::corrupt(BACKEND, "a note names nothing that can be");
    let target = match row.try_get::<i16, _>(1).doing(doing)? {
        0 => Target::Owner,
        1 => Target::Messages(SessionId::from_key(session).map_err(damaged)?),
        _ => Target::Record(RecordId(row.try_get(3).doing(doing)?)),
    };
    let number = |column: usize| -> Attempt<u64> { Ok(loaded(row.try_get(column).doing(doing)?)?) };
    Ok(Note {
        scope: scope_of(row.try_get(0).doing(doing)?)?,
        target,
        epoch: Epoch(number(4)?),
        from: Seq(number(5)?),
        upto: Seq(number(6)?),
        stamp: number(7)?,
        attempts: u32::try_from(number(8)?).unwrap_or(u32::MAX),
        gone: row.try_get(9).doing(doing)?,
    })
}

/// The outcomes of notes, with an array for each column.
#[derive(Default)]
struct Settled {
    index: String,
    scopes: Vec<String>,
    targets: Vec<i16>,
    sessions: Vec<String>,
    records: Vec<Uuid>,
    stamps: Vec<i64>,
    uptos: Vec<i64>,
    attempts: Vec<i64>,
    kinds: Vec<i16>,
    numbers: Vec<i64>,
    whys: Vec<Option<String>>,
}

impl Settled {
    fn of(index: &IndexName, notes: &[(Note, Outcome)]) -> Result<Self> {
        let mut settled = Self { index: index.as_str().to_owned(), ..Self::default() };
        for (note, outcome) in notes {
            settled.push(note, outcome)?;
        }
        Ok(settled)
    }

    fn push(&mut self, note: &Note, outcome: &Outcome) -> Result<()> {
        let Note { scope, target, epoch: _, from: _, upto, stamp, attempts, gone: _ } = note;
        let (target, session, record) = match target {
            Target::Owner => (0, String::new(), Uuid::nil()),
            Target::Messages(session) => (1, session.key().to_owned(), Uuid::nil()),
            Target::Record(id) => (2, String::new(), id.0),
        };
        // Texts of the database cannot hold NUL.
        let clause = |why: &str| Some(why.replace('\0', " "));
        let (kind, number, why) = match outcome {
            Outcome::Done { through } => (0, bound(through.0), None),
            Outcome::Retry { at, why } => (1, at.0, clause(why)),
            Outcome::Dead { why } => (2, 0, clause(why)),
        };
        self.scopes.push(scope.key().to_owned());
        self.targets.push(target);
        self.sessions.push(session);
        self.records.push(record);
        self.stamps.push(stored(*stamp)?);
        self.uptos.push(stored(upto.0)?);
        // Counted from the note, so that a repeated settlement counts once.
        self.attempts.push(i64::from(attempts.saturating_add(1)));
        self.kinds.push(kind);
        self.numbers.push(number);
        self.whys.push(why);
        Ok(())
    }
}

/// Applies the outcomes of notes whose targets have not changed since they were read.
pub(crate) async fn settle(
    server: &Postgres,
    truth: Truth,
    index: &IndexName,
    notes: &[(Note, Outcome)],
) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let (settled, doing) = (Settled::of(index, notes)?, "settle notes");
    let settled = server.run(Call::statement(doing).rows(notes.len()), settled, move |connection, settled| {
        Box::pin(async move {
            let sql = "SELECT settle_notes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
            let call = sqlx::query(sql).bind(truth.number()).bind(&settled.index).bind(&settled.scopes);
            let call = call.bind(&settled.targets).bind(&settled.sessions).bind(&settled.records);
            let call = call.bind(&settled.stamps).bind(&settled.uptos).bind(&settled.attempts);
            let call = call.bind(&settled.kinds).bind(&settled.numbers).bind(&settled.whys);
            call.execute(connection).await.doing(doing).map(|_| ())
        })
    });
    settled.await
}

/// Returns how far `index` is behind.
pub(crate) async fn backlog(server: &Postgres, truth: Truth, index: &IndexName) -> Result<Backlog> {
    let doing = "count notes";
    let counts = server.run(Call::statement(doing), index.clone(), move |connection, index| {
        Box::pin(async move {
            // Each count has an index of its own, `note_due` and `note_dead`.
            let sql = "WITH e AS (SELECT id FROM enlisted WHERE truth = $1 AND name = $2) SELECT \
                 (SELECT count(*) FROM note WHERE enlisted = (SELECT id FROM e) AND NOT dead), \
                 (SELECT count(*) FROM note WHERE enlisted = (SELECT id FROM e) AND dead)";
            let counts = sqlx::query_as::<_, (i64, i64)>(sql).bind(truth.number()).bind(index.as_str());
            counts.fetch_one(connection).await.doing(doing)
        })
    });
    let (pending, dead) = counts.await?;
    Ok(Backlog { pending: loaded(pending)?, dead: loaded(dead)? })
}

/// Returns how far `index` is behind for one owner.
pub(crate) async fn backlog_of(server: &Postgres, truth: Truth, scope: &Scope, index: &IndexName) -> Result<Backlog> {
    let doing = "count an owner's notes";
    let asked = (scope.clone(), index.clone());
    let counts = server.run(Call::statement(doing), asked, move |connection, (scope, index)| {
        Box::pin(async move {
            let sql = "SELECT count(*) FILTER (WHERE NOT dead), count(*) FILTER (WHERE dead) FROM note \
                 WHERE scope = $1 AND enlisted = (SELECT id FROM enlisted WHERE truth = $2 AND name = $3)";
            let counts = sqlx::query_as::<_, (i64, i64)>(sql);
            let counts = counts.bind(scope.key()).bind(truth.number()).bind(index.as_str());
            counts.fetch_one(connection).await.doing(doing)
        })
    });
    let (pending, dead) = counts.await?;
    Ok(Backlog { pending: loaded(pending)?, dead: loaded(dead)? })
}
