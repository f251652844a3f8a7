//! LoCoMo: conversations of two people over many sessions.

use memory_core::{Message, Role, Timestamp};
use serde_json::Value;

use super::format::Format;
use super::identity::message_id;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::{named, title, titled};
use super::time;

/// Reads one conversation.
pub(super) fn read(at: Position, value: &Value, sink: &Sink) -> Result<(), Stopped> {
    let name = value.get("sample_id").and_then(Value::as_str);
    let (Some(name), Some(conversation)) = (name, value.get("conversation").and_then(Value::as_object)) else {
        return sink.reject(at, titled(title(value), Format::Locomo.lack()));
    };
    let number = |key: &String| key.strip_prefix("session_")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = conversation.keys().filter_map(number).collect();
    numbers.sort_unstable();
    for number in numbers {
        let key = format!("session_{number}");
        let session = format!("{name}/{key}");
        let Some(turns) = conversation.get(&key).and_then(Value::as_array) else {
            sink.reject(at, format!("{} is no list of turns", named(&session)))?;
            continue;
        };
        let date = conversation.get(&format!("{key}_date_time")).and_then(Value::as_str);
        match date.and_then(time::of_locomo) {
            Some(start) => read_session(at, &session, start, turns, sink)?,
            None => sink.reject(at, format!("{} has no date", named(&session)))?,
        }
    }
    Ok(())
}

fn read_session(at: Position, session: &str, start: Timestamp, turns: &[Value], sink: &Sink) -> Result<(), Stopped> {
    for (index, turn) in (0u64..).zip(turns) {
        let member = |name: &str| turn.get(name).and_then(Value::as_str);
        let (Some(speaker), Some(text)) = (member("speaker"), member("text")) else {
            sink.reject(at, format!("turn {} of {} has no speaker or no text", index + 1, named(session)))?;
            continue;
        };
        let caption = member("blip_caption");
        let said = caption.map_or_else(|| text.to_owned(), |caption| format!("{text} [shares {caption}]"));
        let id = message_id(session, index, &[speaker, &said]);
        let mut message = Message::new(Role::User, said, time::turn(start, index)).with_speaker(speaker).with_id(id);
        for (key, value) in [("dia_id", member("dia_id")), ("caption", caption)] {
            if let Some(value) = value {
                message = message.with_metadata(key, value);
            }
        }
        sink.message(at, session, message, false)?;
    }
    Ok(())
}
