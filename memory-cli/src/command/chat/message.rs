//! A message of a chat that is told as JSON: with several lines, with calls and their results.

use memory::message::Defaults;
use memory::{Message, MessageId, Timestamp};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Reads a message of chat JSON, of either dialect. `id` (a UUID) and `at` are its own if it has them.
pub(super) fn read(line: &str, now: Timestamp) -> Result<Message, Failure> {
    let unread = |error| Failure::Usage(format!("the line begins like JSON, but is none: {error}"));
    let mut value: Value = serde_json::from_str(line).map_err(unread)?;
    let mut own = Defaults { id: MessageId::fresh(), at: now };
    if let Some(members) = value.as_object_mut() {
        if let Some(id) = take_text(members, "id")? {
            own.id = id.parse()?;
        }
        if let Some(at) = take_text(members, "at")? {
            own.at = at.parse()?;
        }
    }
    let message = Message::from_chat(&value, own)?;
    if message.blocks.is_empty() {
        return Err(Failure::Usage("there is nothing to store".to_owned()));
    }
    Ok(message)
}

/// Takes a member, if it is there. One that is no text is refused: else the message would be stored under another id, or at another time,
/// than whoever wrote it has told.
fn take_text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Failure> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Failure::Usage(format!("the member {name} is no text"))),
    }
}
