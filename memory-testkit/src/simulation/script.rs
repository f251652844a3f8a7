//! The random operations of a writer.

use memory_core::engine::Forget;
use memory_core::{Error, ItemId, MessageId, Result, SessionId};

use crate::generate::Random;

use super::act::{Act, Operation};
use super::ledger::{WrittenItem, messages, records};

/// The operations that a writer is going to carry out. When its process is killed, the next one goes on with them.
pub(crate) struct Script {
    random: Random,
    left: usize,
    words: u64,
    by: usize,
}

impl Script {
    pub(crate) fn new(seed: u64, by: usize, operations: usize) -> Self {
        Self { random: Random::new(seed.wrapping_mul(31).wrapping_add(by as u64)), left: operations, words: 0, by }
    }

    /// Returns the next operation, on one of these sessions and items; none at the end.
    pub(crate) fn next(&mut self, sessions: &[SessionId], items: Vec<WrittenItem>) -> Result<Option<Act>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let owner = self.random.below(2);
        let known: Vec<(usize, WrittenItem)> =
            items.into_iter().enumerate().filter(|(_, item)| item.owner == owner).collect();
        let what = Operation::choose(self, sessions, owner, &known)?;
        Ok(Some(Act { by: self.by, owner, what }))
    }

    /// Returns the pause before the next operation, in milliseconds.
    pub(crate) fn pause(&mut self) -> u64 {
        self.random.number() % 400
    }

    /// Returns a word that occurs nowhere else.
    fn word(&mut self, owner: usize) -> String {
        self.words += 1;
        let stone = ["amber", "beryl"].get(owner).unwrap_or(&"coral");
        // Letters alone: words with digits are taken apart, and then many share their parts.
        let number: String =
            format!("{}{:02}", self.by, self.words).bytes().map(|digit| char::from(digit + 49)).collect();
        format!("{stone}{number}z")
    }
}

impl Operation {
    fn choose(
        script: &mut Script,
        sessions: &[SessionId],
        owner: usize,
        known: &[(usize, WrittenItem)],
    ) -> Result<Self> {
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
                let sources: Vec<(usize, WrittenItem)> = match script.random.below(3) {
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
                Some((_, WrittenItem { id: ItemId::Message(id), .. })) => Forget::Messages(vec![*id]),
                Some((_, WrittenItem { id: ItemId::Record(id), .. })) => Forget::Records(vec![*id]),
                _ => Forget::Session(session),
            }),
            15 => Self::Forget(Forget::Session(session)),
            16 if script.random.chance(1, 2) => Self::Forget(Forget::Everything),
            16 | 17 => Self::Search(some(&mut script.random).map(|(_, item)| item.word.clone()).unwrap_or_default()),
            18 => Self::Context(session),
            _ => Self::Read {
                messages: messages(known.iter().map(|(_, item)| item)),
                records: records(known.iter().map(|(_, item)| item)),
            },
        })
    }
}
