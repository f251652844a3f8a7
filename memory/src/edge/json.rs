//! The JSON of what a memory answers. Names stay; members may be added.

use memory_core::analysis::{Excerpt, Excerpts};
use memory_core::engine::{Content, Context, Hit};
use memory_core::message::Chat;
use memory_core::store::chat::SessionState;
use memory_core::{Fields, Filter, StoredMessage, StoredRecord, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

/// Characters of the passage of a hit.
const PASSAGE: usize = 300;

/// Returns a conversation with its counters and its title.
pub fn session(state: &SessionState, title: Option<&str>) -> Value {
    json!({
        "session": state.session.name(), "title": title, "messages": state.head,
        "window_messages": state.active_messages, "window_tokens": state.active_tokens,
        "last_at": state.last_at.to_string(),
    })
}

/// Returns a message, with OpenAI's chat JSON of it; a forgotten one only says so. `state` tells whether it is in the window.
pub fn message(row: &StoredMessage) -> Value {
    let Some(message) = &row.message else {
        return json!({
            "unit": "message", "id": row.id, "seq": row.seq, "session": row.session.name(), "state": "forgotten", "forgotten": true,
        });
    };
    let more = json!({
        "message": message.to_openai(), "origin": message.origin, "metadata": message.metadata, "state": state(row),
        "tokens": row.tokens, "covers": row.covers.map(|covers| [covers.first, covers.last]),
    });
    with(Content::Message(row.clone()).to_json(), more)
}

/// Returns where a message stands: in the window, or why it left it.
fn state(row: &StoredMessage) -> &'static str {
    match row {
        row if row.is_replaced() => "replaced",
        row if row.archived_by.is_some() => "archived",
        row if row.is_archive() => "archive",
        row if row.covers.is_some() => "summary",
        _ => "active",
    }
}

/// Returns a record with all that is known of it, and whether it is current at `now`.
pub fn record(stored: &StoredRecord, now: Timestamp) -> Value {
    let record = &stored.record;
    let (from, until) = record.validity();
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let is_current = Filter::current(now).matches(&Fields::of_record(record));
    let more = json!({
        "current": is_current, "importance": record.importance(), "pinned": record.is_pinned(), "hold": record.hold,
        "valid_from": time(from), "valid_to": time(until), "expires_at": time(record.expires_at()),
        "superseded_at": time(record.superseded.map(|by| by.at)), "superseded_by": record.superseded.map(|by| by.by),
        "origin": record.origin(), "sources": record.sources().iter().map(|source| source.id()).collect::<Vec<_>>(),
        "metadata": record.metadata(),
    });
    with(Content::Record(stored.clone()).to_json(), more)
}

/// A hit with its passage, written without a value between.
#[derive(Serialize)]
struct Found<'h> {
    #[serde(flatten)]
    hit: &'h Hit,
    passage: Passage,
}

#[derive(Serialize)]
struct Passage {
    text: String,
    matches: Vec<[usize; 2]>,
}

/// Returns a hit with the passage that answers the question of `excerpts`. Its places are counted in characters.
pub fn hit<'h>(hit: &'h Hit, excerpts: &mut Excerpts<'_>) -> impl Serialize + use<'h> {
    let Excerpt { text, matches } = excerpts.of(&hit.content.text(), PASSAGE);
    let place = |at: usize| text.get(..at).map_or(0, |before| before.chars().count());
    let matches = matches.iter().map(|range| [place(range.start), place(range.end)]).collect();
    Found { hit, passage: Passage { text, matches } }
}

/// Returns a context with its receipt: what [`sent`] returns, and `receipt`.
pub fn context(context: &Context, anthropic: bool) -> Value {
    with(json!(sent(context, anthropic)), json!({ "receipt": context.receipt }))
}

/// What a model is sent, to be serialized.
#[derive(Serialize)]
#[serde(untagged)]
enum Sent<'c> {
    Openai { messages: Vec<Chat<'c>> },
    Anthropic(Value),
}

/// Returns what a model is sent: `messages` as OpenAI's API takes them or, if `anthropic`, `messages` and `system` as Anthropic's
/// does.
pub fn sent(context: &Context, anthropic: bool) -> impl Serialize {
    if anthropic { Sent::Anthropic(context.to_anthropic()) } else { Sent::Openai { messages: context.as_openai() } }
}

/// Returns an object with the members of another one too.
pub fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(members), Value::Object(more)) = (&mut value, more) {
        members.extend(more);
    }
    value
}
