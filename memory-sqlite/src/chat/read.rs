//! Reading pages and single messages.

use std::collections::HashMap;

use futures_util::TryStreamExt;
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use memory_core::store::chat::{Edge, FoundMessages, Page, Slice, View};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, SqliteConnection};

use super::session;
use crate::client::Sqlite;
use crate::error::{BACKEND, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::number::list;
use crate::owner::Truth;
use crate::row;
use crate::statement::push;

const READ: &str = "read messages";

/// Reads messages of an owner by id.
const GET: &str = "SELECT item.id, item.seq, item.tokens, item.counter, item.first, item.archived_by, item.digest, item.body, session.key \
     FROM owner CROSS JOIN json_each(?3) AS wanted CROSS JOIN message AS item CROSS JOIN session \
     WHERE owner.truth = ?1 AND owner.key = ?2 AND owner.buried = 0 \
     AND item.owner = owner.id AND item.id = unhex(wanted.value) AND session.id = item.session";

/// Selects active instructions and the newest active summary. The first three conditions are those of the index.
const PINNED: &str = " AND item.archived_by IS NULL AND item.body IS NOT NULL \
     AND (item.layer > 0 OR item.role IN ('system', 'developer')) AND (item.layer = 0 OR item.item = (\
     SELECT newest.item FROM message AS newest INDEXED BY message_summary \
     WHERE newest.owner = item.owner AND newest.session = item.session AND newest.layer > 0 AND newest.body IS NOT NULL \
     AND newest.archived_by IS NULL ORDER BY newest.seq DESC, newest.layer DESC LIMIT 1))";

/// Reads a page of a session.
pub(super) async fn page(file: &Sqlite, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
    let (scope, session, page) = (scope.clone(), session.clone(), page.clone());
    let work = file.snapshot(READ, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, READ).await?;
            let kept = found.session;
            let state = kept.state(&session, found.epoch())?;
            let messages = match found.owner {
                Some(owner) if page.limit > 0 && kept.counters.head > 0 => {
                    let mut sql = QueryBuilder::default();
                    push_page(&mut sql, owner.id, kept.id, &page)?;
                    rows(connection, sql, &session, &page).await?
                }
                _ => Vec::new(),
            };
            Ok(Slice { state, messages, complete: true })
        })
    });
    work.await
}

/// Adds the statement for the rows from the page's edge on. The reader stops fetching at the end of the page.
fn push_page(sql: &mut QueryBuilder<sqlx::Sqlite>, owner: i64, session: i64, page: &Page) -> Result<()> {
    let Page { edge, limit, tokens: _, view, filter } = page;
    let text = "SELECT item.id, item.seq, item.tokens, item.counter, item.first, item.archived_by, item.digest, item.body \
         FROM message AS item {index} {join} WHERE item.owner = {owner} AND item.session = {session} {view} {edge} \
         {filter} ORDER BY {order} {limit}";
    let bound = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
    push(sql, text, |sql, hole| {
        match hole {
            // The index is named, because without statistics SQLite may use the one over all rows even for the window.
            "index" => sql.push(match view {
                View::Active => "INDEXED BY message_active",
                View::Pinned => "INDEXED BY message_pinned",
                View::Log | View::All => "INDEXED BY message_place",
            }),
            "join" if filter.is_some() => sql.push("JOIN session ON session.id = item.session"),
            "owner" => sql.push_bind(owner),
            "session" => sql.push_bind(session),
            "view" => sql.push(match view {
                View::Active => "AND item.archived_by IS NULL AND item.body IS NOT NULL",
                View::Pinned => PINNED,
                View::Log => "AND item.layer = 0",
                View::All => "AND (item.layer = 0 OR item.body IS NOT NULL)",
            }),
            "edge" => match edge {
                Edge::Newest => sql,
                Edge::Before(seq) => sql.push("AND item.seq < ").push_bind(bound(seq.0)),
                Edge::After(seq) => sql.push("AND item.seq > ").push_bind(bound(seq.0)),
            },
            "filter" => match filter {
                None => sql,
                Some(filter) => {
                    // In a CASE, because SQLite drops all other conditions next to one that is always false, and with them
                    // the index.
                    sql.push("AND item.body IS NOT NULL AND CASE WHEN ");
                    push_filter(sql, FilteredTable::Messages, filter)?;
                    sql.push(" THEN 1 ELSE 0 END")
                }
            },
            "order" => sql.push(match edge {
                Edge::Newest | Edge::Before(_) => "item.seq DESC, item.layer DESC",
                Edge::After(_) => "item.seq, item.layer",
            }),
            // A log has one row for each number, so that it ends with the page. Elsewhere the reader ends it.
            "limit" if *view == View::Log => sql.push("LIMIT ").push_bind(bound(*limit as u64)),
            _ => sql,
        };
        Ok(())
    })
}

/// Reads rows up to the page's bounds, and puts them in order. Rows with the same number are never split.
async fn rows(
    connection: &mut SqliteConnection,
    mut sql: QueryBuilder<sqlx::Sqlite>,
    session: &SessionId,
    page: &Page,
) -> Result<Vec<StoredMessage>> {
    let mut found = sql.build().fetch(connection);
    let mut messages: Vec<StoredMessage> = Vec::new();
    let (mut tokens, mut is_full) = (0u64, false);
    while let Some(row) = found.try_next().await.doing(READ)? {
        let message = row::message(&row, session, READ)?;
        if is_full && messages.last().is_some_and(|last| last.seq != message.seq) {
            break;
        }
        tokens = tokens.saturating_add(message.tokens);
        messages.push(message);
        is_full |= messages.len() >= page.limit || page.tokens.is_some_and(|budget| tokens > budget);
    }
    if !matches!(page.edge, Edge::After(_)) {
        messages.reverse();
    }
    Ok(messages)
}

/// Reads messages by id, in the order of `ids`.
pub(super) async fn get(file: &Sqlite, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
    if ids.is_empty() {
        return Ok(FoundMessages::of([]));
    }
    let (scope, wanted) = (scope.clone(), list(ids.iter().map(|id| id.0.as_bytes())));
    // A single statement is a transaction.
    let work = file.read(READ, move |connection| {
        Box::pin(async move {
            let read = sqlx::query(GET).bind(Truth::Chat.number()).bind(scope.key()).bind(wanted);
            let mut rows = read.fetch(connection);
            let mut found = HashMap::new();
            while let Some(row) = rows.try_next().await.doing(READ)? {
                let message = with_session(&row)?;
                found.insert(message.id, message);
            }
            Ok(found)
        })
    });
    let found = work.await?;
    Ok(FoundMessages::of(ids.iter().filter_map(|id| found.get(id).cloned())))
}

/// Returns the message of a row that names its session.
fn with_session(row: &SqliteRow) -> Result<StoredMessage> {
    let key: &str = row.try_get(8).doing(READ)?;
    let session = SessionId::from_key(key).map_err(|_| Error::corrupt(BACKEND, "no session has this key"))?;
    row::message(row, &session, READ)
}

#[cfg(test)]
mod tests;
