//! Copies owners from one set of stores into another, and reads the copy back.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use memory_core::layer::{CacheLayer, CachePolicy};
use memory_core::store::chat::{Page, SessionState};
use memory_core::store::records::{RecordStore, Replace};
use memory_core::{Epoch, Error, Filter, RecordId, Result, Scope, Seq, SessionId, StoredRecord, Stores};

use super::checksum::Checksum;
use super::extra;
use super::moved::{Moved, on_board};
use super::older::Pair;
use super::problem::Problem;
use super::rows::{Interrupted, sum_of};
use super::session_reader::{SessionReader, TRIES};

/// Sessions and records that are moved together.
const PAGE: usize = 500;

/// Copies owners from one set of stores into another, with checksums. Safe to do again, also after a kill: what is
/// there already stays.
///
/// The indexes of the target follow with the upkeep of a memory over it.
pub struct Move<'a> {
    source: &'a Stores,
    target: Stores,
    /// Whether records are copied.
    has_records: bool,
    /// Whether what the source does not hold is removed from the target.
    mirror: bool,
    progress: &'a (dyn Fn(u64) + Send + Sync),
    /// Rows and records known to be in the target.
    done: u64,
    /// Those of the owners that are moved. A call that is made again counts the others anew.
    of_owners: u64,
    began: Began,
}

/// The epochs of the target when the move of an owner began: an erasure that comes meanwhile ends it.
#[derive(Clone, Copy, Debug, Default)]
struct Began {
    /// Of conversations.
    said: Epoch,
    /// Of records.
    known: Epoch,
}

impl fmt::Debug for Move<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, target, has_records, mirror, progress: _, done, of_owners, began } = self;
        f.debug_struct("Move")
            .field("source", source)
            .field("target", target)
            .field("has_records", has_records)
            .field("mirror", mirror)
            .field("done", done)
            .field("of_owners", of_owners)
            .field("began", began)
            .finish()
    }
}

impl<'a> Move<'a> {
    /// Returns a move that copies conversations, and records where the target holds them, and removes nothing.
    pub fn new(source: &'a Stores, mut target: Stores) -> Self {
        if let Some(cache) = &target.cache {
            // What a cache holds of the target is taken back by every change.
            let layer = CacheLayer::new(Arc::clone(cache), CachePolicy::default());
            target.chat = target.chat.map(|chat| layer.chat(chat));
            target.records = target.records.map(|records| layer.records(records));
        }
        let has_records = target.records.is_some();
        let began = Began::default();
        Self { source, target, has_records, mirror: false, progress: &|_| {}, done: 0, of_owners: 0, began }
    }

    /// Leaves records behind.
    #[must_use]
    pub fn conversations_alone(self) -> Self {
        Self { has_records: false, ..self }
    }

    /// Removes from the target what the source does not hold of an owner, for good.
    #[must_use]
    pub fn mirroring(self) -> Self {
        Self { mirror: true, ..self }
    }

    /// Calls `progress` behind every page with the rows and records that are known to be in the target so far. Where a session is
    /// read again from its beginning, because somebody changed it meanwhile, they are fewer than before.
    #[must_use]
    pub fn watched(self, progress: &'a (dyn Fn(u64) + Send + Sync)) -> Self {
        Self { progress, ..self }
    }

    /// Returns whether records are copied.
    pub fn has_records(&self) -> bool {
        self.has_records
    }

    /// Copies an owner, reads the copy back, and returns what became of it.
    ///
    /// # Errors
    /// What a store fails with; `Fenced` if the owner was erased in the target meanwhile, or a session was deleted there. The same
    /// call goes on from there.
    pub async fn owner(&mut self, scope: &Scope) -> Result<Moved> {
        let mut moved = Moved::default();
        self.done = self.of_owners;
        if let Some(problem) = self.align(scope).await? {
            moved.problems.push(problem);
            return Ok(moved);
        }
        self.began = self.begin(scope).await?;
        if self.began.said.max(self.began.known) > epoch(self.source, scope).await? {
            moved.problems.push(Problem::ForgottenInTarget);
            return Ok(moved);
        }
        if self.mirror && !holds(self.source, scope).await? && holds(&self.target, scope).await? {
            moved.problems.push(Problem::EmptySource);
            return Ok(moved);
        }
        let (mut known, mut after): (HashSet<SessionId>, Option<SessionId>) = (HashSet::new(), None);
        loop {
            let sessions = self.source.chat()?.store().sessions(scope, after.as_ref(), PAGE).await?;
            let Some(last) = sessions.last() else { break };
            after = Some(last.session.clone());
            for state in sessions {
                self.session(scope, &state, &mut moved).await?;
                known.insert(state.session);
            }
        }
        extra::sessions(&self.target, scope, &known, self.mirror, &mut moved).await?;
        self.records(scope, &mut moved).await?;
        self.of_owners = self.done;
        moved.on_board = on_board(self.source, scope).await;
        Ok(moved)
    }

    /// Brings the target's epoch up to the source's, so that an erasure moves too; returns why that cannot be.
    ///
    /// Nothing is erased here: where the target holds data of an owner erased at the source since, a person decides.
    async fn align(&self, scope: &Scope) -> Result<Option<Problem>> {
        let (source, Began { said, known }) = (epoch(self.source, scope).await?, self.begin(scope).await?);
        if said.max(known) > source {
            return Ok(Some(Problem::ForgottenInTarget));
        }
        let chat = self.target.chat()?.store();
        let records = self.target.records.as_ref().filter(|_| known < source).map(|records| records.store());
        let is_said = said < source && !chat.sessions(scope, None, 1).await?.is_empty();
        let is_known = match records {
            Some(records) => !records.scan(scope, &Filter::All, None, 1).await?.is_empty(),
            None => false,
        };
        if is_said || is_known {
            return Ok(Some(Problem::ForgottenInSource));
        }
        // Raises the epoch of an owner of whom there is nothing, in one step however many erasures there were, and each by itself:
        // a move may have ended between the two. Records first: those of an epoch before that of the conversations stand for an
        // erasure that was cut off.
        if let Some(records) = records {
            records.erase(scope, source).await?;
        }
        if said < source {
            chat.erase(scope, source).await?;
        }
        Ok(None)
    }

    async fn begin(&self, scope: &Scope) -> Result<Began> {
        let said = self.target.chat()?.upkeep().epoch(scope).await?;
        let known = match &self.target.records {
            Some(records) => records.upkeep().epoch(scope).await?,
            None => Epoch::default(),
        };
        Ok(Began { said, known })
    }

    async fn session(&mut self, scope: &Scope, here: &SessionState, moved: &mut Moved) -> Result<()> {
        moved.sessions += 1;
        let before = self.done;
        for _ in 0..TRIES {
            match self.session_at_once(scope, here, before, moved).await {
                Ok(()) => return Ok(()),
                Err(Interrupted::Torn) => {}
                Err(Interrupted::Failed(error)) => return Err(error),
            }
        }
        moved.problems.push(Problem::SessionBusy(here.session.name().to_owned()));
        Ok(())
    }

    /// Copies a session, which was as it was `seen` in the source, as it is at one moment. So much was `done` before it.
    async fn session_at_once(
        &mut self,
        scope: &Scope,
        seen: &SessionState,
        done: u64,
        moved: &mut Moved,
    ) -> std::result::Result<(), Interrupted> {
        self.done = done;
        let session = &seen.session;
        let (here, there) = (self.source.chat()?.store(), Arc::clone(self.target.chat()?.store()));
        let before = there.read(scope, session, &Page::newest(0)).await?.state;
        // It was deleted in the target oftener than in the source, and never written again.
        let is_forgotten = before.head == Seq(0) && before.fence.generation > seen.fence.generation;
        if is_forgotten && !self.mirror {
            moved.problems.push(Problem::SessionForgotten(session.name().to_owned()));
            return Ok(());
        }
        let (mut sum, mut restored) = self.rows(scope, session, &before).await?;
        let mut is_same = restored.is_ok() && sum_of(there.as_ref(), scope, session).await? == sum;
        if restored.is_ok() && !is_same {
            let pair = Pair::read(here.as_ref(), there.as_ref(), scope, session).await?;
            if pair.is_older_copy() {
                restored = unless_differing(pair.follow(there.as_ref(), scope, &before).await)?;
                is_same = restored.is_ok() && sum_of(there.as_ref(), scope, session).await? == sum;
            }
        }
        if !is_same {
            let other = there.read(scope, session, &Page::newest(0)).await?.state;
            if other.fence != before.fence {
                return Err(Interrupted::Torn);
            }
            if self.mirror {
                match there.delete(scope, &other).await {
                    Err(Error::Conflict) => return Err(Interrupted::Torn),
                    answer => answer?,
                };
                let emptied = there.read(scope, session, &Page::newest(0)).await?.state;
                self.done = done;
                (sum, restored) = self.rows(scope, session, &emptied).await?;
                is_same = restored.is_ok() && sum_of(there.as_ref(), scope, session).await? == sum;
            }
        }
        if !is_same {
            moved.problems.push(Problem::OtherPast(session.name().to_owned(), restored.err()));
        }
        moved.rows.add_sum(&sum);
        Ok(())
    }

    /// Copies the rows behind those of the target, which is as `there` says, and returns the checksum of all rows with what the
    /// target said. Summaries that cover rows which are in the target's window are left out.
    async fn rows(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        there: &SessionState,
    ) -> std::result::Result<(Checksum, Result<()>), Interrupted> {
        let (mut sum, mut session_reader, mut outcome) = (Checksum::default(), SessionReader::default(), Ok(()));
        if there.fence.epoch != self.began.said {
            return Err(Error::Fenced.into());
        }
        let (source, target) = (self.source.chat()?.store(), Arc::clone(self.target.chat()?.store()));
        let mut late = (there.head == Seq(0)).then(HashSet::new);
        loop {
            let slice = source.read(scope, session, &session_reader.page()).await?;
            let mut rows = session_reader.take(slice)?;
            let Some(last) = rows.last().map(|row| row.seq) else { return Ok((sum, outcome)) };
            rows.iter().for_each(|row| sum.add_message(row));
            let count = rows.len() as u64;
            if last > there.head && outcome.is_ok() {
                let late = match &mut late {
                    Some(late) => late,
                    unread => {
                        let pair = Pair::read(source.as_ref(), target.as_ref(), scope, session).await?;
                        unread.insert(pair.late())
                    }
                };
                rows.retain(|row| !late.contains(&row.id));
                for row in &mut rows {
                    row.archived_by = row.archived_by.filter(|summary| !late.contains(summary));
                }
                let restored = target.restore(scope, session, Some(there.fence), &rows).await;
                outcome = unless_differing(restored.map(drop)).map_err(Interrupted::Failed)?;
            }
            self.done += count;
            (self.progress)(self.done);
        }
    }

    async fn records(&mut self, scope: &Scope, moved: &mut Moved) -> Result<()> {
        let Some(here) = &self.source.records else { return Ok(()) };
        let there = self.target.records.as_ref().filter(|_| self.has_records);
        let (mut accesses, mut after) = (Checksum::default(), None);
        loop {
            let rows = here.store().scan(scope, &Filter::All, after, PAGE).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.record.id);
            let Some(there) = there else {
                moved.left += rows.len() as u64;
                continue;
            };
            rows.iter().for_each(|stored| moved.records.add_record(stored));
            rows.iter().for_each(|stored| accesses.add_accesses(stored));
            restore(there.store().as_ref(), scope, self.began.known, &rows, &mut moved.problems).await?;
            self.done += rows.len() as u64;
            (self.progress)(self.done);
        }
        let Some(there) = there else { return Ok(()) };
        let extra = extra::records((self.source, &self.target), scope, self.mirror, moved).await?;
        let (content, used) = sums_of(there.store().as_ref(), scope).await?;
        if extra == 0 && content != moved.records {
            let (source, target) = (moved.records.count, content.count);
            moved.problems.push(Problem::RecordsDiffer { source, target });
        } else if used != accesses {
            // A record that was there already keeps its own count.
            moved.uses_differ = true;
        }
        Ok(())
    }
}

async fn epoch(stores: &Stores, scope: &Scope) -> Result<Epoch> {
    let chat = stores.chat()?.upkeep().epoch(scope).await?;
    let Some(records) = &stores.records else { return Ok(chat) };
    Ok(chat.max(records.upkeep().epoch(scope).await?))
}

async fn holds(stores: &Stores, scope: &Scope) -> Result<bool> {
    if !stores.chat()?.store().sessions(scope, None, 1).await?.is_empty() {
        return Ok(true);
    }
    let Some(records) = &stores.records else { return Ok(false) };
    Ok(!records.store().scan(scope, &Filter::All, None, 1).await?.is_empty())
}

/// Passes on failures of a store; that the content is another is an answer.
fn unless_differing(answer: Result<()>) -> Result<Result<()>> {
    match answer {
        Ok(()) => Ok(Ok(())),
        Err(error @ (Error::Conflict | Error::IdConflict { .. })) => Ok(Err(error)),
        Err(error) => Err(error),
    }
}

/// Restores records together, or where one is in the way, one by one.
async fn restore(
    store: &dyn RecordStore,
    scope: &Scope,
    epoch: Epoch,
    rows: &[StoredRecord],
    problems: &mut Vec<Problem>,
) -> Result<()> {
    if unless_differing(store.restore(scope, Some(epoch), rows, Replace::Older).await)?.is_ok() {
        return Ok(());
    }
    for row in rows.chunks(1) {
        if let Err(error) = unless_differing(store.restore(scope, Some(epoch), row, Replace::Older).await)? {
            problems.extend(row.first().map(|stored| Problem::OtherRecord(stored.record.id, error)));
        }
    }
    Ok(())
}

async fn sums_of(store: &dyn RecordStore, scope: &Scope) -> Result<(Checksum, Checksum)> {
    let (mut content, mut accesses, mut after): (Checksum, Checksum, Option<RecordId>) = Default::default();
    loop {
        let rows = store.scan(scope, &Filter::All, after, PAGE).await?;
        let Some(last) = rows.last() else { return Ok((content, accesses)) };
        after = Some(last.record.id);
        rows.iter().for_each(|stored| content.add_record(stored));
        rows.iter().for_each(|stored| accesses.add_accesses(stored));
    }
}
