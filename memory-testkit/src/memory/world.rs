//! A memory over the stores of a suite, what its owners say, and what is read from answers.

use std::time::Duration;

use memory_core::engine::{Context, Memory, MemoryBuilder, PartKind, Scoped, Search, SearchResults, Session};
use memory_core::{Message, Role, SessionId};

use super::ground::Ground;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

/// Long enough for whatever upkeep put off to be due again.
const LATER: Duration = Duration::from_secs(60);

/// The memory of a scenario, and what it is made of.
pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) ground: Ground,
}

impl World {
    /// Opens a memory that folds no window.
    pub(super) async fn open(bed: &Bed<Stores>) -> Result<Self, Failure> {
        Self::with(bed, |_, builder| builder).await
    }

    /// Opens a memory after `adjust` has changed how it is built.
    pub(super) async fn with(
        bed: &Bed<Stores>,
        adjust: impl FnOnce(&Ground, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Self, Failure> {
        let ground = Ground::of(bed);
        Ok(Self { memory: ground.open(adjust).await?, ground })
    }

    pub(super) fn owner(&self, subject: &str) -> Result<Scoped, Failure> {
        Ok(self.memory.of(&self.ground.scope(subject)?))
    }

    /// Returns the conversation of an owner.
    pub(super) fn talk(&self, subject: &str) -> Result<Session, Failure> {
        Ok(self.owner(subject)?.session(&session("talk")?))
    }

    /// Returns a message said one second after the one before.
    pub(super) fn say(&self, role: Role, text: &str) -> Message {
        self.ground.clock.advance(Duration::from_secs(1));
        Message::new(role, text, self.memory.now())
    }

    pub(super) fn user(&self, text: &str) -> Message {
        self.say(Role::User, text)
    }

    /// Returns turns of a person and an assistant about nothing that a scenario asks for.
    pub(super) fn chatter(&self, turns: usize) -> Vec<Message> {
        let turn = |n: usize| {
            let asked = self.user(&format!("Please water plant number {n} on the balcony."));
            [asked, self.say(Role::Assistant, &format!("Plant {n} has had its water."))]
        };
        (0..turns).flat_map(turn).collect()
    }

    /// Makes the indexes follow truth.
    pub(super) async fn tend(&self) -> Scene {
        equal(self.memory.upkeep_once().await?.failures, [""; 0])
    }

    /// Lets so much time go by that whatever upkeep put off is due, then makes the indexes follow truth.
    pub(super) async fn tend_later(&self) -> Scene {
        self.ground.clock.advance(LATER);
        self.tend().await
    }
}

pub(super) fn session(name: &str) -> Result<SessionId, Failure> {
    Ok(SessionId::new(name)?)
}

/// Returns the texts of the hits, best first.
pub(super) fn texts(found: &SearchResults) -> Vec<String> {
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

/// Searches, and returns the texts of the hits in the order of the alphabet. All stores have to answer.
pub(super) async fn found(owner: &Scoped, search: &Search) -> Result<Vec<String>, Failure> {
    let found = owner.search(search).await?;
    equal(&found.receipt.degraded, &vec![])?;
    let mut texts = texts(&found);
    texts.sort();
    Ok(texts)
}

/// Returns the kinds of the parts of a context, each once where they stand together.
pub(super) fn kinds(context: &Context) -> Vec<PartKind> {
    let mut kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    kinds.dedup();
    kinds
}

/// Passes if a message of the context holds `words`.
pub(super) fn holds(context: &Context, words: &str) -> Scene {
    check!(context.messages().any(|message| message.text().contains(words)), "no {words} in {context:#?}");
    Ok(())
}
