//! A message of a chat that is told as JSON: with several lines, with calls and their results.

use memory::message::Defaults;
use memory::{Message, MessageId, Timestamp};
use serde_json::Value;

use crate::failure::Failure;

/// Reads a message of chat JSON, of either dialect. `id` (a UUID) and `at` are its own if it has them.
pub(super) fn read(line: &str, now: Timestamp) -> Result<Message, Failure> {
    let unread = |error| Failure::Usage(format!("the line begins like JSON, but is none: {error}"));
    let mut value: Value = serde_json::from_str(line).map_err(unread)?;
    let mut own = Defaults { id: MessageId::fresh(), at: now };
    if let Some(members) = value.as_object_mut() {
        if let Some(id) = members.get("id").and_then(Value::as_str) {
            own.id = id.parse()?;
            members.remove("id");
        }
        if let Some(at) = members.get("at").and_then(Value::as_str) {
            own.at = at.parse()?;
            members.remove("at");
        }
    }
    let message = Message::from_chat(&value, own)?;
    if message.blocks.is_empty() {
        return Err(Failure::Usage("there is nothing to store".to_owned()));
    }
    Ok(message)
}
