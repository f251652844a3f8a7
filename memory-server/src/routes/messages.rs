//! The messages of a conversation: reading them, and appending to them.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use memory::message::Defaults;
use memory::receipt::AppendReceipt;
use memory::store::chat::{Edge, Page, Placement, SessionState, Slice, View};
use memory::{Error, Message, MessageId, Scoped, Seq, Session, SessionId, Timestamp, edge};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{ArrayBuilder, Object, SchemaType, Type};
use utoipa::{IntoParams, ToSchema};

use super::list::List;
use super::repeat::key;
use super::sessions::bounded;
use super::{Problems, json as answer};
use crate::app::{self, App};
use crate::caller::{Caller, Reads, Writes};
use crate::input::{InSession, Json, Parameters};
use crate::problem::Problem;

const MOST: u64 = 1_000;

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct Messages {
    /// Those after this number, the oldest first: `next` of the page before.
    #[param(minimum = 0, maximum = 9223372036854775807_u64)]
    after: Option<u64>,
    /// The newest before this number. Without it and without `after`, the newest.
    #[param(minimum = 0, maximum = 9223372036854775807_u64)]
    before: Option<u64>,
    /// How many, at the most.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: u64,
    /// Which of them: `log` all messages and marks of forgotten ones, `all` summaries too, each behind what it covers, `active` the
    /// window.
    #[serde(default)]
    #[param(inline, default = "log")]
    view: Seen,
}

/// Which messages are shown.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Seen {
    /// All messages.
    #[default]
    Log,
    /// Summaries too.
    All,
    /// The window.
    Active,
}

impl From<Seen> for View {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Log => Self::Log,
            Seen::All => Self::All,
            Seen::Active => Self::Active,
        }
    }
}

fn hundred() -> u64 {
    100
}

/// Reads messages, oldest first. A page of very long ones ends before its limit.
#[utoipa::path(get, path = "/v1/sessions/{session}/messages", tag = "sessions", security(("token" = [])),
    params(("session" = String, Path, min_length = 1, max_length = 255), Messages),
    responses((status = 200, description = "`shown`: the messages; `next`: the number to go on after.", body = Object), Problems))]
pub(crate) async fn read(
    Reads(ada): Reads,
    State(app): State<Arc<App>>,
    InSession(session): InSession,
    Parameters(which): Parameters<Messages>,
) -> Result<Response<Body>, Problem> {
    let limit = bounded(which.limit, MOST)?;
    let edge = match (which.after, which.before) {
        (None, None) => Edge::Newest,
        (Some(after), None) => Edge::After(Seq(after)),
        (None, Some(before)) => Edge::Before(Seq(before)),
        (Some(_), Some(_)) => return Err(Problem::bad("after and before exclude each other")),
    };
    let handle = ada.session(&session);
    let wanted = Page { edge, limit, tokens: None, view: which.view.into(), filter: None };
    let (read, title) = tokio::join!(shown(&handle, wanted, app.config.answer_bytes), handle.title());
    let (Shown { list, last, state }, title) = (read?, title?.map(|title| title.text));
    if state.head == Seq(0) {
        return Err(Problem::absent("session"));
    }
    let rest = json!({
        "session": session.name(), "title": title, "messages": state.head, "last_at": state.last_at.to_string(),
        "next": last.filter(|last| *last < state.head),
    });
    Ok(list.answer("shown", &rest))
}

/// Messages as they are shown.
struct Shown {
    /// Oldest first.
    list: List,
    /// The number of the newest.
    last: Option<Seq>,
    /// The session before they were read.
    state: SessionState,
}

/// Reads a page from its edge on, until an answer of `most` bytes is full. It is read in parts, so that no more is held of very long
/// messages than is sent. Rows of one number stay together.
async fn shown(session: &Session, mut page: Page, most: usize) -> memory::Result<Shown> {
    // A token is some bytes, mostly. A part that this cuts short is followed by the next.
    let tokens = (most / 2) as u64;
    let is_after = matches!(page.edge, Edge::After(_));
    let (mut list, mut left) = (List::within(most), page.limit);
    let (mut at, mut last, mut first_state) = (None, None, None);
    loop {
        page = Page { limit: left.min(app::PART), tokens: Some(tokens), ..page };
        let Slice { messages: mut rows, state, .. } = session.read(&page).await?;
        let fence = state.fence;
        let begun: &SessionState = first_state.get_or_insert(state);
        if !is_after {
            rows.reverse();
        }
        let is_end = rows.len() < page.limit && rows.iter().map(|row| row.tokens).sum::<u64>() <= tokens;
        // Another session of this name has begun meanwhile.
        let rows = if begun.fence == fence { rows } else { Vec::new() };
        for row in &rows {
            if list.is_full() && at != Some(row.seq) {
                break;
            }
            list.push(&edge::message(row));
            at = Some(row.seq);
            last = last.max(at);
        }
        left = left.saturating_sub(rows.len());
        let Some(at) = at.filter(|_| !is_end && !rows.is_empty() && left > 0 && !list.is_full()) else {
            let list = if is_after { list } else { list.reversed() };
            return Ok(Shown { list, last, state: begun.clone() });
        };
        page.edge = if is_after { Edge::After(at) } else { Edge::Before(at) };
    }
}

/// Messages to be appended.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Append {
    /// Chat JSON of OpenAI's or Anthropic's dialect, oldest first. Unknown members are kept. `id`, a UUID, and `at`, RFC 3339, are
    /// a message's own if it has them.
    #[schema(value_type = Vec<ChatMessage>, min_items = 1, max_items = 10_000)]
    messages: Vec<Map<String, Value>>,
}

/// A message of chat JSON, for the document alone: all members but the role are read as they come.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it is read by the macro that documents the body")]
struct ChatMessage {
    /// Who speaks.
    #[schema(pattern = "^(system|developer|user|assistant|tool|function)$")]
    role: String,
    /// The words, or pieces.
    #[schema(schema_with = content)]
    content: Option<Value>,
    /// Its id. Made before the first attempt, it makes the request repeatable.
    #[schema(format = Uuid)]
    id: Option<String>,
    /// When it was said. Default now.
    #[schema(format = DateTime)]
    at: Option<String>,
}

/// Returns the schema of a text, or of a list of pieces, or of nothing.
fn content() -> ArrayBuilder {
    let types = SchemaType::from_iter([Type::String, Type::Array, Type::Null]);
    ArrayBuilder::new().schema_type(types).items(Object::new()).description(Some("The words, or pieces."))
}

/// A message as it came: with an id and a time of its own, or without.
struct Told {
    chat: Value,
    id: Option<MessageId>,
    at: Option<Timestamp>,
    /// Its id was made before the request, so that it may be stored already.
    is_repeatable: bool,
}

/// Appends messages, all or none. Repeatable where each message has an `id`, or the request a header `Idempotency-Key`: what is
/// stored already stays as it is.
#[utoipa::path(post, path = "/v1/sessions/{session}/messages", tag = "sessions", security(("token" = [])),
    params(("session" = String, Path, min_length = 1, max_length = 255),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 255 bytes; the same for each repeat.")),
    request_body = Append,
    responses((status = 200, description = "`stored`: id, number and outcome of each; to a token that may not read, no numbers, and \
        `added` for what was stored before too.", body = Object), Problems))]
pub(crate) async fn append(
    Writes(ada): Writes,
    Extension(caller): Extension<Caller>,
    InSession(session): InSession,
    headers: HeaderMap,
    Json(Append { messages }): Json<Append>,
) -> Result<Response<Body>, Problem> {
    if messages.is_empty() {
        return Err(Problem::bad("there is nothing to append"));
    }
    // The limit of an append, before anything is read.
    let most = ada.memory().limits().messages;
    if messages.len() > most {
        return Err(Problem::bad(format!("an append holds at most {most} messages")));
    }
    let key = key(&headers)?;
    let mut told = messages.into_iter().map(told).collect::<Result<Vec<Told>, Problem>>()?;
    for (place, told) in told.iter_mut().enumerate() {
        let made = || key.map_or_else(MessageId::fresh, |key| id_of(&session, key, place));
        told.is_repeatable = told.id.is_some() || key.is_some();
        told.id = Some(told.id.unwrap_or_else(made));
    }
    let mut known = Known::of(&ada, &told).await?;
    let mut stored = store(&ada, &session, &told, &known).await;
    // Another request with the same ids may store them meanwhile, at another time.
    if matches!(stored, Err(Error::IdConflict { .. })) && told.iter().any(|told| told.at.is_none()) {
        known = Known::of(&ada, &told).await?;
        stored = store(&ada, &session, &told, &known).await;
    }
    let (messages, receipt) = match (stored, known.missed) {
        // What is stored at which time is not known, so that this may be no other content.
        (Err(Error::IdConflict { .. }), Some(failure)) => return Err(failure.into()),
        (stored, _) => stored?,
    };
    Ok(answer(&if caller.may_read() { appended(&messages, &receipt) } else { as_new(&messages, &receipt) }))
}

/// Returns the id of a message without one: made of the session, the key, and its place in the request. On every machine the same.
fn id_of(session: &SessionId, key: &[u8], place: usize) -> MessageId {
    let name = session.key().as_bytes();
    let [of_name, of_key, place] = [name.len(), key.len(), place].map(|number| (number as u64).to_le_bytes());
    let parts: [&[u8]; 6] = [b"append", &of_name, name, &of_key, key, &place];
    MessageId::of_content(&parts.concat())
}

fn told(mut members: Map<String, Value>) -> Result<Told, Problem> {
    // Chat JSON of others has ids that are no UUID: those are theirs, and kept.
    let id = members.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    if id.is_some() {
        members.remove("id");
    }
    let at = match members.remove("at") {
        None | Some(Value::Null) => None,
        Some(Value::String(at)) => Some(at.parse()?),
        Some(_) => return Err(Problem::bad("at is a time: 2024-05-17T18:30:00Z")),
    };
    Ok(Told { chat: Value::Object(members), id, at, is_repeatable: false })
}

/// What is known of messages that have no time of their own and may be stored already.
struct Known {
    /// When they were stored.
    times: HashMap<MessageId, Timestamp>,
    /// Why some could not be looked for. A journal takes them all the same, and knows them by their ids when they are stored.
    missed: Option<Error>,
}

impl Known {
    /// Looks for the messages that may be stored already.
    async fn of(ada: &Scoped, told: &[Told]) -> Result<Self, Error> {
        let timeless = told.iter().filter(|told| told.at.is_none() && told.is_repeatable);
        let timeless: Vec<MessageId> = timeless.filter_map(|told| told.id).collect();
        let mut known = Self { times: HashMap::new(), missed: None };
        let mut rest = timeless.as_slice();
        while !rest.is_empty() {
            // Behind a failure the others at once: only those that wait in a journal are found, and each call may take its whole deadline.
            let some = if known.missed.is_some() { rest.len() } else { rest.len().min(app::PART) };
            let (part, others) = rest.split_at(some);
            rest = others;
            match ada.messages(part).await {
                Ok(stored) => {
                    known.times.extend(stored.iter().filter_map(|row| Some((row.id, row.message.as_ref()?.at))));
                }
                // The next ones may wait in a journal, which answers.
                Err(error) if error.is_retryable() => known.missed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }
}

/// Stores messages. What has no time of its own and is stored already keeps the time that it has.
async fn store(
    ada: &Scoped,
    session: &SessionId,
    told: &[Told],
    known: &Known,
) -> Result<(Vec<MessageId>, AppendReceipt), Error> {
    let ids: Vec<MessageId> = told.iter().filter_map(|told| told.id).collect();
    let now = ada.memory().now();
    let messages = told.iter().zip(&ids).map(|(told, id)| {
        let at = told.at.or_else(|| known.times.get(id).copied()).unwrap_or(now);
        let message = Message::from_chat(&told.chat, Defaults { id: *id, at })?;
        if message.blocks.is_empty() { Err(Error::invalid("a message holds nothing")) } else { Ok(message) }
    });
    let receipt = ada.session(session).append(messages.collect::<Result<_, Error>>()?).await?;
    Ok((ids, receipt))
}

fn appended(ids: &[MessageId], receipt: &AppendReceipt) -> Value {
    let AppendReceipt { placements, head, tokens, durability, pressure } = receipt;
    let stored = ids.iter().zip(placements).map(|(id, placement)| {
        let (outcome, seq) = match placement {
            Placement::Added(seq) => ("added", Some(seq)),
            Placement::Already(seq) => ("already", Some(seq)),
            Placement::Queued => ("queued", None),
            Placement::Forgotten => ("forgotten", None),
        };
        json!({ "id": id, "seq": seq, "outcome": outcome })
    });
    json!({
        "stored": stored.collect::<Vec<Value>>(), "head": head, "tokens": tokens, "durability": durability,
        "pressure": pressure,
    })
}

/// Returns what is told of a receipt to whoever may write alone: the same for what was stored before and for what is new, and nothing of
/// the other messages of the session.
fn as_new(ids: &[MessageId], receipt: &AppendReceipt) -> Value {
    let stored = ids.iter().zip(&receipt.placements).map(|(id, placement)| {
        let outcome = match placement {
            Placement::Added(_) | Placement::Already(_) => "added",
            Placement::Queued => "queued",
            Placement::Forgotten => "forgotten",
        };
        json!({ "id": id, "outcome": outcome })
    });
    json!({ "stored": stored.collect::<Vec<Value>>(), "tokens": receipt.tokens, "durability": receipt.durability })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_message_without_one_is_the_same_on_every_machine() {
        let id = id_of(&SessionId::new("talk").unwrap(), b"key", 1);
        assert_eq!(id.to_string(), "9c14c834-d430-5930-9437-994ab9ac7352");
    }
}
