//! Messages as rows: encoded before the connection's turn, and inserted together as one array for each column.

use std::sync::Arc;

use memory_core::CounterId;
use memory_core::Fields;
use memory_core::chat::NewMessage;
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::message::{Message, StoredMessage};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::session::Place;
use crate::error::{Attempt, Doing};
use crate::filter::{literal, words};
use crate::number::stored;

/// A message or summary, ready to be stored.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub(super) id: MessageId,
    pub(super) tokens: i64,
    counter: CounterId,
    pub(super) digest: Vec<u8>,
    pub(super) content: Option<Content>,
}

/// What is forgotten first.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) at: i64,
    role: &'static [u8],
    speaker: Option<Vec<u8>>,
    trust: i16,
    words: Option<String>,
    body: String,
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

impl Encoded {
    /// Encodes a message of `session`.
    pub(super) fn new(session: &SessionId, new: &NewMessage) -> Result<Self> {
        let NewMessage { message, tokens, counter } = new;
        let body = String::from_utf8(message.encode()).map_err(|_| Error::invalid("the message is no text"))?;
        Ok(Self {
            id: message.id,
            tokens: stored(*tokens)?,
            counter: *counter,
            digest: Message::digest_of(session, body.as_bytes()).0.to_vec(),
            content: Some(Content {
                at: message.at.0,
                role: message.role.name().as_bytes(),
                speaker: message.speaker.clone().map(String::into_bytes),
                trust: message.trust as i16,
                words: words_of(session, message),
                body,
            }),
        })
    }

    /// Returns the marker that keeps an id taken.
    pub(super) fn marker(id: MessageId) -> Self {
        Self { id, tokens: 0, counter: CounterId::UNKNOWN, digest: Vec::new(), content: None }
    }
}

/// Returns the words by which filters find the message, beside its columns.
fn words_of(session: &SessionId, message: &Arc<Message>) -> Option<String> {
    let has_lists = !message.metadata.is_empty() || !message.sources.is_empty();
    if !has_lists && message.agent.is_none() && message.run.is_none() {
        return None;
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
    literal(&words(&Fields::of_message(&row, message)))
}

/// The columns of rows, an array each.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) ids: Vec<Uuid>,
    pub(super) digests: Vec<Vec<u8>>,
    pub(super) tokens: Vec<i64>,
    pub(super) counters: Vec<i64>,
    pub(super) roles: Vec<Option<&'static [u8]>>,
    pub(super) speakers: Vec<Option<Vec<u8>>>,
    pub(super) trusts: Vec<Option<i16>>,
    pub(super) times: Vec<Option<i64>>,
    pub(super) words: Vec<Option<String>>,
    pub(super) bodies: Vec<Option<String>>,
}

impl Columns {
    /// Returns the columns of the rows.
    pub(super) fn of(rows: impl IntoIterator<Item = Encoded>) -> Self {
        let mut columns = Self::default();
        for Encoded { id, tokens, counter, digest, content } in rows {
            columns.ids.push(id.0);
            columns.digests.push(digest);
            columns.tokens.push(tokens);
            columns.counters.push(i64::from(counter.0));
            let Some(Content { at, role, speaker, trust, words, body }) = content else {
                columns.push_empty();
                continue;
            };
            columns.roles.push(Some(role));
            columns.speakers.push(speaker);
            columns.trusts.push(Some(trust));
            columns.times.push(Some(at));
            columns.words.push(words);
            columns.bodies.push(Some(body));
        }
        columns
    }

    fn push_empty(&mut self) {
        self.roles.push(None);
        self.speakers.push(None);
        self.trusts.push(None);
        self.times.push(None);
        self.words.push(None);
        self.bodies.push(None);
    }
}

/// Inserts rows at their positions.
pub(super) async fn insert(
    connection: &mut PgConnection,
    place: &Place<'_>,
    rows: &[(Position, &Encoded)],
    doing: &'static str,
) -> Attempt<()> {
    let sql = "INSERT INTO message (scope, epoch, session, seq, layer, first, archived_by, id, digest, tokens, counter, \
         role, speaker, trust, at, words, body) \
         SELECT $1, $2, $3, seq, layer, first, archived_by, id, digest, tokens, counter, role, speaker, trust, at, \
         words::bytea[], body::json FROM unnest($4::int8[], $5::int8[], $6::int8[], $7::uuid[], $8::uuid[], $9::bytea[], \
         $10::int8[], $11::int8[], $12::bytea[], $13::bytea[], $14::int2[], $15::int8[], $16::text[], $17::text[]) \
         AS m (seq, layer, first, archived_by, id, digest, tokens, counter, role, speaker, trust, at, words, body)";
    let columns = Columns::of(rows.iter().map(|(_, encoded)| (*encoded).clone()));
    let positions = |get: fn(&Position) -> i64| rows.iter().map(|(position, _)| get(position)).collect::<Vec<_>>();
    let firsts: Vec<Option<i64>> = rows.iter().map(|(position, _)| position.first).collect();
    let archives = rows.iter().map(|(position, _)| position.archived_by.map(|summary| summary.0));
    let insert = sqlx::query(sql).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    let insert = insert.bind(positions(|position| position.seq)).bind(positions(|position| position.layer));
    let insert = insert.bind(firsts).bind(archives.collect::<Vec<_>>()).bind(columns.ids).bind(columns.digests);
    let insert = insert
        .bind(columns.tokens)
        .bind(columns.counters)
        .bind(columns.roles)
        .bind(columns.speakers)
        .bind(columns.trusts);
    let insert = insert.bind(columns.times).bind(columns.words).bind(columns.bodies);
    insert.execute(connection).await.doing(doing).map(|_| ())
}
