//! The actor of conversation stores.

use async_trait::async_trait;
use memory_core::store::chat::{Append, Compaction, NewMessage, Page, Placement, View};
use memory_core::{Error, Message, MessageId, Result, Role, Seq, SeqRange, SessionId, StoredMessage};
use std::collections::BTreeMap;
use uuid::Uuid;

use super::actor::Actor;
use super::owner::{NOON, Owner};
use crate::chat::model::Model;
use crate::generate::Random;
use crate::upkeep::bury;
use crate::{Chat, Failure, Scene, equal};

/// The names of the sessions of every owner.
const SESSIONS: [&str; 3] = ["s", "s%", "s:1"];

pub(super) struct MessageActor {
    store: Chat,
    owner: Owner,
    models: BTreeMap<SessionId, Model>,
    folds: u64,
}

impl MessageActor {
    pub(super) fn new(store: Chat, owner: Owner) -> Self {
        Self { store, owner, models: BTreeMap::new(), folds: 0 }
    }

    fn session(random: &mut Random) -> Result<SessionId> {
        SessionId::new(random.pick(&SESSIONS))
    }

    /// Returns the message that belongs to an id: an id is always said in one session with one content.
    fn message(&self, id: Uuid, session: &SessionId) -> NewMessage {
        let id = Uuid::new_v5(&id, session.name().as_bytes());
        let text = format!("{} says {id}", self.owner.mark);
        let message =
            Message::new(Role::User, text, NOON).with_id(MessageId(id)).with_metadata("owner", &*self.owner.mark);
        NewMessage::sized(message, 3)
    }

    fn ids(&self, random: &mut Random) -> Result<Vec<MessageId>> {
        let mut ids = Vec::new();
        for _ in 0..random.below(4) {
            let (id, session) = (self.owner.any_id(random), Self::session(random)?);
            ids.push(MessageId(Uuid::new_v5(&id, session.name().as_bytes())));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn row(&self, id: MessageId) -> Option<StoredMessage> {
        self.models.values().find_map(|model| model.rows(View::All).into_iter().find(|row| row.id == id))
    }

    async fn append(&mut self, random: &mut Random) -> Scene {
        let session = Self::session(random)?;
        let mut messages: Vec<NewMessage> = Vec::new();
        for _ in 0..1 + random.below(3) {
            let new = self.message(self.owner.id(random), &session);
            if !messages.contains(&new) {
                messages.push(new);
            }
        }
        let model = self.models.entry(session.clone()).or_insert_with(|| Model::new(&session));
        let stored = model.rows(View::All);
        let promised: Vec<Placement> = messages
            .iter()
            .map(|new| match stored.iter().find(|row| row.id == new.message.id) {
                Some(row) if row.message.is_some() => Placement::Already(row.seq),
                Some(_) => Placement::Forgotten,
                None => {
                    model.append(new);
                    Placement::Added(model.head())
                }
            })
            .collect();
        let appended = self.store.store().append(&self.owner.scope, &session, &Append::new(messages)).await?;
        // What is queued has its number later.
        let promised = promised.into_iter().zip(&appended.placements);
        let promised = promised.map(|(promised, found)| if *found == Placement::Queued { *found } else { promised });
        equal(&appended.placements, &promised.collect::<Vec<_>>())
    }

    async fn read(&self, random: &mut Random) -> Scene {
        let session = Self::session(random)?;
        let view = [View::Log, View::All].get(random.below(4)).copied().unwrap_or(View::Active);
        let page = match random.below(3) {
            0 => Page::before(Seq(random.below(12) as u64), random.below(6), view),
            1 => Page::after(Seq(random.below(12) as u64), random.below(6), view),
            _ => Page { view, ..Page::newest(1 + random.below(40)) },
        };
        self.compare(&session, &page).await
    }

    async fn compare(&self, session: &SessionId, page: &Page) -> Scene {
        let found = self.store.store().read(&self.owner.scope, session, page).await?.messages;
        let texts = found.iter().filter_map(|row| row.message.as_ref()).map(|message| message.text());
        texts.into_iter().try_for_each(|text| self.owner.wrote(&text))?;
        equal(found, self.models.get(session).map(|model| model.page(page)).unwrap_or_default())
    }

    async fn get(&self, random: &mut Random) -> Scene {
        let ids = self.ids(random)?;
        let found = self.store.store().get(&self.owner.scope, &ids).await?.messages;
        let promised: Vec<_> =
            ids.into_iter().filter_map(|id| self.row(id)).filter(|row| row.message.is_some()).collect();
        equal(found, promised)
    }

    /// Folds the oldest active rows, now and then with an id among them that is not there.
    async fn fold(&mut self, random: &mut Random) -> Scene {
        let session = Self::session(random)?;
        let Some(model) = self.models.get_mut(&session) else { return Ok(()) };
        let rows: Vec<_> = model.rows(View::Active).into_iter().take(1 + random.below(3)).collect();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(()) };
        let span = SeqRange { first: first.covers.map_or(first.seq, |covers| covers.first), last: last.seq };
        let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let is_foreign = random.chance(1, 4);
        if is_foreign {
            ids.pop();
            ids.push(MessageId(Uuid::new_v5(&Uuid::from_u64_pair(1, 0), self.owner.mark.as_bytes())));
        }
        self.folds += 1;
        let text = format!("{} sums up {}", self.owner.mark, self.folds);
        let id = MessageId::of_content(text.as_bytes());
        let summary = NewMessage::sized(Message::new(Role::System, text, NOON).with_id(id), 1);
        let fence = self.store.store().read(&self.owner.scope, &session, &Page::newest(0)).await?.state.fence;
        let change = Compaction::Fold { fence, span, ids, summary: summary.clone() };
        let answer = self.store.store().compact(&self.owner.scope, &session, &change).await;
        if is_foreign {
            fails!(answer, Error::Conflict);
            return Ok(());
        }
        model.fold(span, &summary);
        equal(answer?.active_messages, model.counters().1)
    }

    async fn redact(&mut self, random: &mut Random) -> Scene {
        let ids = self.ids(random)?;
        let touched = self.store.store().redact(&self.owner.scope, &ids).await?;
        let models = &mut self.models;
        let promised: Vec<_> =
            ids.into_iter().filter(|id| models.values_mut().any(|model| model.redact(*id))).collect();
        equal(touched.into_iter().map(|touched| touched.id).collect::<Vec<_>>(), promised)
    }

    async fn delete(&mut self, random: &mut Random) -> Scene {
        let session = Self::session(random)?;
        let seen = self.store.store().read(&self.owner.scope, &session, &Page::newest(0)).await?.state;
        let deleted = self.store.store().delete(&self.owner.scope, &seen).await?;
        let rows = self.models.remove(&session).map(|model| model.rows(View::All)).unwrap_or_default();
        let held = rows.iter().filter(|row| row.message.is_some() && row.covers.is_none()).count();
        check!((held..=rows.len()).contains(&(deleted as usize)), "{deleted} messages were deleted of {held}");
        Ok(())
    }

    async fn sessions(&self) -> Scene {
        let found = self.store.store().sessions(&self.owner.scope, None, 100).await?;
        let found: Vec<_> = found.into_iter().map(|state| (state.session, state.head)).collect();
        let held = self.models.iter().map(|(session, model)| (session.clone(), model.head()));
        equal(found, held.filter(|(_, head)| *head > Seq(0)).collect::<Vec<_>>())
    }
}

#[async_trait]
impl Actor for MessageActor {
    async fn step(&mut self, random: &mut Random) -> Scene {
        match random.below(100) {
            0..=24 => self.append(random).await,
            25..=59 => self.read(random).await,
            60..=74 => self.get(random).await,
            75..=79 => self.sessions().await,
            80..=86 => self.fold(random).await,
            87..=93 => self.redact(random).await,
            94..=98 => self.delete(random).await,
            _ => self.erase().await,
        }
    }

    async fn audit(&mut self) -> Scene {
        self.sessions().await?;
        for name in SESSIONS {
            let session = SessionId::new(name)?;
            for view in [View::Active, View::Pinned, View::Log, View::All] {
                self.compare(&session, &Page { view, ..Page::newest(1_000) }).await?;
            }
        }
        Ok(())
    }

    async fn erase(&mut self) -> Scene {
        let epoch = bury(self.store.upkeep(), &self.owner.scope).await?;
        let erased = self.store.store().erase(&self.owner.scope, epoch).await?;
        self.models.clear();
        if erased.remaining == 0 { Ok(()) } else { Err(Failure::new(format!("{} rows remain", erased.remaining))) }
    }
}
