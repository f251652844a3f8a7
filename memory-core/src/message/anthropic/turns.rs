//! A conversation as Anthropic's API demands it: instructions apart, alternating roles, and the results of calls first in the
//! user's message right after them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{typed, write};
use crate::id::Digest;
use crate::message::{Block, Message, Role, Slot};

/// Returns the members `messages` and, if there are instructions, `system` of a request to Anthropic's API.
///
/// Call ids that the API does not accept, or that occur twice, are replaced, also in their results. Blank texts are left out,
/// because the API refuses them.
pub fn conversation<'a>(messages: impl Iterator<Item = &'a Message>) -> Value {
    let mut talk = Turns::default();
    messages.for_each(|message| talk.push(message));
    talk.end();
    let turns = talk.turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content }));
    let mut request = json!({ "messages": turns.collect::<Vec<_>>() });
    if !talk.system.is_empty() {
        set(&mut request, "system", talk.system.into());
    }
    request
}

#[derive(Default)]
struct Turns {
    system: Vec<Value>,
    turns: Vec<(&'static str, Vec<Value>)>,
    /// The calls that wait for results: their original ids and their ids here.
    open: Vec<(Option<String>, String)>,
    used: HashSet<String>,
}

impl Turns {
    fn push(&mut self, message: &Message) {
        if message.role.is_instruction() {
            self.system.extend(message.blocks.iter().filter_map(write::piece).filter(is_said));
            return;
        }
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let (before, results) = (self.turns.len(), message.results().next().is_some());
        if message.role.is_result() && !results {
            let answer = Block::tool_result("", message.blocks.clone());
            self.answer(None, &answer);
            return;
        }
        let mut blocks: Vec<Block> = message.blocks.iter().cloned().map(typed).collect();
        if role == "user" {
            // The API accepts results only at the beginning.
            blocks.sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
            name_speaker(message, &mut blocks);
        }
        for block in &blocks {
            match block {
                Block::ToolResult { id, .. } => self.answer(Some(id), block),
                Block::ToolCall { id, .. } => self.call(Some(id.clone()), block),
                Block::Other { slot: Slot::ToolCalls, value } => {
                    self.call(value.get("id").and_then(Value::as_str).map(str::to_owned), block);
                }
                _ => write::piece(block).filter(is_said).into_iter().for_each(|piece| self.put(role, piece)),
            }
        }
        if let Some(value) = message.legacy_call() {
            self.call(None, &Block::Other { slot: Slot::ToolCalls, value: value.clone() });
        }
        // An empty message still takes a turn.
        if role == "user" && self.turns.len() == before && self.turns.last().is_none_or(|(last, _)| *last != "user") {
            self.put(role, json!({ "type": "text", "text": "(no words)" }));
        }
    }

    fn put(&mut self, role: &'static str, piece: Value) {
        match self.turns.last_mut() {
            Some((last, content)) if *last == role => content.push(piece),
            _ => self.turns.push((role, vec![piece])),
        }
    }

    fn call(&mut self, id: Option<String>, block: &Block) {
        let Some(mut piece) = write::piece(block) else { return };
        let mut own = id.clone().filter(|id| is_taken(id)).unwrap_or_else(|| short(&piece.to_string()));
        while !self.used.insert(own.clone()) {
            own = short(&format!("{own} {}", self.used.len()));
        }
        set(&mut piece, "id", own.as_str().into());
        self.open.push((id, own));
        self.put("assistant", piece);
    }

    /// Adds the result of the call `id`, or of the first open call if `id` is none.
    fn answer(&mut self, id: Option<&str>, block: &Block) {
        let is_asked = |(asked, _): &(Option<String>, String)| id.is_none() || asked.as_deref() == id;
        let Some(place) = self.open.iter().position(is_asked) else {
            let text = Message::of_blocks(Role::Tool, vec![block.clone()], crate::Timestamp(0)).text();
            return self.put("user", json!({ "type": "text", "text": format!("[result] {text}") }));
        };
        let (_, own) = self.open.remove(place);
        let Some(mut piece) = write::piece(block) else { return };
        set(&mut piece, "tool_use_id", own.into());
        if let Some(Value::Array(content)) = piece.get_mut("content") {
            content.retain(is_said);
        }
        self.put("user", piece);
    }

    /// Ends the conversation: trims the assistant's last message, because the API refuses blanks at its end.
    fn end(&mut self) {
        let Some(("assistant", content)) = self.turns.last_mut() else { return };
        let Some(Value::String(text)) = content.last_mut().and_then(|piece| piece.get_mut("text")) else { return };
        text.truncate(text.trim_end().len());
    }
}

fn set(object: &mut Value, member: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(member.to_owned(), value);
    }
}

/// Writes the speaker's name into the text, because the API has no names.
fn name_speaker(message: &Message, blocks: &mut [Block]) {
    let Some(speaker) = &message.speaker else { return };
    let text = blocks.iter_mut().find_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    });
    if let Some(text) = text {
        *text = format!("{speaker}: {text}");
    }
}

/// Returns whether a block is anything but blank text.
fn is_said(piece: &Value) -> bool {
    let is_text = piece.get("type").is_some_and(|kind| kind == "text");
    !is_text || piece.get("text").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

/// Returns whether the API accepts the id: letters, digits, `_` and `-`.
fn is_taken(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Returns an id derived from `text`.
fn short(text: &str) -> String {
    let digest = Digest::of(&[text.as_bytes()]);
    digest.0.iter().take(8).fold("toolu_".to_owned(), |id, byte| format!("{id}{byte:02x}"))
}
