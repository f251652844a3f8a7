//! BEAM (mohammadtavakoli78/BEAM): long chats of one person with an assistant, and questions about ten abilities. A folder
//! for each chat holds `chat.json` and `probing_questions.json`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use memory::import::message_id;
use memory::{Message, MessageId, Role, Timestamp};
use serde_json::Value;

use super::folder::{entries, json};
use super::set::{Haystack, Question, Set, SetKind};
use crate::failure::Failure;

const ALL: &str = "all questions";
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Where each message of a chat is, by the number that the set gives it.
type Places = HashMap<u64, (MessageId, String)>;

/// Reads the set: each question searches its own chat, a session of which is one of the set's batches.
pub(super) fn set(folder: &Path) -> Result<Set, Failure> {
    let mut haystacks = Vec::new();
    for chat in entries(folder)?.iter().filter(|path| path.join("chat.json").exists()) {
        let name = format!("beam-{}", chat.file_name().unwrap_or_default().to_string_lossy());
        let (batches, asked) = (json(&chat.join("chat.json"))?, json(&chat.join("probing_questions.json"))?);
        haystacks.push(haystack(name, &batches, &asked));
    }
    if haystacks.is_empty() {
        return Err(Failure::Usage("the folder holds no chat of this set".to_owned()));
    }
    Ok(Set::of_haystacks(SetKind::Beam, "BEAM", &[ALL], haystacks))
}

fn haystack(name: String, batches: &Value, asked: &Value) -> Haystack {
    let (mut sessions, mut places) = (BTreeMap::new(), Places::new());
    let mut at = Timestamp(0);
    for (number, batch) in (1..).zip(batches.as_array().into_iter().flatten()) {
        let session = format!("{name}/{number:02}");
        let turns = batch.get("turns").and_then(Value::as_array).into_iter().flatten();
        let mut messages = Vec::new();
        for (index, value) in (0..).zip(turns.filter_map(Value::as_array).flatten()) {
            at = value.get("time_anchor").and_then(Value::as_str).and_then(time).unwrap_or(at);
            if let Some((id, message)) = message(&session, index, value, at) {
                places.insert(id, (message.id, session.clone()));
                messages.push(message);
            }
        }
        sessions.insert(session, Arc::new(messages));
    }
    let abilities = asked.as_object().into_iter().flatten();
    let questions = abilities.flat_map(|(ability, list)| {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|value| question(ability, value, &places)).collect::<Vec<_>>()
    });
    Haystack { name, questions: questions.collect(), sessions }
}

/// Reads a message, without the mark that the set's generator left at its end.
fn message(session: &str, index: u64, value: &Value, at: Timestamp) -> Option<(u64, Message)> {
    let role = value.get("role").and_then(Value::as_str).and_then(Role::from_name)?;
    let text = value.get("content")?.as_str()?;
    let text = text.rsplit_once("->->").map_or(text, |(text, _)| text).trim();
    let mut message = Message::new(role, text, at);
    message.id = message_id(session, index, &[role.name(), text]);
    Some((value.get("id")?.as_u64()?, message))
}

/// Reads a question; none if it names no message as its source.
fn question(ability: &str, value: &Value, places: &Places) -> Option<Question> {
    let mut ids = BTreeSet::new();
    numbers(value.get("source_chat_ids")?, &mut ids);
    let gold: Vec<&(MessageId, String)> = ids.iter().filter_map(|id| places.get(id)).collect();
    let turns: BTreeSet<MessageId> = gold.iter().map(|(id, _)| *id).collect();
    let sessions = gold.iter().map(|(_, session)| session.clone()).collect();
    let text = value.get("question")?.as_str()?.to_owned();
    (!turns.is_empty()).then(|| Question {
        text,
        at: None,
        groups: vec![ALL.to_owned(), ability.to_owned()],
        turns,
        sessions,
    })
}

/// Adds all whole numbers within a value.
fn numbers(value: &Value, found: &mut BTreeSet<u64>) {
    match value {
        Value::Number(number) => found.extend(number.as_u64()),
        Value::Array(list) => list.iter().for_each(|value| numbers(value, found)),
        Value::Object(map) => map.values().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// Reads `March-15-2024`.
fn time(text: &str) -> Option<Timestamp> {
    let mut parts = text.split('-');
    let name = parts.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| name.starts_with(month))? + 1;
    let (day, year) = (parts.next()?.parse::<u32>().ok()?, parts.next()?);
    format!("{year}-{month:02}-{day:02}T00:00:00Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chats_and_questions_are_read() {
        let batches = json!([
            { "batch_number": 1, "turns": [[
                { "role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I never used Flask ->-> 1,1" },
                { "role": "assistant", "id": 1, "content": "Noted." },
            ]] },
            { "batch_number": 2, "turns": [[{ "role": "user", "id": 2, "content": "My first route works" }]] },
        ]);
        let asked = json!({
            "abstention": [{ "question": "And Django?" }],
            "contradiction_resolution": [{ "question": "Have I used Flask?", "source_chat_ids": { "a": [0], "b": [2, 9] } }],
        });
        let haystack = haystack("beam-1".to_owned(), &batches, &asked);
        let first = &haystack.sessions["beam-1/01"];
        assert_eq!(
            (first[0].text().as_ref(), first[1].at),
            ("I never used Flask", "2024-03-15T00:00:00Z".parse().unwrap())
        );
        let [question] = haystack.questions.as_slice() else { panic!("{:?}", haystack.questions) };
        assert_eq!((question.turns.len(), question.sessions.len()), (2, 2));
        assert_eq!(question.groups, [ALL, "contradiction_resolution"]);
    }
}
