//! What writers do, and what they are answered: plain data, so that another process can do it too.

use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::store::chat::Placement;
use memory_core::{Error, ItemId, Message, MessageId, RecordId, Result, Role, Scope, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::generate::Random;

use super::ledger::Item;

/// What a writer is going to do. Another process goes on with it where one was killed.
pub(crate) struct Script {
    random: Random,
    left: usize,
    words: u64,
    by: usize,
}

/// What a writer does with one call.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) by: usize,
    pub(crate) owner: usize,
    pub(crate) what: What,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum What {
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

/// How [`Forget`] is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Forget")]
enum Forgotten {
    Messages(Vec<MessageId>),
    Records(Vec<RecordId>),
    Session(SessionId),
    Everything,
}

/// What a call was answered.
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
    /// All of it in a line.
    pub(crate) line: String,
}

impl Script {
    pub(crate) fn new(seed: u64, by: usize, operations: usize) -> Self {
        Self { random: Random::new(seed.wrapping_mul(31).wrapping_add(by as u64)), left: operations, words: 0, by }
    }

    /// Returns what comes next among these sessions and items; none at the end.
    pub(crate) fn next(&mut self, sessions: &[SessionId], items: Vec<Item>) -> Result<Option<Act>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let owner = self.random.below(2);
        let known: Vec<(usize, Item)> = items.into_iter().enumerate().filter(|(_, item)| item.owner == owner).collect();
        let what = What::choose(self, sessions, owner, &known)?;
        Ok(Some(Act { by: self.by, owner, what }))
    }

    /// Returns how many milliseconds later it comes.
    pub(crate) fn pause(&mut self) -> u64 {
        self.random.number() % 400
    }

    /// Returns a word that stands in nothing else.
    fn word(&mut self, owner: usize) -> String {
        self.words += 1;
        let stone = ["amber", "beryl"].get(owner).unwrap_or(&"coral");
        // Letters alone: words with digits are taken apart, and then many share their parts.
        let number: String =
            format!("{}{:02}", self.by, self.words).bytes().map(|digit| char::from(digit + 49)).collect();
        format!("{stone}{number}z")
    }
}

impl What {
    fn choose(script: &mut Script, sessions: &[SessionId], owner: usize, known: &[(usize, Item)]) -> Result<Self> {
        let session = sessions.get(script.random.below(2)).cloned();
        let session = session.ok_or_else(|| Error::invalid("no such session"))?;
        let some = |random: &mut Random| known.get(random.below(known.len()));
        Ok(match script.random.below(20) {
            0..8 => {
                let count = 1 + script.random.below(3);
                let messages = (0..count).map(|_| (script.word(owner), MessageId(script.random.id()))).collect();
                Self::Say { session, messages, at: None }
            }
            8..13 => {
                let word = script.word(owner);
                let sources: Vec<(usize, Item)> = match script.random.below(3) {
                    0 => Vec::new(),
                    _ => some(&mut script.random).cloned().into_iter().collect(),
                };
                let old = if script.random.chance(1, 4) { some(&mut script.random) } else { None };
                let old = old.and_then(|(_, item)| if let ItemId::Record(id) = item.id { Some(id) } else { None });
                let said = sources.iter().map(|(_, item)| item.word.as_str()).collect::<Vec<_>>().join(" ");
                let text = format!("{word} {said}");
                let sources = sources.into_iter().map(|(place, item)| (place, item.id)).collect();
                Self::Remember { word, text, sources, old }
            }
            13..15 => Self::Forget(match some(&mut script.random) {
                Some((_, Item { id: ItemId::Message(id), .. })) => Forget::Messages(vec![*id]),
                Some((_, Item { id: ItemId::Record(id), .. })) => Forget::Records(vec![*id]),
                _ => Forget::Session(session),
            }),
            15 => Self::Forget(Forget::Session(session)),
            16 if script.random.chance(1, 2) => Self::Forget(Forget::Everything),
            16 | 17 => Self::Search(some(&mut script.random).map(|(_, item)| item.word.clone()).unwrap_or_default()),
            18 => Self::Context(session),
            _ => Self::Read {
                messages: super::ledger::messages(known.iter().map(|(_, item)| item)),
                records: super::ledger::records(known.iter().map(|(_, item)| item)),
            },
        })
    }

    /// Says when it is said.
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

    /// Does it, and returns what was answered.
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
