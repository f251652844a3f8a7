//! Messages to and from the chat JSON of OpenAI's API, without loss.
//!
//! What the library knows becomes blocks; every other member stays in `extra`, as do known members that say nothing
//! (`"refusal": null`, `"tool_calls": []`). The legacy `function_call` stays in `extra` too.

mod convert;
mod names;
mod read;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use super::{Defaults, Message};
use crate::error::Result;

pub(crate) use convert::conversation;

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
