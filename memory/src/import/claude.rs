//! The export of Claude, `conversations.json`: each conversation is a list of messages, in newer exports with the
//! message that each one follows, so that it is a tree of which the person sees one branch.

use std::collections::{HashMap, HashSet};

use memory_core::{Message, MessageId, Role, Timestamp};
use serde_json::Value;

use super::aside::Asides;
use super::conversation::Conversation;
use super::format::Format;
use super::identity::message_id;
use super::item::LeftOut;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::{named, title, titled};
use super::time;

/// How the id begins that the first messages of a conversation name as the one before them.
const ROOT: &str = "00000000-0000-";
/// Pieces that only the page of the conversation has a use for.
const PASSED_OVER: [&str; 2] = ["token_budget", "flag"];

/// Reads one conversation.
pub(super) fn read(at: Position, value: &Value, now: Timestamp, sink: &Sink) -> Result<(), Stopped> {
    let Some(messages) = value.get("chat_messages").and_then(Value::as_array) else {
        return sink.reject(at, titled(title(value), Format::Claude.lack()));
    };
    let member = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(session) = member("uuid").or(member("id")).or(member("name")) else {
        return sink.reject(at, "the conversation has neither an id nor a name");
    };
    let of = Conversation::new(session, member("name"));
    let started = value.get("created_at").and_then(time::of_value);
    let mut last = started.unwrap_or(now);
    let branch = branch(messages, member("current_leaf_message_uuid"));
    let seen: HashSet<usize> = branch.iter().copied().collect();
    for (_, other) in messages.iter().enumerate().filter(|(index, _)| !seen.contains(index)) {
        if !Said::of(other).text().is_empty() {
            sink.leave_out(of, LeftOut::OtherBranch)?;
        }
    }
    let branch = branch.into_iter().filter_map(|place| Some((place, messages.get(place)?)));
    for (index, (place, value)) in (0u64..).zip(branch) {
        // Told is the place in the file, where messages of other branches stand between.
        let here = at.of_message(place as u64);
        let sender = value.get("sender").and_then(Value::as_str);
        let role = if sender == Some("human") { Some(Role::User) } else { sender.and_then(Role::from_name) };
        let Some(role) = role else {
            sink.reject(at, format!("message {} of {} has no sender that is known", place + 1, of.shown()))?;
            continue;
        };
        let told = value.get("created_at").and_then(time::of_value);
        last = told.unwrap_or(last);
        let mut said = Said::of(value);
        for what in &said.left_out {
            sink.leave_out(of, *what)?;
        }
        let text = said.text();
        if text.is_empty() && said.asides.is_empty() {
            sink.leave_out(of, LeftOut::Empty)?;
            continue;
        }
        let own = value.get("uuid").and_then(Value::as_str).and_then(|id| id.parse::<MessageId>().ok());
        let id = own.unwrap_or_else(|| message_id(session, index, &[role.name(), &text]));
        let mut message = of.entitle(Message::new(role, text.as_str(), last).with_id(id));
        if text.is_empty() {
            message.blocks.clear();
        }
        message.origin = Some("import:claude".to_owned());
        said.asides.put_into(&mut message, of, sink)?;
        sink.message(here, session, message, told.or(started).is_none())?;
    }
    Ok(())
}

/// Returns the places of the messages from the first one to `leaf`, or to the newest that none follows if there is no such
/// one. In an export without a tree, each message follows the one before it.
fn branch(messages: &[Value], leaf: Option<&str>) -> Vec<usize> {
    let text = |index: usize, name: &str| messages.get(index)?.get(name)?.as_str();
    let places: HashMap<&str, usize> =
        (0..messages.len()).filter_map(|index| Some((text(index, "uuid")?, index))).collect();
    let before = |index: usize| match text(index, "parent_message_uuid") {
        Some(parent) if parent.starts_with(ROOT) => None,
        parent => parent.and_then(|parent| places.get(parent).copied()).or_else(|| index.checked_sub(1)),
    };
    let followed: HashSet<usize> = (0..messages.len()).filter_map(before).collect();
    let at = |index: usize| messages.get(index)?.get("created_at").and_then(time::of_value);
    let newest =
        || (0..messages.len()).filter(|index| !followed.contains(index)).max_by_key(|index| (at(*index), *index));
    let mut at = leaf.and_then(|leaf| places.get(leaf).copied()).or_else(newest).or(messages.len().checked_sub(1));
    let (mut seen, mut branch) = (HashSet::new(), Vec::new());
    while let Some(index) = at.filter(|index| seen.insert(*index)) {
        branch.push(index);
        at = before(index);
    }
    branch.reverse();
    branch
}

/// What a message says.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    asides: Asides,
    left_out: Vec<LeftOut>,
}

impl Said {
    fn of(message: &Value) -> Self {
        let list = |name: &str| message.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut said = Self::default();
        list("content").iter().for_each(|piece| said.piece(piece));
        if said.lines.is_empty() {
            // Older exports have the words only here; newer ones repeat them.
            said.say(message.get("text").and_then(Value::as_str));
        }
        list("attachments").iter().for_each(|file| said.attachment(file));
        let newer = list("files_v2");
        let files = if newer.is_empty() { list("files") } else { newer };
        files.iter().for_each(|file| said.file(file));
        said
    }

    fn text(&self) -> String {
        self.lines.join("\n")
    }

    fn say(&mut self, text: Option<&str>) {
        self.lines.extend(text.filter(|text| !text.trim().is_empty()).map(str::to_owned));
    }

    fn piece(&mut self, piece: &Value) {
        let text = |name: &str| piece.get(name).and_then(Value::as_str);
        match text("type").unwrap_or_default() {
            "text" => self.say(text("text")),
            "voice_note" => self.say(text("text").or(text("title"))),
            "thinking" => self.asides.think(text("thinking").or(text("text")).unwrap_or_default()),
            "tool_use" => {
                let input = piece.get("input").filter(|input| !input.is_null());
                let arguments = input.map_or_else(|| "{}".to_owned(), Value::to_string);
                self.asides.call(text("id").unwrap_or_default(), text("name").unwrap_or_default(), arguments);
            }
            "tool_result" => {
                let mut lines = Vec::new();
                self.result(piece.get("content").unwrap_or(&Value::Null), &mut lines);
                self.asides.answer(text("tool_use_id"), lines.join("\n"));
            }
            "image" => self.left_out.push(LeftOut::Image),
            kind if PASSED_OVER.contains(&kind) => {}
            _ => self.left_out.push(LeftOut::UnknownPiece),
        }
    }

    /// Adds the lines of a tool's result: its texts, or what else it is as JSON.
    fn result(&mut self, content: &Value, lines: &mut Vec<String>) {
        match content {
            Value::Null => {}
            Value::String(text) => lines.push(text.clone()),
            Value::Array(pieces) => pieces.iter().for_each(|piece| self.result(piece, lines)),
            piece => match (piece.get("type").and_then(Value::as_str), piece.get("text").and_then(Value::as_str)) {
                (Some("image"), _) => self.left_out.push(LeftOut::Image),
                (_, Some(text)) => lines.push(text.to_owned()),
                _ => lines.push(piece.to_string()),
            },
        }
    }

    /// Adds a file with the words that were taken out of it, as a long text is that somebody has pasted.
    fn attachment(&mut self, file: &Value) {
        let text = |name: &str| file.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        self.lines.push(place_holder("file", text("file_name")));
        match text("extracted_content") {
            Some(content) => self.lines.push(content.to_owned()),
            None => self.left_out.push(LeftOut::File),
        }
    }

    fn file(&mut self, file: &Value) {
        let text = |name: &str| file.get(name).and_then(Value::as_str);
        let is_image = text("file_kind") == Some("image");
        let (kind, what) = if is_image { ("image", LeftOut::Image) } else { ("file", LeftOut::File) };
        self.lines.push(place_holder(kind, text("file_name")));
        self.left_out.push(what);
    }
}

fn place_holder(kind: &str, name: Option<&str>) -> String {
    name.map_or_else(|| format!("[{kind}]"), |name| format!("[{kind}: {}]", named(name)))
}
