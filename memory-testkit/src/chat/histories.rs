//! Random histories: whatever happened, a session reads as the model says.

use std::sync::Arc;

use memory_core::store::chat::{Compaction, Edge, NewMessage, Page, SessionState, View};
use memory_core::{CounterId, Error, Message, Role, Seq, SeqRange, StoredMessage, Timestamp};

use super::model::Model;
use super::talk::{NOON, Talk, equal_rows};
use crate::check::{Failure, Scene, equal};
use crate::generate::{self, Random};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    s2_9_reads_any_history_as_the_model_does,
    moves_any_history_to_another_owner,
    filters_as_the_definition_does,
]);

const HISTORIES: usize = 12;
const STEPS: usize = 40;

/// A session, and what should be in it.
struct Run {
    talk: Talk,
    model: Model,
    random: Random,
    summaries: Vec<NewMessage>,
    messages: Vec<NewMessage>,
}

async fn s2_9_reads_any_history_as_the_model_does(bed: Bed<Chat>) -> Scene {
    let mut random = Random::new(bed.seed);
    for number in 0..HISTORIES {
        let mut run = Run::new(Talk::new(&bed, "ada", &format!("history {number}"))?, &mut random);
        for _ in 0..STEPS {
            run.step().await?;
            for _ in 0..3 {
                let page = run.draw_page();
                run.compare(&page).await?;
            }
        }
        run.compare_all().await?;
    }
    Ok(())
}

async fn moves_any_history_to_another_owner(bed: Bed<Chat>) -> Scene {
    let mut random = Random::new(bed.seed);
    for number in 0..HISTORIES / 2 {
        let mut run = Run::new(Talk::new(&bed, "ada", &format!("history {number}"))?, &mut random);
        for _ in 0..STEPS / 2 {
            run.step().await?;
        }
        let rows = run.talk.rows(View::All).await?;
        run.talk = Talk { scope: bed.scope("bob")?, ..run.talk };
        let parts = rows.chunk_by(|one, next| one.seq == next.seq).collect::<Vec<_>>();
        for part in parts.chunks(1 + random.below(10)) {
            run.talk.chat.store().restore(&run.talk.scope, &run.talk.session, None, &part.concat()).await?;
        }
        run.model.moved();
        equal_rows(&run.talk.rows(View::All).await?, &run.model.rows(View::All))?;
        run.talk.in_order().await?;
        for _ in 0..STEPS / 2 {
            run.step().await?;
        }
        equal_rows(&run.talk.rows(View::All).await?, &run.model.rows(View::All))?;
    }
    Ok(())
}

async fn filters_as_the_definition_does(bed: Bed<Chat>) -> Scene {
    let mut run = Run::new(Talk::plain(&bed)?, &mut Random::new(bed.seed));
    for _ in 0..30 {
        run.append().await?;
    }
    for _ in 0..5 {
        run.fold().await?;
        run.redact().await?;
    }
    for _ in 0..250 {
        let filter = Some(generate::filter(&mut run.random, 3));
        let page = Page { filter, ..run.draw_page() };
        run.compare(&page).await?;
    }
    Ok(())
}

impl Run {
    fn new(talk: Talk, random: &mut Random) -> Self {
        let model = Model::new(&talk.session);
        let random = Random::new(random.number());
        Self { talk, model, random, summaries: Vec::new(), messages: Vec::new() }
    }

    async fn step(&mut self) -> Scene {
        match self.random.below(12) {
            0..=3 => self.append().await,
            4 | 5 => self.fold().await,
            6 => self.fold_badly().await,
            7 => self.unfold().await,
            8 | 9 => self.redact().await,
            10 => self.repeat().await,
            _ if self.random.chance(1, 8) => self.delete().await,
            _ => self.append().await,
        }
    }

    /// Returns a message of any role with random metadata, at any time.
    fn draw(&mut self) -> NewMessage {
        let random = &mut self.random;
        let role = random.pick(&["user", "assistant", "system", "tool"]);
        let text = "word ".repeat(random.below(6));
        let at = Timestamp(NOON.0 + random.below(1_000) as i64);
        let mut message = Message::new(Role::from_name(role).unwrap_or(Role::User), text, at);
        message.metadata = generate::metadata(random);
        message.speaker = random.chance(1, 3).then(|| generate::name(random));
        message.agent = random.chance(1, 3).then(|| generate::name(random));
        message.run = random.chance(1, 3).then(|| generate::name(random));
        let (tokens, counter) = (random.below(20) as u64, CounterId(random.below(3) as u32));
        NewMessage { message: Arc::new(message), tokens, counter }
    }

    async fn append(&mut self) -> Scene {
        let batch: Vec<_> = (0..1 + self.random.below(4)).map(|_| self.draw()).collect();
        batch.iter().for_each(|new| self.model.append(new));
        let state = self.talk.append(&batch).await?.state;
        self.messages.extend(batch);
        equal((state.head, state.active_messages, state.active_tokens, state.last_at), self.model.counters())
    }

    /// Draws a stretch that can be folded, with the ids of what is active in it.
    fn stretch(&mut self) -> Option<(SeqRange, Vec<StoredMessage>)> {
        let active = self.model.rows(View::Active);
        let from = self.random.below(active.len());
        let count = 1 + self.random.below(active.len().saturating_sub(from).min(8));
        let rows: Vec<_> = active.into_iter().skip(from).take(count).collect();
        let (first, last) = (rows.first()?, rows.last()?);
        let first = first.covers.map_or(first.seq, |covers| covers.first);
        Some((SeqRange { first, last: last.seq }, rows))
    }

    async fn fold(&mut self) -> Scene {
        let Some((span, rows)) = self.stretch() else { return Ok(()) };
        let summary = self.draw();
        self.model.fold(span, &summary);
        let ids = rows.iter().map(|row| row.id).collect();
        let SessionState { fence, revision, .. } = self.talk.state().await?;
        let change = Compaction::Fold { fence, span, ids, summary: summary.clone() };
        let state = self.talk.compact(&change).await?;
        check!(state.revision > revision, "a fold left the revision at {revision}");
        equal(self.talk.compact(&change).await?, state)?;
        self.summaries.push(summary);
        Ok(())
    }

    /// Folds what must not be folded: other rows than are active, or a stretch that ends elsewhere.
    async fn fold_badly(&mut self) -> Scene {
        let Some((span, rows)) = self.stretch() else { return Ok(()) };
        let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let mut wrong = span;
        match self.random.below(3) {
            0 => drop(ids.pop()),
            1 => ids.push(self.draw().message.id),
            _ => wrong.last = Seq(self.model.head().0 + 1),
        }
        let fence = self.talk.state().await?.fence;
        let change = Compaction::Fold { fence, span: wrong, ids, summary: self.draw() };
        fails!(self.talk.compact(&change).await, Error::Conflict);
        Ok(())
    }

    async fn unfold(&mut self) -> Scene {
        let Some(summary) = self.pick_summary() else { return Ok(()) };
        let row = self.model.rows(View::All).into_iter().find(|row| row.id == summary.message.id);
        let answer = self.talk.unfold(&summary).await;
        if row.is_some_and(|row| row.archived_by.is_some()) {
            fails!(answer, Error::Conflict);
            return Ok(());
        }
        self.model.unfold(summary.message.id);
        equal(answer?.active_messages, self.model.counters().1)
    }

    async fn redact(&mut self) -> Scene {
        let mut wanted = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let place = self.random.below(self.messages.len());
            wanted.extend(self.messages.get(place).map(|new| new.message.id));
        }
        if self.random.chance(1, 4) {
            wanted.extend(self.pick_summary().map(|summary| summary.message.id));
        }
        let promised: Vec<_> = wanted.iter().copied().filter(|id| self.model.redact(*id)).collect();
        let touched = self.talk.chat.store().redact(&self.talk.scope, &wanted).await?;
        equal(touched.iter().map(|touched| touched.id).collect::<Vec<_>>(), promised)
    }

    /// Appends once more what was appended before, with a count of another counter.
    async fn repeat(&mut self) -> Scene {
        let from = self.random.below(self.messages.len());
        let batch: Vec<_> = self.messages.iter().skip(from).take(3).cloned().collect();
        let again: Vec<_> =
            batch.into_iter().map(|new| NewMessage { tokens: new.tokens + 1, counter: CounterId(7), ..new }).collect();
        let state = self.talk.append(&again).await?.state;
        equal((state.head, state.active_messages, state.active_tokens, state.last_at), self.model.counters())
    }

    async fn delete(&mut self) -> Scene {
        let before = self.talk.state().await?;
        self.talk.delete().await?;
        let after = self.talk.state().await?;
        if before.head > Seq(0) {
            check!(after.revision > before.revision, "a deletion left the revision at {}", after.revision);
            equal(after.fence.generation, before.fence.generation + 1)?;
        }
        self.model = Model::new(&self.talk.session);
        self.messages.clear();
        self.summaries.clear();
        Ok(())
    }

    fn pick_summary(&mut self) -> Option<NewMessage> {
        let place = self.random.below(self.summaries.len());
        self.summaries.get(place).cloned()
    }

    fn draw_page(&mut self) -> Page {
        let random = &mut self.random;
        let seq = Seq(random.below(self.model.head().0 as usize + 3) as u64);
        let edge = random.pick(&[Some(Edge::Newest), Some(Edge::Before(seq)), Some(Edge::After(seq))]);
        let view = random.pick(&[View::Active, View::Pinned, View::Log, View::All].map(Some));
        Page {
            edge: edge.unwrap_or(Edge::Newest),
            limit: random.pick(&[0, 1, 2, 5, 10, 1_000, usize::MAX]),
            tokens: random.chance(1, 2).then(|| random.below(60) as u64),
            view: view.unwrap_or(View::Active),
            filter: random.chance(1, 3).then(|| generate::filter(random, 2)),
        }
    }

    async fn compare(&self, page: &Page) -> Scene {
        let found = self.talk.read(page).await?;
        let promised = self.model.page(page);
        if found == promised {
            return Ok(());
        }
        let short = |rows: &[StoredMessage]| rows.iter().map(|row| (row.seq.0, row.id)).collect::<Vec<_>>();
        let (found, promised) = (short(&found), short(&promised));
        Err(Failure::new(format!("{page:?}\n    found    {found:?}\n    promised {promised:?}")))
    }

    async fn compare_all(&mut self) -> Scene {
        for view in [View::Active, View::Pinned, View::Log, View::All] {
            equal_rows(&self.talk.rows(view).await?, &self.model.rows(view))?;
        }
        let state = self.talk.state().await?;
        equal((state.head, state.active_messages, state.active_tokens, state.last_at), self.model.counters())?;
        self.talk.in_order().await
    }
}
