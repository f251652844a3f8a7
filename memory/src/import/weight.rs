//! About how much memory what was read takes, so that lines, queues and batches are bounded by it and not by their text.

use memory_core::{Block, Message};
use serde_json::{Map, Value};

/// A value in a list, with the room that a growing list has left.
pub(super) const VALUE: usize = 2 * size_of::<Value>();
/// A text or a list, beside what it holds.
pub(super) const HEAP: usize = 32;
/// An object with one member: maps take room for eleven at once.
pub(super) const OBJECT: usize = 640;
/// A further member of an object.
pub(super) const MEMBER: usize = 112;

/// Returns about how many bytes a value takes.
pub(super) fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE,
        Value::String(text) => VALUE + HEAP + text.len(),
        Value::Array(items) => VALUE + HEAP + items.iter().map(of_value).sum::<usize>(),
        Value::Object(map) => VALUE + of_map(map),
    }
}

/// Returns about how many bytes the members of an object take.
pub(super) fn of_map(map: &Map<String, Value>) -> usize {
    let members = map.iter().map(|(key, value)| MEMBER + HEAP + key.len() + of_value(value));
    if map.is_empty() { 0 } else { OBJECT + members.sum::<usize>() }
}

/// Returns about how many bytes a message takes.
pub(super) fn of_message(message: &Message) -> usize {
    let names = message.speaker.iter().chain(&message.origin).chain(&message.agent).chain(&message.run);
    let names = names.map(String::len).sum::<usize>();
    let maps = of_map(&message.metadata) + of_map(&message.extra);
    size_of::<Message>()
        + names
        + maps
        + message.sources.len() * HEAP
        + of_blocks(&message.blocks)
        + of_blocks(&message.aside)
}

fn of_blocks(blocks: &[Block]) -> usize {
    let block = |block: &Block| match block {
        Block::Text { text, extra } | Block::Refusal { text, extra, .. } => text.len() + of_map(extra),
        Block::Reasoning { text, extra, .. } => text.len() + of_map(extra),
        Block::ToolCall { id, name, arguments, extra } => id.len() + name.len() + arguments.len() + of_map(extra),
        Block::ToolResult { id, content, extra, .. } => id.len() + of_blocks(content) + of_map(extra),
        Block::Media { value } | Block::Other { value, .. } => of_value(value),
        // A kind that came after this program counts as one small piece.
        _ => 0,
    };
    blocks.iter().map(|piece| size_of::<Block>() + HEAP + block(piece)).sum()
}
