//! Messages as rows: encoded before the writer's turn, and inserted many at once.

use memory_core::CounterId;
use memory_core::Fields;
use memory_core::chat::NewMessage;
use memory_core::error::Result;
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::message::{Message, StoredMessage};
use sqlx::{QueryBuilder, SqliteConnection};

use crate::error::Doing;
use crate::filter::{Bound, ValueRow, value_rows};
use crate::number::{runs, stored};
use crate::owner::Owner;

/// A message or summary, ready to be stored.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) id: MessageId,
    pub(super) tokens: i64,
    counter: CounterId,
    pub(super) digest: Vec<u8>,
    pub(super) content: Option<Content>,
    values: Vec<ValueRow>,
}

/// What is forgotten first.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) at: i64,
    role: &'static str,
    speaker: Option<String>,
    trust: i64,
    body: Vec<u8>,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) seq: i64,
    pub(super) layer: i64,
    /// The first number that a summary covers.
    pub(super) first: Option<i64>,
    /// The summary that stands for it.
    pub(super) archived_by: Option<MessageId>,
}

impl Position {
    /// Returns the place of an active message.
    pub(super) fn of_message(seq: i64) -> Self {
        Self { seq, layer: 0, first: None, archived_by: None }
    }

    fn is_plain(&self) -> bool {
        self.layer == 0 && self.first.is_none() && self.archived_by.is_none()
    }
}

impl Encoded {
    /// Encodes a message of `session`.
    pub(super) fn new(session: &SessionId, new: &NewMessage) -> Result<Self> {
        let NewMessage { message, tokens, counter } = new;
        let body = message.encode();
        Ok(Self {
            id: message.id,
            tokens: stored(*tokens)?,
            counter: *counter,
            digest: Message::digest_of(session, &body).0.to_vec(),
            values: values(session, message),
            content: Some(Content {
                at: message.at.0,
                role: message.role.name(),
                speaker: message.speaker.clone(),
                trust: message.trust as i64,
                body,
            }),
        })
    }

    /// Returns the marker that keeps an id taken.
    pub(super) fn marker(id: MessageId) -> Self {
        let counter = CounterId::UNKNOWN;
        Self { id, tokens: 0, counter, digest: Vec::new(), content: None, values: Vec::new() }
    }
}

/// Returns the values by which filters find the message, beside its columns.
fn values(session: &SessionId, message: &std::sync::Arc<Message>) -> Vec<ValueRow> {
    let has_lists = !message.metadata.is_empty() || !message.sources.is_empty();
    if !has_lists && message.agent.is_none() && message.run.is_none() {
        return Vec::new();
    }
    let row = StoredMessage {
        id: message.id,
        session: session.clone(),
        seq: Seq(0),
        tokens: 0,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message: None,
    };
    value_rows(&Fields::of_message(&row, message))
}

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
    // Most rows are active messages, for which there is less to be bound.
    let is_plain = rows.iter().all(|(position, _)| position.is_plain());
    let mut sql = QueryBuilder::new(
        "INSERT INTO message (owner, session, seq, id, digest, tokens, counter, role, speaker, trust, at, body",
    );
    sql.push(if is_plain { ", layer) " } else { ", layer, first, archived_by) " });
    sql.push_values(rows, |mut row, (position, encoded)| {
        let Position { seq, layer, first, archived_by } = position;
        let Encoded { id, tokens, counter, digest, content, values: _ } = encoded;
        row.push_bind(owner.id).push_bind(session).push_bind(*seq);
        row.push_bind(id.0.as_bytes().as_slice()).push_bind(digest.as_slice()).push_bind(*tokens);
        row.push_bind(i64::from(counter.0));
        let content = content.as_ref();
        row.push_bind(content.map(|content| content.role));
        row.push_bind(content.and_then(|content| content.speaker.as_deref()));
        row.push_bind(content.map(|content| content.trust)).push_bind(content.map(|content| content.at));
        row.push_bind(content.map(|content| content.body.as_slice()));
        if is_plain {
            row.push("0");
            return;
        }
        row.push_bind(*layer).push_bind(*first);
        row.push_bind(archived_by.map(|summary| summary.0.as_bytes().to_vec()));
    });
    sql.push(" ON CONFLICT (owner, id) DO NOTHING");
    Ok(sql.build().execute(connection).await.doing(doing)?.rows_affected())
}

/// Inserts the values of messages that were inserted.
pub(super) async fn insert_values(
    connection: &mut SqliteConnection,
    owner: Owner,
    messages: impl Iterator<Item = &Encoded>,
    doing: &'static str,
) -> Result<()> {
    let values: Vec<_> = messages.flat_map(|message| message.values.iter().map(|value| (message.id, value))).collect();
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
