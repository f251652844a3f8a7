//! Small chats of our own, each with questions: `memory-cli/chats`, whose README says what a file holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use memory::message::Defaults;
use memory::{Message, MessageId, Timestamp};
use serde_json::{Map, Value};

use super::folder::{entries, json as read};
use super::set::{Haystack, Question, Set, SetKind};
use crate::failure::Failure;

const ALL: &str = "all questions";
const ENGLISH: &str = "English";
const OTHERS: &str = "other languages";
/// An hour after the last message a question is asked, if it says nothing else.
const HOUR: i64 = 3_600_000_000;

/// Reads the set: each question searches its own chat.
pub(super) fn set(folder: &Path) -> Result<Set, Failure> {
    let files = entries(folder)?;
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut haystacks = Vec::new();
    for path in files {
        let wrong = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
        haystacks.push(haystack(&read(path)?).map_err(wrong)?);
    }
    if haystacks.is_empty() {
        return Err(Failure::Usage("the folder holds no chat".to_owned()));
    }
    Ok(Set::of_haystacks(SetKind::Chat, "small chats", &[ALL, ENGLISH, OTHERS], haystacks))
}

fn haystack(chat: &Value) -> Result<Haystack, String> {
    let name = text(chat, "chat")?.to_owned();
    let language = text(chat, "language")?;
    let (mut messages, mut ids) = (Vec::new(), BTreeMap::new());
    for value in list(chat, "messages")? {
        let id = text(value, "id")?;
        let message = message(&name, id, value)?;
        ids.insert(id.to_owned(), message.id);
        messages.push(message);
    }
    let last = messages.iter().map(|message| message.at).max().unwrap_or(Timestamp(0));
    let questions = list(chat, "questions")?.iter().map(|value| question(value, &name, language, last, &ids));
    let questions = questions.collect::<Result<_, _>>()?;
    Ok(Haystack { sessions: BTreeMap::from([(name.clone(), Arc::new(messages))]), name, questions })
}

/// Reads a message as an import does. A result of a tool answers a call that the chat does not show.
fn message(chat: &str, id: &str, value: &Value) -> Result<Message, String> {
    let at: Timestamp = text(value, "time")?.parse().map_err(|_| format!("{id}: its time is none"))?;
    let mut said = Map::new();
    for member in ["role", "content", "name"] {
        said.extend(value.get(member).filter(|value| !value.is_null()).map(|value| (member.to_owned(), value.clone())));
    }
    if value.get("role").is_some_and(|role| role == "tool") {
        said.insert("tool_call_id".to_owned(), id.into());
    }
    let defaults = Defaults { id: memory::import::message_id(chat, 0, &[id]), at };
    Message::from_chat(&said.into(), defaults).map_err(|error| format!("{id}: {error}"))
}

fn question(
    value: &Value,
    chat: &str,
    language: &str,
    last: Timestamp,
    ids: &BTreeMap<String, MessageId>,
) -> Result<Question, String> {
    let gold = list(value, "gold")?.iter().filter_map(Value::as_str);
    let turns: BTreeSet<MessageId> =
        gold.map(|id| ids.get(id).copied().ok_or_else(|| format!("no message {id}"))).collect::<Result<_, _>>()?;
    let at = match value.get("at").and_then(Value::as_str) {
        Some(at) => at.parse().map_err(|_| format!("{at} is no time"))?,
        None => Timestamp(last.0.saturating_add(HOUR)),
    };
    let group = if language == "en" { ENGLISH } else { OTHERS };
    let kind = format!("{}: {}", if language == "en" { "en" } else { "others" }, text(value, "kind")?);
    let mut groups = vec![ALL.to_owned(), group.to_owned(), kind];
    if language != "en" {
        groups.push(format!("language: {language}"));
    }
    let sessions = BTreeSet::from([chat.to_owned()]);
    Ok(Question { text: text(value, "question")?.to_owned(), at: Some(at), groups, turns, sessions })
}

fn text<'a>(value: &'a Value, member: &str) -> Result<&'a str, String> {
    value.get(member).and_then(Value::as_str).ok_or_else(|| format!("a member {member} is missing"))
}

fn list<'a>(value: &'a Value, member: &str) -> Result<&'a [Value], String> {
    value.get(member).and_then(Value::as_array).map(Vec::as_slice).ok_or_else(|| format!("a list {member} is missing"))
}
