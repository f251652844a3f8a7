//! The operations of writers and the answers to them. They are plain data, so that another process can carry them out.

use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::store::chat::Placement;
use memory_core::{ItemId, Message, MessageId, RecordId, Result, Role, Scope, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

/// One operation of a writer, for one owner.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) by: usize,
    pub(crate) owner: usize,
    pub(crate) what: Operation,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Operation {
    Say {
        session: SessionId,
        messages: Vec<(String, MessageId)>,
        /// When, if that was said beforehand: what is repeated was said at the same moment.
        at: Option<Timestamp>,
    },
    Remember {
        word: String,
        text: String,
        /// What it is derived from, with the places in the ledger.
        sources: Vec<(usize, ItemId)>,
        old: Option<RecordId>,
    },
    Forget(#[serde(with = "Forgotten")] Forget),
    Search(String),
    Context(SessionId),
    Read {
        messages: Vec<MessageId>,
        records: Vec<RecordId>,
    },
}

/// How [`Forget`] is serialised.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Forget")]
enum Forgotten {
    Messages(Vec<MessageId>),
    Records(Vec<RecordId>),
    Session(SessionId),
    Everything,
}

/// The answer to an operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Whether the call succeeded.
    pub(crate) is_done: bool,
    /// Which of the items it wrote are acknowledged.
    pub(crate) kept: Vec<bool>,
    /// Whether a receipt says that what was forgotten is gone everywhere.
    pub(crate) is_complete: bool,
    /// The texts that were shown.
    pub(crate) shown: Vec<String>,
    /// The whole answer as one line.
    pub(crate) line: String,
}

impl Operation {
    /// Sets the time of the messages.
    pub(crate) fn dated(mut self, now: Timestamp) -> Self {
        if let Self::Say { at, .. } = &mut self {
            *at = Some(now);
        }
        self
    }

    /// Returns the id of the record that is remembered under a word.
    pub(crate) fn record_of(word: &str) -> RecordId {
        RecordId::of_content(word.as_bytes())
    }

    /// Carries the operation out, and returns the answer.
    pub(crate) async fn carry_out(&self, memory: &Memory, scope: &Scope) -> Answer {
        let scoped = memory.of(scope);
        match self {
            Self::Say { session, messages, at } => {
                let at = at.unwrap_or_else(|| memory.now());
                let said = messages.iter().map(|(word, id)| {
                    let mut message = Message::new(Role::User, format!("{word} was said of the garden"), at);
                    message.id = *id;
                    message
                });
                let answer = scoped.session(session).append(said.collect()).await;
                let placements = answer.as_ref().map(|receipt| receipt.placements.clone()).unwrap_or_default();
                let kept = placements.iter().map(|placement| *placement != Placement::Forgotten).collect();
                Answer { kept, ..Answer::of(&answer.map(|receipt| receipt.placements)) }
            }
            Self::Remember { word, text, sources, old } => {
                let mut remember = Remember::fact(text.as_str());
                for (_, source) in sources {
                    remember = remember.with_source(source.clone());
                }
                let remember = remember.with_id(Self::record_of(word));
                let answer = match old {
                    Some(old) => scoped.supersede(*old, remember).await,
                    None => scoped.remember(remember).await,
                };
                Answer { kept: vec![answer.is_ok()], ..Answer::of(&answer) }
            }
            Self::Forget(what) => {
                let answer = scoped.forget(what).await;
                Answer { is_complete: answer.as_ref().is_ok_and(|receipt| receipt.complete), ..Answer::of(&answer) }
            }
            Self::Search(words) => {
                let found = scoped.search(&Search::new(words.as_str())).await;
                Answer::showing(&found.map(|found| found.hits.iter().map(|hit| hit.content.text()).collect()))
            }
            Self::Context(session) => {
                let context = scoped.session(session).context("what now?", 400_u64).await;
                Answer::showing(&context.map(|context| context.messages().map(Message::text).collect()))
            }
            Self::Read { messages, records } => {
                let rows = scoped.messages(messages).await.map(|rows| rows.len());
                let stored = scoped.get(records).await.map(|stored| stored.len());
                Answer::of(&rows.and_then(|rows| stored.map(|stored| (rows, stored))))
            }
        }
    }
}

impl Answer {
    fn of<T: std::fmt::Debug>(answer: &Result<T>) -> Self {
        Self { is_done: answer.is_ok(), line: format!("{answer:?}"), ..Self::default() }
    }

    fn showing(texts: &Result<Vec<String>>) -> Self {
        Self { shown: texts.as_ref().cloned().unwrap_or_default(), ..Self::of(texts) }
    }
}
