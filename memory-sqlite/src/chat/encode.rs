//! Messages as rows, inserted in batches.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use memory_core::error::Result;
use memory_core::plan::chat::{self, Position};
use sqlx::{QueryBuilder, SqliteConnection};

use crate::body;
use crate::error::Doing;
use crate::filter::{Bound, ValueRow};
use crate::number::runs;
use crate::owner::Owner;

/// A message or summary, with the values by which filters find it.
pub(super) type Encoded = chat::Row<Vec<ValueRow>>;

/// Inserts rows and returns how many; those whose ids are taken are left out.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: i64,
    rows: &[(Position, &Encoded)],
    doing: &'static str,
) -> Result<u64> {
    let mut inserted = 0;
    for some in runs(rows) {
        inserted += insert_some(connection, owner, session, some, doing).await?;
    }
    Ok(inserted)
}

async fn insert_some(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: i64,
    rows: &[(Position, &Encoded)],
    doing: &'static str,
) -> Result<u64> {
    // Most rows are active messages, which bind fewer values.
    let is_plain = rows.iter().all(|(position, _)| position.is_plain());
    let mut query = sqlx::query(statement(is_plain, rows.len()));
    for (position, encoded) in rows {
        let Position { seq, layer, first, archived_by } = position;
        let Encoded { id, tokens, counter, digest, content } = encoded;
        query = query.bind(owner.id).bind(session).bind(*seq).bind(id.0.as_bytes().as_slice());
        query = query.bind(digest.as_slice()).bind(*tokens).bind(i64::from(counter.0));
        let content = content.as_ref();
        let message = content.map(|content| content.message.as_ref());
        query = query.bind(message.map(|message| message.role.name()));
        query = query.bind(message.and_then(|message| message.speaker.as_deref()));
        query = query.bind(message.map(|message| message.trust as i64)).bind(message.map(|message| message.at.0));
        query = query.bind(content.map(|content| body::pack(*id, content.body.as_bytes()).into_owned()));
        if !is_plain {
            let archived_by = archived_by.map(|summary| summary.0.as_bytes().to_vec());
            query = query.bind(*layer).bind(*first).bind(archived_by);
        }
    }
    Ok(query.execute(connection).await.doing(doing)?.rows_affected())
}

/// Returns the statement that inserts this many rows. Each is made once and kept forever, because [`runs`] have few lengths.
fn statement(is_plain: bool, rows: usize) -> &'static str {
    static TEXTS: Mutex<BTreeMap<(bool, usize), &'static str>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.entry((is_plain, rows)).or_insert_with(|| {
        let (columns, row) = match is_plain {
            true => ("layer", "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"),
            false => ("layer, first, archived_by", "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        };
        let values = vec![row; rows].join(", ");
        let sql = format!(
            "INSERT INTO message (owner, session, seq, id, digest, tokens, counter, role, speaker, trust, at, body, \
             {columns}) VALUES {values} ON CONFLICT (owner, id) DO NOTHING"
        );
        sql.leak()
    })
}

/// Inserts the filter values of messages that were inserted.
pub(super) async fn insert_values(
    connection: &mut SqliteConnection,
    owner: Owner,
    messages: impl Iterator<Item = &Encoded>,
    doing: &'static str,
) -> Result<()> {
    let contents = messages.filter_map(|message| Some((message.id, message.content.as_ref()?)));
    let values = contents.flat_map(|(id, content)| content.facets.iter().map(move |value| (id, value)));
    let values: Vec<_> = values.collect();
    for some in runs(&values) {
        let mut sql = QueryBuilder::new("INSERT INTO value (owner, place, item, field, key, type, value) VALUES ");
        for (place, (id, value)) in some.iter().enumerate() {
            let ValueRow { field, key, kind, value } = value;
            sql.push(if place == 0 { "(" } else { ", (" }).push_bind(owner.id);
            sql.push(", 0, (SELECT item FROM message WHERE owner = ").push_bind(owner.id);
            sql.push(" AND id = ").push_bind(id.0.as_bytes().as_slice()).push("), ").push_bind(*field);
            sql.push(", ").push_bind(key.as_str()).push(", ").push_bind(*kind).push(", ");
            sql.push_bind(Bound(value)).push(")");
        }
        sql.build().execute(&mut *connection).await.doing(doing)?;
    }
    Ok(())
}
