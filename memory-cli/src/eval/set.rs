//! What a set consists of, and reading it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::Arc;

use clap::ValueEnum;
use memory::{Message, MessageId, Timestamp};
use serde_json::Value;

use super::{locomo, longmemeval, sample};
use crate::failure::Failure;
use crate::import::{self, Format, Item, Reading, Source};
use crate::sample::MESSAGES;

/// A set that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// LoCoMo: two people over many sessions; each question searches its own conversation
    Locomo,
    /// LongMemEval: each question searches all sessions, and a stand-in of 48
    Longmemeval,
    /// The sample conversation of the program, which needs no file, with questions of our own
    Sample,
}

/// A question, and where its evidence is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Its words.
    pub(crate) text: String,
    /// When it is asked, where the set says so.
    pub(crate) at: Option<Timestamp>,
    /// The rows of the table that it counts in.
    pub(crate) groups: Vec<String>,
    /// The messages that hold the evidence.
    pub(crate) turns: BTreeSet<MessageId>,
    /// The sessions that hold the evidence.
    pub(crate) sessions: BTreeSet<String>,
}

/// The conversations of one owner, and the questions that search them.
#[derive(Clone, Debug)]
pub(crate) struct Haystack {
    /// The owner.
    pub(crate) name: String,
    /// The sessions, by name.
    pub(crate) sessions: BTreeMap<String, Arc<Vec<Message>>>,
    /// The questions.
    pub(crate) questions: Vec<Question>,
}

/// Haystacks that are reported in one table.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// What is searched.
    pub(crate) title: String,
    /// The rows of its table, in order.
    pub(crate) groups: Vec<String>,
    /// The haystacks.
    pub(crate) haystacks: Vec<Haystack>,
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its parts.
    pub(crate) parts: Vec<Part>,
    /// Every session of the set by name.
    pub(crate) sessions: BTreeMap<String, Arc<Vec<Message>>>,
    /// The words of every question of the file, in its order, those that are left out too.
    pub(crate) asked: Vec<String>,
    /// Words to be said beside the figures.
    pub(crate) notes: Vec<String>,
}

impl Set {
    /// Reads the set inside the program.
    pub(crate) fn sample() -> Result<Self, Failure> {
        sample::set(sessions(Kind::Sample, MESSAGES.as_bytes())?)
    }

    /// Reads a set.
    pub(crate) fn read(kind: Kind, mut input: impl Read) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(|error| Failure::Usage(format!("the set cannot be read: {error}")))?;
        let values: Vec<Value> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Usage(format!("the set is no JSON array, line {}", error.line())))?;
        let sessions = sessions(kind, &bytes)?;
        if sessions.is_empty() {
            return Err(Failure::Usage("the file holds no conversation of this set".to_owned()));
        }
        Ok(match kind {
            Kind::Locomo => locomo::set(&values, sessions),
            Kind::Longmemeval => longmemeval::set(&values, sessions),
            Kind::Sample => sample::set(sessions)?,
        })
    }
}

/// Reads the messages of a set as `memory import` reads them.
fn sessions(kind: Kind, bytes: &[u8]) -> Result<BTreeMap<String, Arc<Vec<Message>>>, Failure> {
    let format = match kind {
        Kind::Locomo => Format::Locomo,
        Kind::Longmemeval => Format::Longmemeval,
        Kind::Sample => Format::Openai,
    };
    let source = Source {
        format: Some(format),
        session: String::new(),
        stem: String::new(),
        now: Timestamp(0),
        owner: (String::new(), String::new()),
        trusts_roles: true,
        reading: Reading::default(),
    };
    let (sink, mut items) = import::queue(256);
    let mut sessions: BTreeMap<String, Vec<Message>> = BTreeMap::new();
    std::thread::scope(|scope| {
        // Stopped means that an item was rejected, which is told below.
        let (source, sink) = (&source, sink);
        scope.spawn(move || import::read(bytes, source, &sink).is_ok());
        while let Some(item) = items.blocking_next() {
            match item {
                Item::Message { session, message, .. } => sessions.entry(session).or_default().push(*message),
                Item::Rejected { line, why } => return Err(Failure::Usage(format!("line {line}: {why}"))),
                Item::Row { .. } | Item::Record { .. } | Item::LeftOut { .. } | Item::Note(_) => {}
            }
        }
        Ok(())
    })?;
    Ok(sessions.into_iter().map(|(name, messages)| (name, Arc::new(messages))).collect())
}
