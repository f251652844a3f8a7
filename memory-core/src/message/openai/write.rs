//! Writing chat JSON.

use serde::Serialize;
use serde_json::{Map, Value};

use super::names::{CALLS, REASONING};
use crate::message::{Block, Form, Message, Slot, anthropic};

/// The members of a message that is only a text.
#[derive(Debug, Serialize)]
pub struct Plain<'m> {
    role: &'m str,
    content: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'m str>,
}

impl Plain<'_> {
    pub(super) fn value(&self) -> Value {
        let members = [("role", Some(self.role)), ("content", Some(self.content)), ("name", self.name)];
        members.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?)))).collect()
    }
}

/// Returns the members of a message that is only a text; none for any other.
pub(super) fn plain(message: &Message) -> Option<Plain<'_>> {
    let content = match message.blocks.as_slice() {
        [Block::Text { text, extra }] if extra.is_empty() && message.extra.is_empty() => text,
        _ => return None,
    };
    let is_text = matches!(message.form, Form::Plain | Form::Null);
    let (role, name) = (message.role.name(), message.speaker.as_deref());
    is_text.then_some(Plain { role, content, name })
}

/// The members of a chat message, made from the blocks of a message.
#[derive(Default)]
struct Parts<'a> {
    content: Vec<&'a Block>,
    calls: Vec<Value>,
    refusal: Option<String>,
    reasoning: [Option<String>; 2],
    answers: Option<&'a str>,
}

pub(super) fn message(message: &Message) -> Value {
    let mut parts = Parts::default();
    parts.collect(&message.blocks, false);
    let mut members = message.extra.clone();
    let mut put = |name: &str, value: Value| _ = members.insert(name.to_owned(), value);
    put("role", message.role.name().into());
    if let Some(content) = content(&parts.content, message.form) {
        put("content", content);
    }
    if !parts.calls.is_empty() {
        put("tool_calls", parts.calls.into());
    }
    if let Some(id) = parts.answers {
        put("tool_call_id", id.into());
    }
    if let Some(speaker) = &message.speaker {
        put("name", speaker.as_str().into());
    }
    if let Some(refusal) = parts.refusal {
        put("refusal", refusal.into());
    }
    for (name, text) in REASONING.into_iter().zip(parts.reasoning) {
        if let Some(text) = text {
            put(name, text.into());
        }
    }
    Value::Object(members)
}

impl<'a> Parts<'a> {
    fn collect(&mut self, blocks: &'a [Block], in_result: bool) {
        for block in blocks {
            match block {
                Block::Refusal { text, is_piece: false, .. } if !in_result => append(&mut self.refusal, text),
                // Another provider's reasoning is meaningless here.
                Block::Reasoning { field, .. } if field == anthropic::THINKING => {}
                Block::Reasoning { text, field, .. } => {
                    let [content, plain] = &mut self.reasoning;
                    append(if field == "reasoning" { plain } else { content }, text);
                }
                Block::ToolCall { id, name, arguments, extra } => self.calls.push(call(id, name, arguments, extra)),
                Block::Other { slot: Slot::ToolCalls, value } => self.calls.push(value.clone()),
                Block::ToolResult { id, content, .. } => {
                    self.answers.get_or_insert(id);
                    self.collect(content, true);
                }
                Block::Text { .. } | Block::Refusal { .. } | Block::Media { .. } | Block::Other { .. } => {
                    self.content.push(block);
                }
            }
        }
    }
}

/// Appends a text of a member on a line of its own. Only messages made by hand have several.
fn append(member: &mut Option<String>, text: &str) {
    match member {
        Some(before) => {
            before.push('\n');
            before.push_str(text);
        }
        None => *member = Some(text.to_owned()),
    }
}

fn content(blocks: &[&Block], form: Form) -> Option<Value> {
    match (form, blocks) {
        (Form::Plain, []) => None,
        (Form::Null, []) => Some(Value::Null),
        (Form::Plain | Form::Null, [Block::Text { text, extra }]) if extra.is_empty() => Some(text.as_str().into()),
        _ => Some(blocks.iter().map(|block| piece(block)).collect()),
    }
}

fn piece(block: &Block) -> Value {
    let (kind, text, extra) = match block {
        Block::Text { text, extra } => ("text", text, extra),
        Block::Refusal { text, extra, .. } => ("refusal", text, extra),
        Block::Media { value } | Block::Other { value, .. } => return value.clone(),
        // `collect` handles these.
        Block::Reasoning { .. } | Block::ToolCall { .. } | Block::ToolResult { .. } => return Value::Null,
    };
    let mut members = extra.clone();
    // A text of the Responses API keeps its own type.
    members.entry("type").or_insert_with(|| kind.into());
    members.insert(kind.to_owned(), text.as_str().into());
    Value::Object(members)
}

fn call(id: &str, name: &str, arguments: &str, extra: &Map<String, Value>) -> Value {
    let is_foreign = extra.get("type").is_some_and(|kind| kind == anthropic::CALL);
    let mut members = if is_foreign { Map::new() } else { extra.clone() };
    let (kind, words) = match members.remove("type") {
        Some(Value::String(kind)) if kind == "custom" => CALLS[1],
        _ => CALLS[0],
    };
    if extra.get("type") != Some(&Value::Null) {
        members.insert("type".to_owned(), kind.into());
    }
    let mut inner = match members.remove(kind) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    inner.insert("name".to_owned(), name.into());
    inner.insert(words.to_owned(), arguments.into());
    members.insert("id".to_owned(), id.into());
    members.insert(kind.to_owned(), Value::Object(inner));
    Value::Object(members)
}
