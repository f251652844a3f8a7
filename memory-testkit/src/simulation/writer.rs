//! A writer: says, remembers, replaces, forgets, seeks, and notes what it was told of each.

use std::sync::Arc;
use std::time::Duration;

use memory_core::chat::Placement;
use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::{ItemId, Message, MessageId, Result, Role, Scope, SessionId};
use tokio::time::sleep;

use crate::generate::Random;

use super::ledger::{Item, messages, records};
use super::world::{World, owners, sessions};

/// What a writer is going to do. Another process goes on with it where one was killed.
pub(super) struct Script {
    random: Random,
    left: usize,
    words: u64,
    by: usize,
    /// A forget that failed or was cut off: it is repeated before anything else is done, as callers do.
    unended: Option<Arc<Act>>,
}

impl Script {
    pub(super) fn new(seed: u64, by: usize, operations: usize) -> Self {
        Self {
            random: Random::new(seed.wrapping_mul(31).wrapping_add(by as u64)),
            left: operations,
            words: 0,
            by,
            unended: None,
        }
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

    /// Returns what is to be done next; none at the end.
    fn next(&mut self, world: &World) -> Result<Option<Arc<Act>>> {
        if let Some(unended) = &self.unended {
            return Ok(Some(Arc::clone(unended)));
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let act = Arc::new(Act::choose(self, world)?);
        if matches!(act.what, What::Forget(_)) {
            self.unended = Some(Arc::clone(&act));
        }
        Ok(Some(act))
    }
}

/// Does what is left of the script.
pub(super) async fn write(world: &World, memory: &Memory, script: &tokio::sync::Mutex<Script>) -> Result<()> {
    loop {
        let (act, pause) = {
            let mut script = script.lock().await;
            let Some(act) = script.next(world)? else { return Ok(()) };
            (act, script.random.number() % 400)
        };
        sleep(Duration::from_millis(pause)).await;
        world.wire.note(|| format!("  {} begins {:?}", act.by, act.what));
        let (line, is_ended) = act.carry_out(world, memory).await;
        world.wire.note(|| format!("  {} ends: {line}", act.by));
        if is_ended {
            script.lock().await.unended = None;
        }
    }
}

struct Act {
    by: usize,
    owner: usize,
    scope: Scope,
    what: What,
}

#[derive(Debug)]
enum What {
    Say { session: SessionId, messages: Vec<(String, MessageId)> },
    Remember { word: String, text: String, sources: Vec<usize>, old: Option<usize> },
    Forget(Forget),
    Search(String),
    Context(SessionId),
    Read(Vec<usize>),
}

impl Act {
    fn choose(script: &mut Script, world: &World) -> Result<Self> {
        let owner = script.random.below(2);
        let scope = owners()?.into_iter().nth(owner).ok_or_else(|| memory_core::Error::invalid("no such owner"))?;
        let known: Vec<(usize, Item)> =
            world.ledger.items().into_iter().enumerate().filter(|(_, item)| item.owner == owner).collect();
        let what = What::choose(script, owner, &known)?;
        Ok(Self { by: script.by, owner, scope, what })
    }
}

impl What {
    fn choose(script: &mut Script, owner: usize, known: &[(usize, Item)]) -> Result<Self> {
        let session = sessions()?.into_iter().nth(script.random.below(2));
        let session = session.ok_or_else(|| memory_core::Error::invalid("no such session"))?;
        let some = |random: &mut Random| known.get(random.below(known.len()));
        Ok(match script.random.below(20) {
            0..8 => {
                let count = 1 + script.random.below(3);
                let messages = (0..count).map(|_| (script.word(owner), MessageId(script.random.id()))).collect();
                Self::Say { session, messages }
            }
            8..13 => {
                let word = script.word(owner);
                let sources: Vec<(usize, Item)> = match script.random.below(3) {
                    0 => Vec::new(),
                    _ => some(&mut script.random).cloned().into_iter().collect(),
                };
                let old =
                    if script.random.chance(1, 4) { some(&mut script.random).map(|(place, _)| *place) } else { None };
                let said = sources.iter().map(|(_, item)| item.word.as_str()).collect::<Vec<_>>().join(" ");
                let text = format!("{word} {said}");
                Self::Remember { word, text, sources: sources.into_iter().map(|(place, _)| place).collect(), old }
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
            _ => Self::Read(known.iter().map(|(place, _)| *place).collect()),
        })
    }
}

impl Act {
    /// Does it, notes what was answered, and returns a line about that, and whether it need not be repeated.
    async fn carry_out(&self, world: &World, memory: &Memory) -> (String, bool) {
        match &self.what {
            What::Forget(what) if (world.forgets)(what) => self.forget(world, memory, what).await,
            _ => (self.do_once(world, memory).await, true),
        }
    }

    async fn forget(&self, world: &World, memory: &Memory, what: &Forget) -> (String, bool) {
        let held = match world.held(&self.scope).await {
            Ok(held) => held,
            Err(error) => return (format!("{error:?}"), false),
        };
        let place = world.ledger.forget(self.by, self.owner, what.clone(), |item| held.holds(item));
        let answer = memory.of(&self.scope).forget(what).await;
        world.ledger.forgot(place, answer.is_ok());
        if let Ok(receipt) = &answer {
            world.is_forgotten(&self.scope, what, place, receipt).await;
        }
        (format!("{answer:?}"), answer.is_ok())
    }

    async fn do_once(&self, world: &World, memory: &Memory) -> String {
        let scoped = memory.of(&self.scope);
        match &self.what {
            What::Say { session, messages } => self.say(world, memory, session, messages).await,
            What::Remember { word, text, sources, old } => {
                self.remember(world, memory, (word, text), sources, *old).await
            }
            What::Forget(_) => "not in this plan".to_owned(),
            What::Search(words) => {
                let found = scoped.search(&Search::new(words.as_str())).await;
                let texts = found.map(|found| found.hits.iter().map(|hit| hit.content.text()).collect::<Vec<_>>());
                self.is_own(world, texts.as_ref().map(Vec::as_slice).unwrap_or_default());
                format!("{texts:?}")
            }
            What::Context(session) => {
                let context = scoped.session(session).context("what now?", 400_u64).await;
                let texts = context.map(|context| context.messages().map(Message::text).collect::<Vec<_>>());
                self.is_own(world, texts.as_ref().map(Vec::as_slice).unwrap_or_default());
                format!("{texts:?}")
            }
            What::Read(places) => {
                let items = world.ledger.items();
                let items: Vec<&Item> = places.iter().filter_map(|place| items.get(*place)).collect();
                let rows = scoped.messages(&messages(items.iter().copied())).await;
                let stored = scoped.get(&records(items.iter().copied())).await;
                format!("{:?} and {:?}", rows.map(|rows| rows.len()), stored.map(|stored| stored.len()))
            }
        }
    }

    async fn say(&self, world: &World, memory: &Memory, session: &SessionId, said: &[(String, MessageId)]) -> String {
        let mut batch = Vec::with_capacity(said.len());
        let mut places = Vec::with_capacity(said.len());
        for (word, id) in said {
            let mut message = Message::new(Role::User, format!("{word} was said of the garden"), memory.now());
            message.id = *id;
            batch.push(message);
            let item = ItemId::Message(*id);
            places.push(world.ledger.write(self.by, self.owner, word.clone(), item, Some(session.clone()), Vec::new()));
        }
        let answer = memory.of(&self.scope).session(session).append(batch).await;
        for (at, place) in places.into_iter().enumerate() {
            let placement = answer.as_ref().ok().and_then(|receipt| receipt.placements.get(at));
            world.ledger.wrote(place, placement.is_some_and(|placement| *placement != Placement::Forgotten));
        }
        format!("{:?}", answer.map(|receipt| receipt.placements))
    }

    async fn remember(
        &self,
        world: &World,
        memory: &Memory,
        (word, text): (&str, &str),
        sources: &[usize],
        old: Option<usize>,
    ) -> String {
        let items = world.ledger.items();
        let mut remember = Remember::fact(text);
        let id = memory_core::RecordId::of_content(word.as_bytes());
        for source in sources.iter().filter_map(|place| items.get(*place)) {
            remember = remember.with_source(source.id.clone());
        }
        let remember = remember.with_id(id);
        let place =
            world.ledger.write(self.by, self.owner, word.to_owned(), ItemId::Record(id), None, sources.to_vec());
        let scoped = memory.of(&self.scope);
        let old = old.and_then(|place| items.get(place)).and_then(|item| records([item]).pop());
        let answer = match old {
            Some(old) => scoped.supersede(old, remember).await,
            None => scoped.remember(remember).await,
        };
        world.ledger.wrote(place, answer.is_ok());
        format!("{answer:?}")
    }

    /// Nothing that was shown is another owner's.
    fn is_own(&self, world: &World, texts: &[String]) {
        let items = world.ledger.items();
        let foreign = items.iter().filter(|item| item.owner != self.owner);
        if let Some(item) = foreign.into_iter().find(|item| texts.iter().any(|text| text.contains(&item.word))) {
            world.wire.fail(format!("{} was shown {}, which is another owner's", self.owner, item.word));
        }
    }
}

/// Shared by the processes of one writer.
pub(super) type Shared = Arc<tokio::sync::Mutex<Script>>;
