//! Chat JSON of OpenAI's or Anthropic's API: a message a line, or `{"messages": […]}` a line. Our own members stand beside the standard ones:
//! `session`, `id` (a UUID), `at` (or `created_at`, `timestamp`, `create_time`), `metadata`. What else stands there becomes metadata, so that
//! a model is sent nothing that its server may refuse.

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::message::{Defaults, Slot};
use memory_core::{Block, Message, MessageId, Timestamp};
use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::identity::{fingerprint, message_id};
use super::item::LeftOut;
use super::meter::Meter;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::source::Source;
use super::{time, weight};

/// What a message of our limits weighs at the most, as values.
const HEAVIEST: usize = 48 << 20;
/// The members in which a time is looked for.
const TIMES: [&str; 4] = ["at", "created_at", "timestamp", "create_time"];
/// The members in which a message's conversation is looked for.
const SESSIONS: [&str; 3] = ["session", "session_id", "conversation_id"];
/// The members of a chat message of either dialect, besides its role and content.
const OF_CHAT: [&str; 9] = [
    "name",
    "refusal",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "reasoning",
    "reasoning_content",
    "audio",
    "annotations",
];
/// The kinds of pieces of content that are known, and hold no words that could be found.
const WORDLESS: [&str; 2] = ["redacted_thinking", "server_tool_use"];
/// From here on, floats skip whole numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a file of chat messages is read with.
#[derive(Debug)]
pub(super) struct Reader {
    /// The session of messages that name none.
    session: String,
    /// The beginning of the names of conversations that have none.
    stem: String,
    /// Counts the conversations that have none, if the session names them.
    numbers: Option<Arc<Meter>>,
    now: Timestamp,
    /// How many messages of each session were read, by the fingerprint of its name.
    indexes: HashMap<u64, u64>,
    /// The last line on which a conversation without a name began, and how many stood there: a list may be one line.
    nameless: (u64, u64),
}

impl Reader {
    pub(super) fn new(source: &Source, meter: &Arc<Meter>) -> Self {
        Self {
            session: source.session.clone(),
            stem: source.stem.clone(),
            numbers: source.names_conversations.then(|| Arc::clone(meter)),
            now: source.now,
            indexes: HashMap::new(),
            nameless: (0, 0),
        }
    }

    /// Reads one line or element: a message or a conversation.
    pub(super) fn read(&mut self, at: Position, value: Value, sink: &Sink) -> Result<(), Stopped> {
        let Value::Object(mut object) = value else {
            return sink.reject(at, "not a message: it is no JSON object");
        };
        let is_told = |member: &&str| object.get(*member).is_some_and(|value| !value.is_null() && !value.is_string());
        let told = SESSIONS.into_iter().find(is_told);
        let named = SESSIONS.iter().find_map(|member| take_name(&mut object, member));
        if let (Some(member), None) = (told, &named) {
            return sink.reject(at, format!("the member {member} is no name: write a text or a whole number"));
        }
        let messages = match object.remove("messages") {
            Some(Value::Array(messages)) => messages,
            Some(_) => return sink.reject(at, "the member messages is no list"),
            None => {
                let (session, is_told) = (named.as_ref().unwrap_or(&self.session), named.is_some());
                let index = self.indexes.entry(fingerprint(session)).or_default();
                *index += 1;
                return message(at, (session, is_told), *index - 1, object, self.now, sink);
            }
        };
        self.conversation(at, named.or_else(|| take_text(&mut object, "id")), messages, sink)
    }

    fn conversation(
        &mut self,
        at: Position,
        named: Option<String>,
        messages: Vec<Value>,
        sink: &Sink,
    ) -> Result<(), Stopped> {
        // A name made of the line occurs once, so nothing has to be kept of it.
        let mut once = 0;
        let is_told = named.is_some();
        let numbered = |meter: &Arc<Meter>| with_number(&self.session, meter.count_nameless());
        let (session, index) = match named.or_else(|| self.numbers.as_ref().map(numbered)) {
            Some(name) => {
                let index = self.indexes.entry(fingerprint(&name)).or_default();
                (name, index)
            }
            None => (nameless(&self.stem, at.begin, &mut self.nameless), &mut once),
        };
        for (place, value) in (0u64..).zip(messages) {
            let here = at.of_message(place);
            match value {
                Value::Object(object) => message(here, (&session, is_told), *index, object, self.now, sink)?,
                _ => sink.reject(here, "not a message: it is no JSON object")?,
            }
            *index += 1;
        }
        Ok(())
    }
}

fn message(
    here: Position,
    (session, is_told): (&str, bool),
    index: u64,
    mut object: Map<String, Value>,
    now: Timestamp,
    sink: &Sink,
) -> Result<(), Stopped> {
    if weight::of_map(&object) > HEAVIEST {
        return sink.reject(here, "the message is larger than any that is taken");
    }
    let own = object.get("id").and_then(Value::as_str).and_then(|id| id.parse::<MessageId>().ok());
    if own.is_some() {
        object.remove("id");
    }
    let told = TIMES.into_iter().find(|member| object.get(*member).is_some_and(|value| !value.is_null()));
    let said = TIMES.iter().find_map(|member| Some((*member, time::of_value(object.get(*member)?)?)));
    if let Some((member, _)) = said {
        object.remove(member);
    }
    if let (Some(member), None) = (told, said) {
        return sink.reject(here, format!("the member {member} is no time: write 2024-05-17T18:30:00Z"));
    }
    let metadata = match object.get("metadata") {
        Some(Value::Object(_)) => object.remove("metadata"),
        _ => None,
    };
    let content = Value::Object(object);
    let id = own.unwrap_or_else(|| message_id(session, index, &[&content.to_string()]));
    let at = said.map_or(now, |(_, at)| at);
    let mut message = match Message::from_chat(&content, Defaults { id, at }) {
        Ok(message) => message,
        Err(error) => return sink.reject(here, &error),
    };
    if let Some(Value::Object(metadata)) = metadata {
        message.metadata = metadata;
    }
    set_apart(&mut message);
    let of = Conversation::new(session, None);
    if is_empty(&message) {
        return sink.leave_out(of, LeftOut::Empty);
    }
    (0..unknown_pieces(&message.blocks)).try_for_each(|_| sink.leave_out(of, LeftOut::UnknownPiece))?;
    sink.message_of(here, (session, is_told), message, said.is_none())
}

/// Moves the members that no chat message has into the metadata, since a model's server may refuse a message with them. Nulls are left
/// out, and so is a member whose name the metadata has.
pub(super) fn set_apart(message: &mut Message) {
    let is_of_chat = |(name, _): &(String, Value)| OF_CHAT.contains(&name.as_str());
    let (of_chat, others): (Map<_, _>, Map<_, _>) =
        std::mem::take(&mut message.extra).into_iter().partition(is_of_chat);
    message.extra = of_chat;
    for (name, value) in others.into_iter().filter(|(_, value)| !value.is_null()) {
        message.metadata.entry(name).or_insert(value);
    }
}

/// Returns how many pieces of content are of an unknown kind, which are kept and neither found nor shown.
fn unknown_pieces(blocks: &[Block]) -> usize {
    let is_unknown = |piece: &Value| piece.get("type").is_none_or(|kind| !WORDLESS.iter().any(|known| kind == known));
    let count = |block: &Block| match block {
        Block::Other { slot: Slot::Content, value } => usize::from(is_unknown(value)),
        Block::ToolResult { content, .. } => unknown_pieces(content),
        _ => 0,
    };
    blocks.iter().map(count).sum()
}

/// Returns whether a message says nothing. A call of a function may stand beside its content, and a call may have an empty result.
fn is_empty(message: &Message) -> bool {
    let is_blank = |block: &Block| matches!(block, Block::Text { text, .. } if text.trim().is_empty());
    let is_nothing = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    !message.role.is_result() && message.blocks.iter().all(is_blank) && message.extra.values().all(is_nothing)
}

/// Returns the name of a conversation that has none: the line that it begins on, and its number if others of the line came before it.
fn nameless(stem: &str, line: u64, last: &mut (u64, u64)) -> String {
    *last = if last.0 == line { (line, last.1 + 1) } else { (line, 1) };
    with_number(&format!("{stem}/{line}"), last.1)
}

/// Returns a name with a number, unless that is the first one.
fn with_number(name: &str, number: u64) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}.{number}") }
}

fn take_text(object: &mut Map<String, Value>, member: &str) -> Option<String> {
    let text = object.get(member)?.as_str().filter(|text| !text.is_empty())?.to_owned();
    object.remove(member);
    Some(text)
}

/// Takes the name of a conversation: a text, or the whole number by which a database knows it. A table with a gap in the column writes 17
/// as `17.0`.
fn take_name(object: &mut Map<String, Value>, member: &str) -> Option<String> {
    let Value::Number(number) = object.get(member)? else { return take_text(object, member) };
    let whole = |float: &f64| float.fract() == 0.0 && float.abs() < EXACT;
    let name = if number.is_f64() { number.as_f64().filter(whole)?.to_string() } else { number.to_string() };
    object.remove(member);
    Some(name)
}
