//! Copies one owner and reads the copy back.

use std::collections::HashMap;

use memory::chat::{ChatStore, Page, View};
use memory::record::RecordStore;
use memory::{Epoch, Error, Filter, MessageId, RecordId, Scope, Seq, SessionId, StoredMessage, StoredRecord, Stores};

use super::report::Moved;
use super::sum::Sum;
use crate::failure::Failure;
use crate::import::Progress;

/// Rows and records that are moved together.
const PAGE: usize = 500;
/// Tokens after which a page of rows ends: long messages are not held in memory by the hundred.
const PAGE_TOKENS: u64 = 500_000;

/// Copies owners from one set of stores into another.
pub(super) struct Copy<'a> {
    source: &'a Stores,
    target: &'a Stores,
    has_records: bool,
    progress: &'a Progress,
    /// Rows and records known to be in the target.
    done: u64,
}

impl<'a> Copy<'a> {
    pub(super) fn new(source: &'a Stores, target: &'a Stores, has_records: bool, progress: &'a Progress) -> Self {
        Self { source, target, has_records, progress, done: 0 }
    }

    /// Copies an owner. What cannot be made the same is told in the report; a store that fails ends the move.
    pub(super) async fn owner(&mut self, scope: &Scope) -> Result<Moved, Failure> {
        let mut moved = Moved::default();
        if let Some(problem) = self.align(scope).await? {
            moved.problems.push(problem);
            return Ok(moved);
        }
        let mut after: Option<SessionId> = None;
        loop {
            let sessions = self.source.chat.store().sessions(scope, after.as_ref(), PAGE).await?;
            let Some(last) = sessions.last() else { break };
            after = Some(last.session.clone());
            for state in &sessions {
                self.session(scope, &state.session, &mut moved).await?;
            }
        }
        self.records(scope, &mut moved).await?;
        Ok(moved)
    }

    /// Brings the target's epoch up to the source's, so that an erasure moves too; returns why that cannot be.
    ///
    /// Nothing is erased here: where the target holds data of an owner erased at the source since, a person decides.
    async fn align(&self, scope: &Scope) -> Result<Option<String>, Failure> {
        let (source, target) = (epoch(self.source, scope).await?, epoch(self.target, scope).await?);
        if target > source {
            return Ok(Some("forgotten in the target since: copying would bring it back".to_owned()));
        }
        if target == source {
            return Ok(None);
        }
        if self.target_holds(scope).await? {
            let what = "forgotten in the source since it was copied: forget it in the target, then move again";
            return Ok(Some(what.to_owned()));
        }
        // Raises the epoch of an owner of whom there is nothing, in one step however many erasures there were.
        self.target.chat.store().erase(scope, source).await?;
        if let Some(records) = &self.target.records {
            records.store().erase(scope, source).await?;
        }
        Ok(None)
    }

    async fn target_holds(&self, scope: &Scope) -> Result<bool, Failure> {
        if !self.target.chat.store().sessions(scope, None, 1).await?.is_empty() {
            return Ok(true);
        }
        let Some(records) = &self.target.records else { return Ok(false) };
        Ok(!records.store().scan(scope, &Filter::All, None, 1).await?.is_empty())
    }

    async fn session(&mut self, scope: &Scope, session: &SessionId, moved: &mut Moved) -> Result<(), Failure> {
        moved.sessions += 1;
        let (here, there) = (self.source.chat.store(), self.target.chat.store());
        let head = there.read(scope, session, &Page::newest(0)).await?.state.head;
        let (mut sum, mut restored) = self.rows(scope, session, head).await?;
        let mut is_same = restored.is_ok() && sum == sum_of(there.as_ref(), scope, session).await?;
        if !is_same && is_older_copy(here.as_ref(), there.as_ref(), scope, session).await? {
            there.delete(scope, session).await?;
            (sum, restored) = self.rows(scope, session, Seq(0)).await?;
            is_same = restored.is_ok() && sum == sum_of(there.as_ref(), scope, session).await?;
        }
        if !is_same {
            let why = restored.err().map(|error| format!(": {}", error.with_causes())).unwrap_or_default();
            moved.problems.push(format!("the session {} has another past in the target{why}", session.name()));
        }
        moved.rows.add_sum(&sum);
        Ok(())
    }

    /// Copies the rows behind `head`, and returns the checksum of all rows with what the target said.
    async fn rows(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        head: Seq,
    ) -> Result<(Sum, Result<(), Error>), Failure> {
        let (mut sum, mut after, mut outcome) = (Sum::default(), Seq(0), Ok(()));
        loop {
            let rows = page(self.source.chat.store().as_ref(), scope, session, after).await?;
            let Some(last) = rows.last() else { return Ok((sum, outcome)) };
            after = last.seq;
            rows.iter().for_each(|row| sum.add_message(row));
            if last.seq > head && outcome.is_ok() {
                let restored = self.target.chat.store().restore(scope, session, &rows).await;
                outcome = unless_differing(restored.map(drop))?;
            }
            self.done += rows.len() as u64;
            self.progress.committed(self.done, 0);
        }
    }

    async fn records(&mut self, scope: &Scope, moved: &mut Moved) -> Result<(), Failure> {
        let Some(here) = &self.source.records else { return Ok(()) };
        let there = self.target.records.as_ref().filter(|_| self.has_records);
        let (mut accesses, mut after) = (Sum::default(), None);
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
            restore(there.store().as_ref(), scope, &rows, &mut moved.problems).await?;
            self.done += rows.len() as u64;
            self.progress.committed(self.done, 0);
        }
        let Some(there) = there else { return Ok(()) };
        let (content, used) = sums_of(there.store().as_ref(), scope).await?;
        if content != moved.records {
            let (here, there) = (moved.records.count, content.count);
            moved.problems.push(format!("the records differ: {here} in the source, {there} in the target"));
        } else if used != accesses {
            // A record that was there already keeps its own count.
            self.progress.say("warning: some records were used in one database alone; their counts differ");
        }
        Ok(())
    }
}

async fn epoch(stores: &Stores, scope: &Scope) -> Result<Epoch, Failure> {
    let chat = stores.chat.upkeep().epoch(scope).await?;
    let Some(records) = &stores.records else { return Ok(chat) };
    Ok(chat.max(records.upkeep().epoch(scope).await?))
}

/// Passes on failures of a store; that the content is another is an answer.
fn unless_differing(answer: Result<(), Error>) -> Result<Result<(), Error>, Failure> {
    match answer {
        Ok(()) => Ok(Ok(())),
        Err(error @ (Error::Conflict | Error::IdConflict { .. })) => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
}

/// Restores records together, or where one is in the way, one by one.
async fn restore(
    store: &dyn RecordStore,
    scope: &Scope,
    rows: &[StoredRecord],
    problems: &mut Vec<String>,
) -> Result<(), Failure> {
    if unless_differing(store.restore(scope, rows).await)?.is_ok() {
        return Ok(());
    }
    for row in rows.chunks(1) {
        if let Err(error) = unless_differing(store.restore(scope, row).await)? {
            let id = row.first().map(|stored| stored.record.id.to_string()).unwrap_or_default();
            problems.push(format!("the record {id} is another in the target: {}", error.with_causes()));
        }
    }
    Ok(())
}

async fn page(
    store: &dyn ChatStore,
    scope: &Scope,
    session: &SessionId,
    after: Seq,
) -> Result<Vec<StoredMessage>, Failure> {
    let page = Page::after(after, PAGE, View::All).within(PAGE_TOKENS);
    Ok(store.read(scope, session, &page).await?.messages)
}

async fn sum_of(store: &dyn ChatStore, scope: &Scope, session: &SessionId) -> Result<Sum, Failure> {
    let (mut sum, mut after) = (Sum::default(), Seq(0));
    loop {
        let rows = page(store, scope, session, after).await?;
        let Some(last) = rows.last() else { return Ok(sum) };
        after = last.seq;
        rows.iter().for_each(|row| sum.add_message(row));
    }
}

async fn sums_of(store: &dyn RecordStore, scope: &Scope) -> Result<(Sum, Sum), Failure> {
    let (mut content, mut accesses, mut after): (Sum, Sum, Option<RecordId>) = Default::default();
    loop {
        let rows = store.scan(scope, &Filter::All, after, PAGE).await?;
        let Some(last) = rows.last() else { return Ok((content, accesses)) };
        after = Some(last.record.id);
        rows.iter().for_each(|stored| content.add_record(stored));
        rows.iter().for_each(|stored| accesses.add_accesses(stored));
    }
}

/// Returns whether every row of the target stands in the source at the same place: then the target's session can only
/// be a copy from before the source was summarised further or forgot something, and may be made anew.
async fn is_older_copy(
    here: &dyn ChatStore,
    there: &dyn ChatStore,
    scope: &Scope,
    session: &SessionId,
) -> Result<bool, Failure> {
    let (mut places, mut after) = (HashMap::<MessageId, (Seq, bool)>::new(), Seq(0));
    loop {
        let rows = page(here, scope, session, after).await?;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        places.extend(rows.iter().map(|row| (row.id, (row.seq, row.message.is_some()))));
    }
    after = Seq(0);
    loop {
        let rows = page(there, scope, session, after).await?;
        let Some(last) = rows.last() else { return Ok(true) };
        after = last.seq;
        let is_known = |row: &StoredMessage| match places.get(&row.id) {
            // What the target forgot stays forgotten.
            Some((seq, has_content)) => *seq == row.seq && (row.message.is_some() || !has_content),
            None => false,
        };
        if !rows.iter().all(is_known) {
            return Ok(false);
        }
    }
}
