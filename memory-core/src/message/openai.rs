//! Messages to and from the chat JSON of OpenAI's API, without loss.
//!
//! What the library knows becomes blocks; every other member stays in `extra`, as do known members that say nothing
//! (`"refusal": null`, `"tool_calls": []`). The legacy `function_call` stays in `extra` too.

mod convert;
mod read;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use super::Message;
use crate::error::Result;
use crate::id::MessageId;
use crate::time::Timestamp;

pub(crate) use convert::conversation;

/// The members in which chat messages hold the model's reasoning, in the order of their blocks.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// The kinds of call: a function with `arguments`, and a custom tool with `input`. The kind names the member that holds
/// the tool's name and words.
const CALLS: [(&str, &str); 2] = [("function", "arguments"), ("custom", "input")];

/// The types of pieces that are media.
const MEDIA: [&str; 3] = ["image_url", "input_audio", "file"];

/// What chat JSON does not say.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// The message's id.
    pub id: MessageId,
    /// When it was said.
    pub at: Timestamp,
}

impl Message {
    /// Returns the message that the chat JSON `value` stands for; [`Message::to_openai`] gives `value` back.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a value that is no object, has no known role or a member of the wrong type.
    pub fn from_openai(value: &Value, defaults: Defaults) -> Result<Self> {
        read::message(value, defaults)
    }

    /// Returns the message as chat JSON: role, content, calls and unknown members, without what only this library knows.
    ///
    /// Chat JSON answers one call in one message: of several results the first gives its id, all give their content.
    pub fn to_openai(&self) -> Value {
        write::message(self)
    }
}
