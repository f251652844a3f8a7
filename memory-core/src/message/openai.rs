//! Messages to and from the chat JSON of OpenAI's API, without loss.
//!
//! Known members become blocks. All others stay in `extra`, as do known members that are empty (`"refusal": null`,
//! `"tool_calls": []`) and the legacy `function_call`.

mod convert;
mod names;
mod read;
#[cfg(test)]
mod tests;
mod write;

use serde_json::Value;

use super::{Defaults, Message};
use crate::error::Result;

pub use convert::{Chat, chat, conversation};

impl Message {
    /// Reads a message from the chat JSON `value`. [`Message::to_openai`] gives `value` back.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a value that is not an object, has no known role, or has a member of the wrong type.
    pub fn from_openai(value: &Value, defaults: Defaults) -> Result<Self> {
        read::message(value, defaults)
    }

    /// Returns the message as chat JSON: role, content, calls and unknown members, without the members of this library.
    ///
    /// A message of chat JSON answers one call. If there are several results, the first gives the id, and all give their content.
    pub fn to_openai(&self) -> Value {
        write::message(self)
    }
}
