//! Writing messages of Anthropic's API.

use serde_json::{Map, Value, json};

use super::names::{CALL, MEDIA, RESULT, THINKING};
use crate::message::{Block, Form, Message, Role, Slot};

pub(super) fn message(message: &Message) -> Value {
    let mut members = message.extra.clone();
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    members.insert("role".to_owned(), role.into());
    members.insert("content".to_owned(), content(&message.blocks, message.form).unwrap_or_else(|| json!([])));
    Value::Object(members)
}

/// Returns the content in its form; none if there is none.
fn content(blocks: &[Block], form: Form) -> Option<Value> {
    match (form, blocks) {
        (Form::Plain, []) => None,
        (Form::Null, []) => Some(Value::Null),
        (Form::Plain | Form::Null, [Block::Text { text, extra }]) if extra.is_empty() => Some(text.as_str().into()),
        _ => Some(blocks.iter().filter_map(piece).collect()),
    }
}

/// Returns a block of content as JSON; none for another provider's reasoning, which is meaningless here.
pub(super) fn piece(block: &Block) -> Option<Value> {
    let value = match block {
        Block::Text { text, extra } => with(extra, "text", "text", text),
        Block::Refusal { text, .. } => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, field, extra } if field == THINKING => with(extra, THINKING, THINKING, text),
        Block::Reasoning { .. } => return None,
        Block::ToolCall { id, name, arguments, extra } => call(id, name, arguments, extra),
        Block::ToolResult { id, content: blocks, form, extra } => result(id, content(blocks, *form), extra),
        Block::Media { value } => media(value),
        Block::Other { slot: Slot::ToolCalls, value } => unknown_call(value),
        Block::Other { slot: Slot::Content, value } => value.clone(),
    };
    Some(value)
}

fn with(extra: &Map<String, Value>, kind: &str, member: &str, text: &str) -> Value {
    let mut members = extra.clone();
    members.insert("type".to_owned(), kind.into());
    members.insert(member.to_owned(), text.into());
    Value::Object(members)
}

fn call(id: &str, name: &str, arguments: &str, extra: &Map<String, Value>) -> Value {
    let is_own = extra.get("type").is_some_and(|kind| kind == CALL);
    // Other members of another dialect's call are meaningless here.
    let mut members = if is_own { extra.clone() } else { Map::new() };
    members.insert("type".to_owned(), CALL.into());
    members.insert("id".to_owned(), id.into());
    members.insert("name".to_owned(), name.into());
    members.insert("input".to_owned(), input(arguments));
    Value::Object(members)
}

/// Returns the arguments as the object that the API demands.
fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ if arguments.trim().is_empty() => json!({}),
        _ => json!({ "input": arguments }),
    }
}

fn unknown_call(value: &Value) -> Value {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("function");
    let inner = value.get(kind).unwrap_or(value);
    let name = inner.get("name").and_then(Value::as_str).unwrap_or(kind);
    let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
    let arguments = match inner.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
        None => inner.to_string(),
    };
    call(id, name, &arguments, &Map::new())
}

pub(super) fn result(id: &str, content: Option<Value>, extra: &Map<String, Value>) -> Value {
    let mut members = extra.clone();
    members.insert("type".to_owned(), RESULT.into());
    members.insert("tool_use_id".to_owned(), id.into());
    if let Some(content) = content {
        members.insert("content".to_owned(), content);
    }
    Value::Object(members)
}

/// Returns media in the API's form, or a text that names media that the API does not accept.
fn media(value: &Value) -> Value {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    if MEDIA.contains(&kind) {
        return value.clone();
    }
    let inside =
        |members: &[&str]| members.iter().try_fold(value, |value, member| value.get(*member)).and_then(Value::as_str);
    let found = match kind {
        "image_url" => inside(&["image_url", "url"]).and_then(|url| source("image", url)),
        "file" => inside(&["file", "file_data"]).and_then(|data| source("document", data)),
        _ => None,
    };
    found.unwrap_or_else(|| json!({ "type": "text", "text": format!("[{kind}]") }))
}

fn source(kind: &str, url: &str) -> Option<Value> {
    if let Some((media, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        return Some(json!({ "type": kind, "source": { "type": "base64", "media_type": media, "data": data } }));
    }
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    is_address.then(|| json!({ "type": kind, "source": { "type": "url", "url": url } }))
}
