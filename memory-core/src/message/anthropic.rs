//! Messages to and from the JSON of Anthropic's Messages API, without loss.
//!
//! A message holds its calls and results as blocks of its content: `tool_use` in an assistant's, `tool_result` in a user's.
//! They become [`Block::ToolCall`](super::Block::ToolCall) and [`Block::ToolResult`](super::Block::ToolResult), so that a
//! context keeps them together whichever dialect they came in. Blocks that are unknown are kept as they are.

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
pub(crate) use turns::conversation;

/// Returns a piece that was kept as it came, in an earlier version or by a caller, as the block that it is.
pub(super) fn typed(block: Block) -> Block {
    match block {
        Block::Other { slot: Slot::Content, value } => read::piece(value),
        other => other,
    }
}

impl Message {
    /// Returns the message that `value`, a message of Anthropic's API, stands for; [`Message::to_anthropic`] gives `value`
    /// back.
    ///
    /// A message with results has the trust of a tool at the most.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a value that is no object, or has another role than `user` and `assistant` or no content.
    pub fn from_anthropic(value: &Value, defaults: Defaults) -> Result<Self> {
        read::message(value, defaults)
    }

    /// Returns the message as one of Anthropic's API. Instructions become words of the user:
    /// [`crate::engine::Context::to_anthropic`] puts them where they belong.
    pub fn to_anthropic(&self) -> Value {
        write::message(self)
    }

    /// Reads chat JSON in whichever of the two dialects it is written: by [`Message::from_anthropic`] if a piece of its content
    /// is one of Anthropic's alone, else by [`Message::from_openai`].
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
