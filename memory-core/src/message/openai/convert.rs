//! A conversation as OpenAI's API demands it, whatever the dialect of its messages: one message for each result.

use serde::Serialize;
use serde_json::{Value, json};

use super::write::{self, Plain};
use crate::message::{Block, Form, Message, Role, Slot, anthropic};

/// A message in OpenAI's chat JSON, to be serialized. One that is only a text, as most are, is serialized without a [`Value`] between.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Chat<'m> {
    /// A message that is only a text.
    Plain(Plain<'m>),
    /// Any other message.
    Other(Value),
}

impl From<Chat<'_>> for Value {
    fn from(message: Chat<'_>) -> Self {
        match message {
            Chat::Plain(plain) => plain.value(),
            Chat::Other(value) => value,
        }
    }
}

/// Returns the messages as OpenAI chat JSON. Those of this dialect are written as they were read; each of another becomes one or
/// more.
pub fn conversation<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<Value> {
    chat(messages).into_iter().map(Value::from).collect()
}

/// Returns the messages as [`conversation`] does, to be serialized.
pub fn chat<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<Chat<'m>> {
    let mut out = Vec::new();
    for message in messages {
        if let Some(plain) = write::plain(message) {
            out.push(Chat::Plain(plain));
        } else if is_native(message) {
            out.push(Chat::Other(message.to_openai()));
        } else {
            out.extend(split(message).iter().map(|part| Chat::Other(part.to_openai())));
        }
    }
    out
}

/// Returns whether one message of this dialect can hold it all.
fn is_native(message: &Message) -> bool {
    let results = message.results().count();
    let most = if message.role.is_result() { 1 } else { 0 };
    results <= most && !message.blocks.iter().any(is_foreign)
}

fn is_foreign(block: &Block) -> bool {
    let is_of = |value: &Value| value.get("type").and_then(Value::as_str).is_some_and(anthropic::is_own);
    match block {
        Block::ToolCall { extra, .. } => extra.get("type").is_some_and(|kind| kind == anthropic::CALL),
        // A text of the Responses API.
        Block::Text { extra, .. } => extra.contains_key("type"),
        Block::Reasoning { field, .. } => field == anthropic::THINKING,
        Block::ToolResult { content, .. } => content.iter().any(is_foreign),
        Block::Media { value } | Block::Other { slot: Slot::Content, value } => is_of(value),
        _ => false,
    }
}

/// Splits a message into one for each result, and one for the blocks in between.
fn split(message: &Message) -> Vec<Message> {
    let mut blocks: Vec<Block> = message.blocks.iter().cloned().map(anthropic::typed).collect();
    if message.role != Role::Assistant {
        // Results must stand right after their calls.
        blocks.sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
    }
    let role = if message.role.is_result() { Role::User } else { message.role };
    let mut out: Vec<Message> = Vec::new();
    for block in blocks {
        let (role, block) = match block {
            Block::ToolResult { id, content, .. } => {
                let mut content: Vec<Block> = content.into_iter().map(words).collect();
                if content.is_empty() {
                    content.push(Block::text(""));
                }
                (Role::Tool, Block::tool_result(id, content))
            }
            Block::Media { value } => (role, media(value)),
            Block::Text { text, extra } if extra.contains_key("type") => (role, Block::text(text)),
            // It is meaningless to another model.
            Block::Reasoning { field, .. } if field == anthropic::THINKING => continue,
            Block::Other { slot: Slot::Content, value } if is_foreign_piece(&value) => continue,
            other => (role, other),
        };
        match out.last_mut().filter(|last| role != Role::Tool && last.role == role) {
            Some(last) => last.blocks.push(block),
            None => {
                let speaker = message.speaker.clone().filter(|_| role != Role::Tool);
                let part = Message::of_blocks(role, vec![block], message.at);
                out.push(Message { speaker, form: Form::Plain, ..part });
            }
        }
    }
    out
}

fn is_foreign_piece(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str).is_some_and(anthropic::is_own)
}

/// Returns a block of a result as text, which may only name what was there: a result holds text only.
fn words(block: Block) -> Block {
    match anthropic::typed(block) {
        Block::Text { text, .. } | Block::Refusal { text, .. } => Block::text(text),
        Block::Media { value } | Block::Other { value, .. } => {
            let kind = value.get("type").and_then(Value::as_str).unwrap_or("piece");
            Block::text(format!("[{kind}]"))
        }
        other => Block::text(Message::of_blocks(Role::Tool, vec![other], crate::Timestamp(0)).text()),
    }
}

/// Returns media in the API's form, or a text that names media that the API does not accept.
fn media(value: Value) -> Block {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    if !anthropic::is_own(kind) {
        return Block::Media { value };
    }
    let member = |name: &str| value.get("source").and_then(|source| source.get(name)).and_then(Value::as_str);
    let data = || Some(format!("data:{};base64,{}", member("media_type")?, member("data")?));
    let found = match (kind, member("type")) {
        ("image", Some("base64")) => data().map(|url| json!({ "type": "image_url", "image_url": { "url": url } })),
        ("image", Some("url")) => member("url").map(|url| json!({ "type": "image_url", "image_url": { "url": url } })),
        ("document", Some("base64")) => {
            let name = value.get("title").and_then(Value::as_str).unwrap_or("document.pdf");
            data().map(|data| json!({ "type": "file", "file": { "filename": name, "file_data": data } }))
        }
        ("document", Some("text")) => return Block::text(member("data").unwrap_or_default()),
        _ => None,
    };
    found.map_or_else(|| Block::text(format!("[{kind}]")), |value| Block::Media { value })
}
