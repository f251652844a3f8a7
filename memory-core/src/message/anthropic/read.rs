//! Reading messages of Anthropic's API.

use serde_json::{Map, Value};

use super::names::{CALL, MEDIA, RESULT, THINKING};
use crate::error::{Error, Result};
use crate::message::{Block, Defaults, Form, Message, Role, Slot, Trust};

pub(super) fn message(value: &Value, defaults: Defaults) -> Result<Message> {
    let mut members = value.as_object().ok_or_else(|| Error::invalid("a chat message must be an object"))?.clone();
    let role = match members.remove("role").as_ref().and_then(Value::as_str) {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Err(Error::invalid("a message of this dialect needs the role user or assistant")),
    };
    let (form, blocks) = match members.remove("content") {
        Some(Value::String(text)) => (Form::Plain, vec![Block::text(text)]),
        Some(Value::Array(pieces)) => (Form::Parts, pieces.into_iter().map(piece).collect()),
        _ => return Err(Error::invalid("the content of a message must be a text or a list")),
    };
    let has_results = blocks.iter().any(|block| matches!(block, Block::ToolResult { .. }));
    let message = Message::of_blocks(role, blocks, defaults.at).with_id(defaults.id);
    let trust = if has_results { message.trust.min(Trust::Tool) } else { message.trust };
    Ok(Message { form, trust, extra: members, ..message })
}

/// Reads a block of content. One that is not as the API writes it is kept as received.
pub(super) fn piece(value: Value) -> Block {
    let Value::Object(members) = &value else { return Block::Other { slot: Slot::Content, value } };
    let block = match members.get("type").and_then(Value::as_str) {
        Some("text") => text(members),
        Some(CALL) => call(members),
        Some(RESULT) => result(members),
        Some(THINKING) => thinking(members),
        Some(kind) if MEDIA.contains(&kind) => Some(Block::Media { value: value.clone() }),
        _ => None,
    };
    block.unwrap_or(Block::Other { slot: Slot::Content, value })
}

fn text(members: &Map<String, Value>) -> Option<Block> {
    let text = members.get("text")?.as_str()?.to_owned();
    Some(Block::Text { text, extra: without(members, &["type", "text"]) })
}

fn call(members: &Map<String, Value>) -> Option<Block> {
    let (id, name) = (members.get("id")?.as_str()?, members.get("name")?.as_str()?);
    let arguments = members.get("input").filter(|input| input.is_object())?.to_string();
    // Its type stays with it, and tells the dialect.
    let extra = without(members, &["id", "name", "input"]);
    Some(Block::ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, extra })
}

fn result(members: &Map<String, Value>) -> Option<Block> {
    let id = members.get("tool_use_id")?.as_str()?.to_owned();
    let (form, content) = match members.get("content") {
        None => (Form::Plain, Vec::new()),
        Some(Value::Null) => (Form::Null, Vec::new()),
        Some(Value::String(text)) => (Form::Plain, vec![Block::text(text)]),
        Some(Value::Array(pieces)) => (Form::Parts, pieces.iter().cloned().map(piece).collect()),
        Some(_) => return None,
    };
    Some(Block::ToolResult { id, content, form, extra: without(members, &["type", "tool_use_id", "content"]) })
}

fn thinking(members: &Map<String, Value>) -> Option<Block> {
    let text = members.get(THINKING)?.as_str()?.to_owned();
    Some(Block::Reasoning { text, field: THINKING.to_owned(), extra: without(members, &["type", THINKING]) })
}

fn without(members: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let unknown = members.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}
