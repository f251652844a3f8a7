//! Reading pages and single messages.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use memory_core::error::{Error, Result};
use memory_core::filter::Filter;
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use memory_core::store::chat::{Edge, FoundMessages, Page, Slice, View};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{QueryBuilder, Row};
use uuid::Uuid;

use super::session::{Session, named};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::number::{bound, limit};
use crate::row;
use crate::statement::statement;

const READ: &str = "read messages";

/// How many rows are read at once if there is a filter.
const CHUNK: usize = 256;

/// Selects active instructions and the newest active summary. The first conditions are those of the index.
const PINNED: &str = " AND item.archived_by IS NULL \
     AND (item.layer > 0 OR item.role IN ('system'::bytea, 'developer'::bytea)) AND (item.layer = 0 OR NOT EXISTS (\
     SELECT 1 FROM message AS newer WHERE newer.scope = item.scope AND newer.epoch = item.epoch \
     AND newer.session = item.session AND newer.layer > 0 AND newer.body IS NOT NULL AND newer.archived_by IS NULL \
     AND (newer.seq, newer.layer) > (item.seq, item.layer)))";

/// What is to be read.
struct Read {
    scope: Scope,
    session: SessionId,
    page: Page,
}

/// Reads a page of a session.
pub(super) async fn page(server: &Postgres, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
    let read = Read { scope: scope.clone(), session: session.clone(), page: page.clone() };
    // Without a filter a database function reads the page; with one the statement depends on the filter.
    if read.page.filter.is_none() || read.page.limit == 0 {
        let call = Call::statement(READ);
        // Without a token budget, a page may be long.
        let call = if read.page.tokens.is_none() { call.rows(read.page.limit) } else { call };
        let work = server.run(call, read, |connection, read| Box::pin(plain(connection, read)));
        return work.await;
    }
    let work = server.run(Call::snapshot(READ), read, |connection, read| Box::pin(filtered(connection, read)));
    work.await
}

async fn plain(connection: &mut PgConnection, read: &Read) -> Attempt<Slice> {
    let Page { edge, limit: count, tokens, view, filter: _ } = &read.page;
    let rows = sqlx::query(
        "SELECT state, id, seq, tokens, counter, first, archived_by, digest, body FROM read_page($1, $2, $3, $4, $5, $6::int8, $7)",
    );
    let (edge, seq): (i16, i64) = match edge {
        Edge::Newest => (0, 0),
        Edge::Before(seq) => (1, bound(seq.0)),
        Edge::After(seq) => (2, bound(seq.0)),
    };
    let view: i16 = match view {
        View::Active => 0,
        View::Log => 1,
        View::All => 2,
        View::Pinned => 3,
    };
    let rows = rows.bind(read.scope.key()).bind(read.session.key()).bind(edge).bind(seq);
    let rows = rows.bind(limit(*count)).bind(tokens.map(bound)).bind(view);
    // Row by row, so that the first are checked and decoded while the server sends the others.
    let mut rows = rows.fetch(connection);
    let Some(state) = rows.try_next().await.doing(READ)? else {
        return Err(Error::corrupt(BACKEND, "a page has no state").into());
    };
    let counters: Option<Vec<Option<i64>>> = state.try_get(0).doing(READ)?;
    let state = Session::of_counters(counters.as_deref())?.state(&read.session)?;
    let mut messages = Vec::new();
    while let Some(row) = rows.try_next().await.doing(READ)? {
        messages.push(row::message(&row, 1, &read.session, READ)?);
    }
    Ok(Slice { state, messages: in_order(messages, &read.page), complete: true })
}

/// Puts rows, which are read from the edge on, in the order of a page: oldest first.
fn in_order(mut messages: Vec<StoredMessage>, page: &Page) -> Vec<StoredMessage> {
    if !matches!(page.edge, Edge::After(_)) {
        messages.reverse();
    }
    messages
}

async fn filtered(connection: &mut PgConnection, read: &Read) -> Attempt<Slice> {
    let sql = "SELECT state FROM read_page($1, $2, 0::int2, 0, 0, NULL, 0::int2)";
    let state = sqlx::query_scalar(sql).bind(read.scope.key()).bind(read.session.key());
    let counters: Option<Vec<Option<i64>>> = state.fetch_one(&mut *connection).await.doing(READ)?;
    let kept = Session::of_counters(counters.as_deref())?;
    let messages = if kept.counters.head > 0 { matching(connection, read, kept.epoch).await? } else { Vec::new() };
    let state = kept.state(&read.session)?;
    Ok(Slice { state, messages: in_order(messages, &read.page), complete: true })
}

/// Returns the rows that match, from the page's edge on.
async fn matching(connection: &mut PgConnection, read: &Read, epoch: i64) -> Attempt<Vec<StoredMessage>> {
    let mut taken = Taken::default();
    let mut last: Option<(i64, i64)> = None;
    loop {
        let mut sql = chunk(read, epoch, last)?;
        let rows = sql.build().fetch_all(&mut *connection).await.doing(READ)?;
        for row in &rows {
            if !taken.take(row::message(row, 0, &read.session, READ)?, &read.page) {
                return Ok(taken.messages);
            }
            last = Some((row.try_get(1).doing(READ)?, row.try_get(8).doing(READ)?));
        }
        if rows.len() < CHUNK {
            return Ok(taken.messages);
        }
    }
}

/// The rows of a page that were read so far.
#[derive(Default)]
struct Taken {
    messages: Vec<StoredMessage>,
    tokens: u64,
    is_full: bool,
}

impl Taken {
    /// Takes the next row; returns whether it is on the page. Rows with the same number are never split.
    fn take(&mut self, message: StoredMessage, page: &Page) -> bool {
        if self.is_full && self.messages.last().is_some_and(|last| last.seq != message.seq) {
            return false;
        }
        self.tokens = self.tokens.saturating_add(message.tokens);
        self.messages.push(message);
        self.is_full |= self.messages.len() >= page.limit || page.tokens.is_some_and(|budget| self.tokens > budget);
        true
    }
}

/// Returns the statement for the next matching rows, after the `last` number and layer read.
fn chunk(read: &Read, epoch: i64, last: Option<(i64, i64)>) -> Result<QueryBuilder<sqlx::Postgres>> {
    let Page { edge, limit: _, tokens: _, view, filter } = &read.page;
    let is_forwards = matches!(edge, Edge::After(_));
    let text = "SELECT item.id, item.seq, item.tokens, item.counter, item.first, item.archived_by, item.digest, \
         item.body::text, item.layer FROM message AS item WHERE item.scope = {scope} AND item.epoch = {epoch} \
         AND item.session = {session} AND item.body IS NOT NULL {view} {edge} {behind} AND {filter} \
         ORDER BY {order} LIMIT {count}";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(read.scope.key().to_owned()),
            "epoch" => sql.push_bind(epoch),
            "session" => sql.push_bind(read.session.key().to_owned()),
            "view" => sql.push(match view {
                View::Active => "AND item.archived_by IS NULL",
                View::Pinned => PINNED,
                View::Log => "AND item.layer = 0",
                View::All => "",
            }),
            "edge" => match edge {
                Edge::Newest => sql,
                Edge::Before(seq) => sql.push("AND item.seq < ").push_bind(bound(seq.0)),
                Edge::After(seq) => sql.push("AND item.seq > ").push_bind(bound(seq.0)),
            },
            "behind" => match last {
                None => sql,
                Some((seq, layer)) => {
                    let sign = if is_forwards { ">" } else { "<" };
                    sql.push("AND (item.seq, item.layer) ").push(sign).push(" (");
                    sql.push_bind(seq).push(", ").push_bind(layer).push(")")
                }
            },
            "filter" => {
                let filter = filter.as_ref().unwrap_or(&Filter::All);
                return push_filter(sql, FilteredTable::Messages(read.session.name()), filter);
            }
            "order" if is_forwards => sql.push("item.seq, item.layer"),
            "order" => sql.push("item.seq DESC, item.layer DESC"),
            _ => sql.push_bind(limit(CHUNK)),
        };
        Ok(())
    })
}

/// Reads messages by id, in the order of `ids`.
pub(super) async fn get(server: &Postgres, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
    if ids.is_empty() {
        return Ok(FoundMessages::of([]));
    }
    let list: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let found = server.run(Call::statement(READ).rows(ids.len()), (scope.clone(), list), |connection, (scope, ids)| {
        Box::pin(async move {
            let sql =
                "SELECT id, seq, tokens, counter, first, archived_by, digest, body, session FROM get_messages($1, $2)";
            let rows = sqlx::query(sql).bind(scope.key()).bind(ids).fetch_all(connection).await.doing(READ)?;
            rows.iter().map(by_id).collect::<Attempt<HashMap<_, _>>>()
        })
    });
    let found = found.await?;
    Ok(FoundMessages::of(ids.iter().filter_map(|id| found.get(id).cloned())))
}

fn by_id(row: &PgRow) -> Attempt<(MessageId, StoredMessage)> {
    let session = named(row.try_get(8).doing(READ)?)?;
    let message = row::message(row, 0, &session, READ)?;
    Ok((message.id, message))
}
