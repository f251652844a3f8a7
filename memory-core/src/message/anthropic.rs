//! Messages to and from the JSON of Anthropic's Messages API, without loss.
//!
//! A message holds its calls and results as blocks of its content: `tool_use` in an assistant's, `tool_result` in a user's.
//! They become [`Block::ToolCall`](super::Block::ToolCall) and [`Block::ToolResult`](super::Block::ToolResult), so that a
//! context keeps them together, whatever their dialect. Unknown blocks are kept as received.

mod names;
mod read;
#[cfg(test)]
mod tests;
mod turns;
mod write;

use serde_json::Value;

use super::{Block, Defaults, Message, Slot};
use crate::error::Result;

pub(super) use names::{CALL, THINKING, is_own};
pub use turns::conversation;

/// Converts a block of this dialect that an earlier version, or a caller, left unparsed.
pub(super) fn typed(block: Block) -> Block {
    match block {
        Block::Other { slot: Slot::Content, value } => read::piece(value),
        other => other,
    }
}

impl Message {
    /// Reads a message of Anthropic's API from `value`. [`Message::to_anthropic`] gives `value` back.
    ///
    /// A message with results has at most the trust of a tool.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a value that is not an object, has another role than `user` and `assistant`, or has no
    /// content.
    pub fn from_anthropic(value: &Value, defaults: Defaults) -> Result<Self> {
        read::message(value, defaults)
    }

    /// Returns the message as one of Anthropic's API. An instruction becomes text of the user; only
    /// [`crate::engine::Context::to_anthropic`] can put it into `system`.
    pub fn to_anthropic(&self) -> Value {
        write::message(self)
    }

    /// Reads chat JSON of either dialect: by [`Message::from_anthropic`] if its content has a block that only Anthropic's dialect
    /// has, else by [`Message::from_openai`].
    ///
    /// # Errors
    /// Those of the dialect.
    pub fn from_chat(value: &Value, defaults: Defaults) -> Result<Self> {
        let role = value.get("role").and_then(Value::as_str);
        let pieces = value.get("content").and_then(Value::as_array);
        let is_own = |piece: &Value| piece.get("type").and_then(Value::as_str).is_some_and(is_own);
        let is_anthropic =
            matches!(role, Some("user" | "assistant")) && pieces.is_some_and(|list| list.iter().any(is_own));
        if is_anthropic { Self::from_anthropic(value, defaults) } else { Self::from_openai(value, defaults) }
    }
}
