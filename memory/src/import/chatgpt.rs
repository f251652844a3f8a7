//! The export of ChatGPT, `conversations.json`: each conversation is a tree of messages, of which the branch that ends
//! at `current_node` is what the person sees.

use std::collections::HashSet;

use memory_core::{Message, MessageId, Role, Timestamp};
use serde_json::{Map, Value};

use super::aside::Asides;
use super::conversation::Conversation;
use super::format::Format;
use super::identity::message_id;
use super::item::LeftOut;
use super::position::Position;
use super::queue::{Sink, Stopped};
use super::refusal::{named, title, titled};
use super::time;

const ORIGIN: &str = "import:chatgpt";

/// Reads one conversation.
pub(super) fn read(at: Position, value: &Value, now: Timestamp, sink: &Sink) -> Result<(), Stopped> {
    let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
        return sink.reject(at, titled(title(value), Format::Chatgpt.lack()));
    };
    let member = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(session) = member("conversation_id").or(member("id")).or(member("title")) else {
        return sink.reject(at, "the conversation has neither an id nor a title");
    };
    let of = Conversation::new(session, member("title"));
    let started = value.get("create_time").and_then(time::of_value);
    let (mut last, mut is_inferred) = (started.unwrap_or(now), started.is_none());
    let mut asides = Asides::default();
    let branch = branch(mapping, member("current_node"));
    leave_out_others(of, mapping, &branch, sink)?;
    // A node may have no message, as the first one has none.
    let mut count = 0;
    for (index, (name, node)) in (0u64..).zip(branch) {
        let Some(message) = node.get("message").filter(|message| message.is_object()) else { continue };
        let here = at.of_message(count);
        count += 1;
        if !is_shown(message) {
            leave_out_hidden(of, message, sink)?;
            continue;
        }
        let said = message.get("create_time").and_then(time::of_value);
        (last, is_inferred) = (said.unwrap_or(last), said.or(started).is_none());
        let Some(role) = message.pointer("/author/role").and_then(Value::as_str).and_then(Role::from_name) else {
            sink.reject(here, format!("node {} of {} has no role that is known", named(name), of.shown()))?;
            continue;
        };
        let words = words(message);
        for what in &words.left_out {
            sink.leave_out(of, *what)?;
        }
        if words.text.is_empty() {
            let thought = thought(message);
            asides.think(&thought);
            if let Some(what) = unsaid(role, message).filter(|_| thought.is_empty()) {
                sink.leave_out(of, what)?;
            }
            continue;
        }
        if role.is_result() {
            asides.answer(None, words.text);
            continue;
        }
        let member = |path: &str| message.pointer(path).and_then(Value::as_str);
        if let Some(tool) = member("/recipient").filter(|name| role == Role::Assistant && *name != "all") {
            let id = member("/id").map_or_else(|| format!("call-{index}"), str::to_owned);
            asides.call(&id, tool, words.text);
            continue;
        }
        if role != Role::Assistant {
            put_alone(here, of, index, last, is_inferred, &mut asides, sink)?;
        }
        let mut message = of.entitle(convert(session, index, role, message, last, words));
        asides.put_into(&mut message, of, sink)?;
        sink.message(here, session, message, is_inferred)?;
    }
    put_alone(at, of, u64::MAX, last, is_inferred, &mut asides, sink)
}

/// Puts what stands aside before `index`, if no answer came of it, as a message without words.
fn put_alone(
    here: Position,
    of: Conversation<'_>,
    index: u64,
    at: Timestamp,
    is_inferred: bool,
    asides: &mut Asides,
    sink: &Sink,
) -> Result<(), Stopped> {
    if asides.is_empty() {
        return Ok(());
    }
    let id = message_id(of.session, index, &["aside", &asides.said()]);
    let mut message = of.entitle(Message::of_blocks(Role::Assistant, Vec::new(), at).with_id(id));
    message.origin = Some(ORIGIN.to_owned());
    asides.put_into(&mut message, of, sink)?;
    if message.aside.is_empty() { Ok(()) } else { sink.message(here, of.session, message, is_inferred) }
}

/// Returns what the model thought before its answer, if that is what the message holds.
fn thought(message: &Value) -> String {
    let content = message.get("content").unwrap_or(&Value::Null);
    let thoughts = content.get("thoughts").and_then(Value::as_array).into_iter().flatten();
    let texts = thoughts.flat_map(|thought| [thought.get("summary"), thought.get("content")]);
    let texts = texts.chain([content.get("content")]).flatten().filter_map(Value::as_str);
    texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// Reports the messages on branches that the person does not see.
fn leave_out_others(
    of: Conversation<'_>,
    mapping: &Map<String, Value>,
    branch: &[(&str, &Value)],
    sink: &Sink,
) -> Result<(), Stopped> {
    let seen: HashSet<&str> = branch.iter().map(|(id, _)| *id).collect();
    let others =
        mapping.iter().filter(|(id, _)| !seen.contains(id.as_str())).filter_map(|(_, node)| node.get("message"));
    let mut told = others.filter(|message| message.is_object() && is_shown(message) && !words(message).text.is_empty());
    told.try_for_each(|_| sink.leave_out(of, LeftOut::OtherBranch))
}

/// Reports a hidden message that has text.
fn leave_out_hidden(of: Conversation<'_>, message: &Value, sink: &Sink) -> Result<(), Stopped> {
    if words(message).text.is_empty() {
        return Ok(());
    }
    sink.leave_out(of, LeftOut::Hidden)
}

/// Returns what a message without words is; none for the blank line of the system that opens each conversation.
fn unsaid(role: Role, message: &Value) -> Option<LeftOut> {
    const WORDLESS: [&str; 5] = ["content_type", "parts", "text", "language", "response_format_name"];
    let content = message.get("content").and_then(Value::as_object);
    let is_unknown = |(name, value): (&String, &Value)| !WORDLESS.contains(&name.as_str()) && !value.is_null();
    if content.is_some_and(|content| content.iter().any(is_unknown)) {
        return Some(LeftOut::UnknownPiece);
    }
    (!role.is_instruction()).then_some(LeftOut::Empty)
}

/// Returns the nodes from the root to `current`, or to the newest leaf if there is none.
fn branch<'a>(mapping: &'a Map<String, Value>, current: Option<&'a str>) -> Vec<(&'a str, &'a Value)> {
    let mut at = current.filter(|id| mapping.contains_key(*id)).or_else(|| newest_leaf(mapping));
    let mut seen = HashSet::new();
    let mut nodes = Vec::new();
    while let Some(id) = at.filter(|id| seen.insert(*id)) {
        let Some(node) = mapping.get(id) else { break };
        nodes.push((id, node));
        at = node.get("parent").and_then(Value::as_str);
    }
    nodes.reverse();
    nodes
}

fn newest_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let is_leaf = |node: &Value| node.get("children").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let at = |node: &Value| node.pointer("/message/create_time").and_then(time::of_value);
    let leaves = mapping.iter().filter(|(_, node)| is_leaf(node));
    leaves.max_by_key(|(id, node)| (at(node), id.as_str())).map(|(id, _)| id.as_str())
}

fn is_shown(message: &Value) -> bool {
    let hidden = message.pointer("/metadata/is_visually_hidden_from_conversation").and_then(Value::as_bool);
    hidden != Some(true)
}

/// Returns the message of these words.
fn convert(
    session: &str,
    index: u64,
    role: Role,
    value: &Value,
    at: Timestamp,
    Words { text, assets, left_out: _ }: Words,
) -> Message {
    let member = |path: &str| value.pointer(path).and_then(Value::as_str);
    let own = member("/id").and_then(|id| id.parse::<MessageId>().ok());
    let content = || value.get("content").unwrap_or(&Value::Null).to_string();
    let id = own.unwrap_or_else(|| message_id(session, index, &[role.name(), &content()]));
    let mut message = Message::new(role, text, at).with_id(id);
    message.origin = Some(ORIGIN.to_owned());
    message.speaker = member("/author/name").map(str::to_owned);
    if !assets.is_empty() {
        message = message.with_metadata("assets", Value::Array(assets));
    }
    message
}

/// What a message says.
#[derive(Default)]
struct Words {
    text: String,
    /// Its images and files, which stand in the words as `[image]` or `[file]`.
    assets: Vec<Value>,
    /// What does not stand in the words as it was.
    left_out: Vec<LeftOut>,
}

/// Returns what a message says.
fn words(message: &Value) -> Words {
    let content = message.get("content").unwrap_or(&Value::Null);
    let mut lines: Vec<&str> = content.get("text").and_then(Value::as_str).into_iter().collect();
    let mut words = Words::default();
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        match part {
            Value::String(text) => lines.push(text),
            // Sound comes with its transcript.
            Value::Object(asset) => {
                let kind = asset.get("content_type").and_then(Value::as_str).unwrap_or_default();
                let is_image = kind.starts_with("image");
                let (stand_in, what) = if is_image { ("[image]", LeftOut::Image) } else { ("[file]", LeftOut::File) };
                lines.push(asset.get("text").and_then(Value::as_str).unwrap_or(stand_in));
                words.assets.push(part.clone());
                words.left_out.push(what);
            }
            Value::Null => {}
            _ => words.left_out.push(LeftOut::UnknownPiece),
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    words.text = lines.join("\n");
    words
}
