//! Reading chat JSON.

use serde_json::{Map, Value};

use super::names::{CALLS, MEDIA, REASONING};
use crate::error::{Error, Result};
use crate::message::{Block, Defaults, Form, Message, Role, Slot};

/// The types of text in content: those of chat JSON, and those of the Responses API, which a block keeps.
const TEXTS: [&str; 3] = ["text", "input_text", "output_text"];

pub(super) fn message(value: &Value, defaults: Defaults) -> Result<Message> {
    let mut members = value.as_object().ok_or_else(|| Error::invalid("a chat message must be an object"))?.clone();
    let role = take_text(&mut members, "role")?.ok_or_else(|| Error::invalid("a chat message needs a role"))?;
    let role = Role::from_name(&role).ok_or_else(|| Error::invalid("a chat message has an unknown role"))?;
    let mut blocks = reasoning(&mut members);
    let (form, content) = content(members.remove("content"))?;
    let call = if role == Role::Tool { take_text(&mut members, "tool_call_id")? } else { None };
    match call {
        Some(id) => blocks.push(Block::tool_result(id, content)),
        None => blocks.extend(content),
    }
    if let Some(text) = take_text(&mut members, "refusal")? {
        blocks.push(Block::Refusal { text, is_piece: false, extra: Map::new() });
    }
    if role == Role::Assistant {
        blocks.extend(calls(&mut members)?);
    }
    let speaker = take_text(&mut members, "name")?;
    let message = Message::of_blocks(role, blocks, defaults.at).with_id(defaults.id);
    Ok(Message { speaker, form, extra: members, ..message })
}

/// Takes out the text `name`; `null` stays.
fn take_text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>> {
    match members.get_mut(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => {
            let text = std::mem::take(text);
            members.remove(name);
            Ok(Some(text))
        }
        Some(_) => Err(Error::invalid(format!("the member {name} of a chat message must be a text"))),
    }
}

/// Takes out the reasoning. Reasoning that is not text is of an unknown dialect, and stays.
fn reasoning(members: &mut Map<String, Value>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for name in REASONING {
        if let Some(Value::String(text)) = members.get_mut(name) {
            let (text, field) = (std::mem::take(text), name.to_owned());
            blocks.push(Block::Reasoning { text, field, extra: Map::new() });
            members.remove(name);
        }
    }
    blocks
}

fn content(value: Option<Value>) -> Result<(Form, Vec<Block>)> {
    match value {
        None => Ok((Form::Plain, Vec::new())),
        Some(Value::Null) => Ok((Form::Null, Vec::new())),
        Some(Value::String(text)) => Ok((Form::Plain, vec![Block::text(text)])),
        Some(Value::Array(pieces)) => {
            let blocks: Result<Vec<_>> = pieces.into_iter().map(piece).collect();
            Ok((Form::Parts, blocks?))
        }
        Some(_) => Err(Error::invalid("the content of a chat message must be a text, a list or null")),
    }
}

fn piece(value: Value) -> Result<Block> {
    let Value::Object(mut members) = value else {
        return Err(Error::invalid("a piece of content must be an object"));
    };
    let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
    let Some(kind) = TEXTS.into_iter().chain(["refusal"]).find(|known| *known == kind) else {
        let is_media = MEDIA.contains(&kind);
        let value = Value::Object(members);
        return Ok(if is_media { Block::Media { value } } else { Block::Other { slot: Slot::Content, value } });
    };
    let is_refusal = kind == "refusal";
    let member = if is_refusal { kind } else { "text" };
    let Some(Value::String(text)) = members.remove(member) else {
        return Err(Error::invalid(format!("a piece of the type {kind} needs the text {member}")));
    };
    if is_refusal || kind == "text" {
        members.remove("type");
    }
    Ok(if is_refusal {
        Block::Refusal { text, is_piece: true, extra: members }
    } else {
        Block::Text { text, extra: members }
    })
}

/// Takes out the calls. An empty list and `null` stay, because no block would stand for them.
fn calls(members: &mut Map<String, Value>) -> Result<Vec<Block>> {
    let list = match members.get("tool_calls") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.is_empty() => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().map(call).collect(),
        Some(_) => Err(Error::invalid("the member tool_calls of a chat message must be a list")),
    };
    members.remove("tool_calls");
    list
}

/// Reads a call. One of an unknown kind, or without an id, a name or an input, is kept as received.
fn call(value: &Value) -> Result<Block> {
    let members = value.as_object().ok_or_else(|| Error::invalid("a tool call must be an object"))?;
    let other = || Ok(Block::Other { slot: Slot::ToolCalls, value: value.clone() });
    let kind = match members.get("type") {
        None => "function",
        Some(kind) => kind.as_str().unwrap_or_default(),
    };
    let Some((kind, words)) = CALLS.into_iter().find(|(known, _)| *known == kind) else { return other() };
    let inner = match members.get(kind) {
        None => return other(),
        Some(inner) => inner.as_object().ok_or_else(|| wrong(kind, "an object"))?,
    };
    let (Some(id), Some(name), Some(arguments)) = (members.get("id"), inner.get("name"), inner.get(words)) else {
        return other();
    };
    if arguments.is_object() {
        return other();
    }
    let id = id.as_str().ok_or_else(|| wrong("id", "a text"))?;
    let name = name.as_str().ok_or_else(|| wrong("name", "a text"))?;
    let arguments = arguments.as_str().ok_or_else(|| wrong(words, "a text"))?;
    Ok(Block::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        extra: call_extra(members, inner, kind, words),
    })
}

fn wrong(member: &str, kind: &str) -> Error {
    Error::invalid(format!("the member {member} of a tool call must be {kind}"))
}

/// Returns the other members of a call, besides id, name and input: unknown ones, those of the inner object under its own name,
/// and the type if it is not the usual one.
fn call_extra(members: &Map<String, Value>, inner: &Map<String, Value>, kind: &str, words: &str) -> Map<String, Value> {
    let except = |map: &Map<String, Value>, known: &[&str]| -> Map<String, Value> {
        let unknown = map.iter().filter(|(key, _)| !known.contains(&key.as_str()));
        unknown.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let mut extra = except(members, &["id", "type", kind]);
    let inner = except(inner, &["name", words]);
    if !inner.is_empty() {
        extra.insert(kind.to_owned(), Value::Object(inner));
    }
    match members.get("type") {
        None => _ = extra.insert("type".to_owned(), Value::Null),
        Some(Value::String(kind)) if kind == "function" => {}
        Some(kind) => _ = extra.insert("type".to_owned(), kind.clone()),
    }
    extra
}
