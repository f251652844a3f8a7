//! The frozen fixture: a conversation of our own text, with questions and the messages that answer them.
//!
//! Two people and an assistant over 15 sessions, with long answers, tool calls and three languages. Ids are made from
//! the place of a message, so that they are the same in every run.
//!
//! What its questions find is frozen beside it: `fixtures/ranks.json` in a text store, `fixtures/figures.json` through
//! the engine. Both are written by `cargo run -p memory-testkit --example freeze_ranks`, never by hand; a change of them
//! is a change of ranking.

mod entries;
mod figures;
mod ranks;
mod recall;

use std::collections::HashMap;

use memory_core::message::Defaults;
use memory_core::{Error, Message, MessageId, Result, SessionId, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};

pub use entries::OTHERS;
pub use figures::Table;
pub use ranks::Ranks;
pub use recall::{memory, tend};

const TEXT: &str = include_str!("../fixtures/conversation.json");

/// Greetings, thanks and other turns that are about nothing.
const SMALL_TALK: &str = include_str!("../fixtures/small_talk.json");

/// A question about the fixture.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Its id: `q01` and on.
    pub id: String,
    /// The text of the question.
    pub question: String,
    /// The labels of the messages that answer it.
    evidence: Vec<String>,
    /// `single`, `multi`, `temporal`, `assistant`, `neighbour` or `identifier`.
    pub kind: String,
    /// `en`, `de` or `ja`.
    pub language: String,
}

/// The fixture.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The sessions with their messages, in order.
    pub sessions: Vec<(SessionId, Vec<Message>)>,
    /// The questions.
    pub questions: Vec<Question>,
    labels: HashMap<String, MessageId>,
    places: HashMap<MessageId, String>,
}

#[derive(Deserialize)]
struct File {
    sessions: Vec<FileSession>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct FileSession {
    session: String,
    messages: Vec<Map<String, Value>>,
}

impl Fixture {
    /// Reads the fixture.
    ///
    /// # Errors
    /// `Invalid` if the file was damaged.
    pub fn load() -> Result<Self> {
        let file: File = serde_json::from_str(TEXT).map_err(|error| Error::invalid(error.to_string()))?;
        let mut fixture =
            Self { sessions: Vec::new(), questions: file.questions, labels: HashMap::new(), places: HashMap::new() };
        for FileSession { session, messages } in file.sessions {
            let mut read = Vec::with_capacity(messages.len());
            for (index, message) in messages.into_iter().enumerate() {
                read.push(fixture.read(&format!("{session}#{}", index + 1), message)?);
            }
            fixture.sessions.push((SessionId::new(&session)?, read));
        }
        Ok(fixture)
    }

    fn read(&mut self, place: &str, mut message: Map<String, Value>) -> Result<Message> {
        let id = MessageId::of_content(place.as_bytes());
        let mut member = |name: &str| message.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let at: Timestamp = member("at").ok_or_else(|| Error::invalid("a message has no time"))?.parse()?;
        if let Some(label) = member("ref") {
            self.labels.insert(label, id);
        }
        self.places.insert(id, place.to_owned());
        Message::from_openai(&Value::Object(message), Defaults { id, at })
    }

    /// Returns 60 lines of small talk, for which nothing is to be recalled.
    ///
    /// # Errors
    /// `Invalid` if the file was damaged.
    pub fn small_talk() -> Result<Vec<String>> {
        serde_json::from_str(SMALL_TALK).map_err(|error| Error::invalid(error.to_string()))
    }

    /// Returns the messages that answer `question`.
    ///
    /// # Errors
    /// `Invalid` if the fixture has no message of a label.
    pub fn evidence(&self, question: &Question) -> Result<Vec<MessageId>> {
        let found = question.evidence.iter().map(|label| self.labels.get(label).copied());
        found.collect::<Option<_>>().ok_or_else(|| Error::invalid("a question names a label that no message has"))
    }

    /// Returns where a message stands, as `session#number`; none for one of another conversation.
    pub fn place(&self, id: MessageId) -> Option<&str> {
        self.places.get(&id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_size_and_the_variety_that_recall_needs() {
        let fixture = Fixture::load().unwrap();
        let messages: Vec<&Message> = fixture.sessions.iter().flat_map(|(_, messages)| messages).collect();
        assert!(fixture.sessions.len() >= 14 && messages.len() >= 300 && fixture.questions.len() >= 60);
        let long = |message: &&&Message| message.text().split_whitespace().count() > 120;
        assert!(messages.iter().filter(long).count() >= 30);
        assert!(messages.iter().map(|message| message.calls().count()).sum::<usize>() >= 12);
        for language in ["en", "de", "ja"] {
            assert!(fixture.questions.iter().filter(|question| question.language == language).count() >= 8);
        }
        assert!(fixture.questions.iter().all(|question| !fixture.evidence(question).unwrap().is_empty()));
    }
}
