//! LongMemEval: questions, each with the sessions that are searched for its answer. Sessions are shared by questions.

use std::collections::HashMap;

use memory_core::{Message, Role};
use serde_json::Value;

use super::conversation::Conversation;
use super::format::Format;
use super::identity::message_id;
use super::item::LeftOut;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::{named, title, titled};
use super::time;

/// The longest name of a session, and the longest date, in bytes: both are kept of every session.
const LONGEST: usize = 255;

/// What a LongMemEval file is read with.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The date under which each session was first read.
    sessions: HashMap<String, String>,
}

impl Reader {
    /// Reads one question's sessions.
    pub(super) fn read(&mut self, at: Position, value: &Value, sink: &Sink) -> Result<(), Stopped> {
        let list = |member: &str| value.get(member).and_then(Value::as_array);
        let (Some(ids), Some(sessions)) = (list("haystack_session_ids"), list("haystack_sessions")) else {
            return sink.reject(at, titled(title(value), Format::Longmemeval.lack()));
        };
        if ids.len() != sessions.len() {
            return sink.reject(at, "the question has not as many sessions as names of sessions");
        }
        let dates = list("haystack_dates").map(Vec::as_slice).unwrap_or_default();
        for (index, (id, turns)) in ids.iter().zip(sessions).enumerate() {
            let date = dates.get(index).and_then(Value::as_str).unwrap_or_default();
            let (Some(id), Some(turns)) = (id.as_str(), turns.as_array()) else {
                sink.reject(at, format!("session {} of the question has no name or no turns", index + 1))?;
                continue;
            };
            self.session(at, id, date, turns, sink)?;
        }
        Ok(())
    }

    fn session(&mut self, at: Position, id: &str, date: &str, turns: &[Value], sink: &Sink) -> Result<(), Stopped> {
        if let Some(first) = self.sessions.get(id) {
            if first != date {
                let id = named(id);
                sink.note(format!(
                    "session {id} is in the file under two dates: {first} stays, {} is left out",
                    named(date)
                ))?;
                sink.leave_out(Conversation::new(&id, None), LeftOut::OtherDate)?;
            }
            return Ok(());
        }
        if id.len() > LONGEST {
            return sink.reject(at, format!("the name of session {} is too long", named(id)));
        }
        let Some(start) = time::longmemeval_time(date).filter(|_| date.len() <= LONGEST) else {
            return sink.reject(at, format!("session {} has no date", named(id)));
        };
        self.sessions.insert(id.to_owned(), date.to_owned());
        for (index, turn) in (0u64..).zip(turns) {
            let role = turn.get("role").and_then(Value::as_str).and_then(Role::from_name);
            let (Some(role), Some(text)) = (role, turn.get("content").and_then(Value::as_str)) else {
                sink.reject(at, format!("turn {} of session {} has no role or no content", index + 1, named(id)))?;
                continue;
            };
            let message_id = message_id(id, index, &[role.name(), text]);
            sink.message(at, id, Message::new(role, text, time::turn(start, index)).with_id(message_id), false)?;
        }
        Ok(())
    }
}
