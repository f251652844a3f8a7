//! The export of ChatGPT, `conversations.json`: each conversation is a tree of messages, of which the branch that ends
//! at `current_node` is what the person sees.

use std::collections::HashSet;

use memory::{Block, Message, MessageId, Role, Timestamp};
use serde_json::{Map, Value};

use super::item::{Item, Sink, Stopped, message_id};
use super::time;

/// Reads one conversation.
pub(super) fn read(line: u64, value: &Value, now: Timestamp, sink: &Sink) -> Result<(), Stopped> {
    let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
        return sink.reject(line, "not a conversation of ChatGPT: it has no mapping");
    };
    let member = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(session) = member("conversation_id").or(member("id")).or(member("title")) else {
        return sink.reject(line, "the conversation has neither an id nor a title");
    };
    let started = value.get("create_time").and_then(time::of_value);
    let mut last = started.unwrap_or(now);
    // The call that a tool's message answers: the last message that was addressed to a tool.
    let mut call = None;
    for (index, node) in (0u64..).zip(branch(mapping, member("current_node"))) {
        let Some(shown) = node.get("message").filter(|message| message.is_object() && is_shown(message)) else {
            continue;
        };
        let said = shown.get("create_time").and_then(time::of_value);
        last = said.unwrap_or(last);
        let Some(role) = shown.pointer("/author/role").and_then(Value::as_str).and_then(Role::from_name) else {
            sink.reject(line, format!("node {} has no role that is known", index + 1))?;
            continue;
        };
        let Some(mut message) = convert(session, index, role, shown, last, &mut call) else { continue };
        if let Some(title) = member("title") {
            message = message.with_metadata("title", title);
        }
        let time_is_inferred = said.or(started).is_none();
        sink.put(Item::Message { line, session: session.to_owned(), message: Box::new(message), time_is_inferred })?;
    }
    Ok(())
}

/// Returns the nodes from the root to `current`, or to the newest leaf if there is none.
fn branch<'a>(mapping: &'a Map<String, Value>, current: Option<&'a str>) -> Vec<&'a Value> {
    let mut at = current.filter(|id| mapping.contains_key(*id)).or_else(|| newest_leaf(mapping));
    let mut seen = HashSet::new();
    let mut nodes = Vec::new();
    while let Some(id) = at.filter(|id| seen.insert(*id)) {
        let Some(node) = mapping.get(id) else { break };
        nodes.push(node);
        at = node.get("parent").and_then(Value::as_str);
    }
    nodes.reverse();
    nodes
}

fn newest_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let is_leaf = |node: &Value| node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let at = |node: &Value| node.pointer("/message/create_time").and_then(time::of_value);
    let leaves = mapping.iter().filter(|(_, node)| is_leaf(node));
    leaves.max_by_key(|(id, node)| (at(node), id.as_str())).map(|(id, _)| id.as_str())
}

fn is_shown(message: &Value) -> bool {
    let hidden = message.pointer("/metadata/is_visually_hidden_from_conversation").and_then(Value::as_bool);
    hidden != Some(true)
}

/// Returns the message, none if it is empty.
fn convert(
    session: &str,
    index: u64,
    role: Role,
    value: &Value,
    at: Timestamp,
    call: &mut Option<String>,
) -> Option<Message> {
    let content = value.get("content").unwrap_or(&Value::Null);
    let (text, assets) = words(content);
    if text.is_empty() {
        return None;
    }
    let member = |path: &str| value.pointer(path).and_then(Value::as_str);
    let own = member("/id").and_then(|id| id.parse::<MessageId>().ok());
    let id = own.unwrap_or_else(|| message_id(session, index, &[role.name(), &content.to_string()]));
    let tool = member("/recipient").filter(|name| role == Role::Assistant && *name != "all");
    let block = match (tool, call.as_ref().filter(|_| role.is_result())) {
        (Some(name), _) => {
            *call = Some(id.to_string());
            Block::ToolCall { id: id.to_string(), name: name.to_owned(), arguments: text, extra: Map::new() }
        }
        (None, Some(answered)) => Block::ToolResult { id: answered.clone(), content: vec![Block::text(text)] },
        (None, None) => Block::text(text),
    };
    if !role.is_result() && tool.is_none() {
        *call = None;
    }
    let mut message = Message::of_blocks(role, vec![block], at).with_id(id);
    message.origin = Some("import:chatgpt".to_owned());
    message.speaker = member("/author/name").map(str::to_owned);
    if !assets.is_empty() {
        message = message.with_metadata("assets", Value::Array(assets));
    }
    Some(message)
}

/// Returns the words of a content, and its images and files, which stand in the words as `[image]` or `[file]`.
fn words(content: &Value) -> (String, Vec<Value>) {
    let mut lines: Vec<&str> = content.get("text").and_then(Value::as_str).into_iter().collect();
    let mut assets = Vec::new();
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        match part {
            Value::String(text) => lines.push(text),
            // Sound comes with its transcript.
            Value::Object(asset) => {
                let kind = asset.get("content_type").and_then(Value::as_str).unwrap_or_default();
                let image = if kind.starts_with("image") { "[image]" } else { "[file]" };
                lines.push(asset.get("text").and_then(Value::as_str).unwrap_or(image));
                assets.push(part.clone());
            }
            _ => {}
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    (lines.join("\n"), assets)
}
