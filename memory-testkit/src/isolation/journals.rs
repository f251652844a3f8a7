//! The actor of journals.

use async_trait::async_trait;
use memory_core::store::chat::{Append, NewMessage};
use memory_core::store::journal::Queued;
use memory_core::{Message, MessageId, Result, Role, SessionId};

use super::actor::Actor;
use super::owner::{NOON, Owner};
use crate::generate::Random;
use crate::journal::EVER;
use crate::{Failure, Journals, Scene, equal};

/// More than one owner ever has in the queue.
const MANY: usize = 100;
/// What one owner has in the queue at the most, about.
const FULL: usize = 8;

pub(super) struct JournalActor {
    store: Journals,
    owner: Owner,
    queued: Vec<Queued>,
    rejected: Vec<Queued>,
}

impl JournalActor {
    pub(super) fn new(store: Journals, owner: Owner) -> Self {
        Self { store, owner, queued: Vec::new(), rejected: Vec::new() }
    }

    fn session(random: &mut Random) -> Result<SessionId> {
        SessionId::new(random.pick(&["s", "s%", "s:1"]))
    }

    /// The text names the owner by its key, so that a page of all owners can be checked too.
    fn message(&self, random: &mut Random) -> NewMessage {
        let text = format!("{} queues {}", self.owner.scope.key(), random.below(1_000));
        let message = Message::new(Role::User, text, NOON).with_id(MessageId(self.owner.id(random)));
        NewMessage::sized(message, 3)
    }

    async fn push(&mut self, random: &mut Random) -> Scene {
        let (session, scope) = (Self::session(random)?, self.owner.scope.clone());
        let messages: Vec<_> = (0..1 + random.below(2)).map(|_| self.message(random)).collect();
        let batch = Append::new(messages);
        self.store.push(&scope, &session, &batch).await?;
        let found = self.store.queued(Some(&scope), None, MANY).await?;
        let last = found.len().saturating_sub(batch.messages.len());
        let added = found.into_iter().skip(last).zip(batch.messages);
        for (queued, new) in added {
            let (scope, session, number) = (scope.clone(), session.clone(), queued.number);
            let expected = Queued { number, scope, session, fence: None, asked: 0, new };
            equal(&queued, &expected)?;
            self.queued.push(queued);
        }
        Ok(())
    }

    async fn compare(&self, session: Option<&SessionId>, limit: usize) -> Scene {
        let found = self.store.queued(Some(&self.owner.scope), session, limit).await?;
        let own = self.queued.iter().filter(|queued| session.is_none_or(|session| queued.session == *session));
        equal(found, own.take(limit).cloned().collect::<Vec<_>>())
    }

    /// Looks at the messages of all owners: each belongs to the owner whom it names.
    async fn survey(&self) -> Scene {
        let mut found = self.store.queued(None, None, MANY).await?;
        found.extend(self.store.rejected(None, MANY).await?.into_iter().map(|rejection| rejection.queued));
        let stray = found.iter().find(|queued| !queued.new.message.text().starts_with(queued.scope.key()));
        stray.map_or(Ok(()), |queued| Err(Failure::new(format!("{:?} is another owner's", queued.scope))))
    }

    async fn reject(&mut self) -> Scene {
        let Some(first) = self.queued.first().cloned() else { return Ok(()) };
        self.store.reject(first.number, "no").await?;
        self.queued.retain(|queued| queued.number != first.number);
        self.rejected.push(first);
        Ok(())
    }

    async fn revive(&mut self) -> Scene {
        let numbers: Vec<_> = self.rejected.iter().map(|queued| queued.number).collect();
        self.store.revive(&numbers.iter().map(|number| (*number, None)).collect::<Vec<_>>()).await?;
        let revived = std::mem::take(&mut self.rejected);
        let found = self.store.queued(Some(&self.owner.scope), None, MANY).await?;
        let back = found.into_iter().skip(self.queued.len());
        let renumbered: Vec<_> =
            back.zip(revived).map(|(found, held)| Queued { number: found.number, ..held }).collect();
        self.queued.extend(renumbered);
        self.compare(None, MANY).await
    }

    async fn forget(&mut self, session: Option<&SessionId>) -> Scene {
        let removed = self.store.erase(&self.owner.scope, session, EVER).await?;
        let before = self.queued.len() + self.rejected.len();
        let stays = |queued: &Queued| session.is_some_and(|session| queued.session != *session);
        self.queued.retain(stays);
        self.rejected.retain(stays);
        equal(removed, (before - self.queued.len() - self.rejected.len()) as u64)
    }
}

#[async_trait]
impl Actor for JournalActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        match random.below(100) {
            0..=29 if self.queued.len() < FULL => self.push(random).await,
            0..=59 => {
                let session = if random.chance(1, 2) { Some(Self::session(random)?) } else { None };
                self.compare(session.as_ref(), random.below(12)).await
            }
            60 => self.survey().await,
            61..=84 => {
                let done: Vec<_> = self.queued.drain(..self.queued.len().min(2)).map(|queued| queued.number).collect();
                Ok(self.store.acknowledge(&done).await?)
            }
            85..=92 => self.reject().await,
            93..=95 => self.revive().await,
            96..=98 => {
                let session = Self::session(random)?;
                self.forget(Some(&session)).await
            }
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        self.compare(None, MANY).await
    }

    async fn erase(&mut self) -> Scene {
        self.forget(None).await
    }
}
