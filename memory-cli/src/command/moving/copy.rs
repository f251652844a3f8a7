//! Copies one owner and reads the copy back.

use std::collections::{HashMap, HashSet};

use memory::store::chat::{ChatStore, Page, SessionState};
use memory::store::records::RecordStore;
use memory::{Epoch, Error, Filter, MessageId, RecordId, Scope, Seq, SessionId, StoredMessage, StoredRecord, Stores};

use super::extra;
use super::report::Moved;
use super::sum::Sum;
use crate::failure::Failure;
use crate::import::Progress;
use crate::whole::{TRIES, Torn, Whole};

/// Sessions and records that are moved together.
const PAGE: usize = 500;

/// Why a session was not copied at one moment.
enum Interrupted {
    /// It was changed meanwhile, in the source or in the target.
    Torn,
    Failed(Failure),
}

impl From<Torn> for Interrupted {
    fn from(_: Torn) -> Self {
        Self::Torn
    }
}

impl From<Error> for Interrupted {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Copies owners from one set of stores into another.
pub(super) struct Copy<'a> {
    source: &'a Stores,
    target: &'a Stores,
    has_records: bool,
    /// Whether what the source does not hold is removed from the target.
    mirror: bool,
    progress: &'a Progress,
    /// Rows and records known to be in the target.
    done: u64,
}

impl<'a> Copy<'a> {
    pub(super) fn new(source: &'a Stores, target: &'a Stores, has_records: bool, progress: &'a Progress) -> Self {
        Self { source, target, has_records, mirror: false, progress, done: 0 }
    }

    /// Removes from the target what the source does not hold, if `mirror` says so.
    pub(super) fn mirroring(self, mirror: bool) -> Self {
        Self { mirror, ..self }
    }

    /// Copies an owner. What cannot be made the same is told in the report; a store that fails ends the move.
    pub(super) async fn owner(&mut self, scope: &Scope) -> Result<Moved, Failure> {
        let mut moved = Moved::default();
        if let Some(problem) = self.align(scope).await? {
            moved.problems.push(problem);
            return Ok(moved);
        }
        if self.mirror && !holds(self.source, scope).await? && holds(self.target, scope).await? {
            let what = "the source holds nothing, so nothing is removed: `memory forget --all` does that";
            moved.problems.push(what.to_owned());
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
        extra::sessions(self.target, scope, &known, self.mirror, &mut moved).await?;
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
        if holds(self.target, scope).await? {
            let what = "forgotten in the source since it was copied: forget it in the target, then move again";
            return Ok(Some(what.to_owned()));
        }
        // Raises the epoch of an owner of whom there is nothing, in one step however many erasures there were.
        // Records first: those of an epoch before that of the conversations stand for an erasure that was cut off.
        if let Some(records) = &self.target.records {
            records.store().erase(scope, source).await?;
        }
        self.target.chat()?.store().erase(scope, source).await?;
        Ok(None)
    }

    async fn session(&mut self, scope: &Scope, here: &SessionState, moved: &mut Moved) -> Result<(), Failure> {
        moved.sessions += 1;
        let (session, name) = (&here.session, here.session.name());
        if !self.mirror && self.is_forgotten_in_target(scope, here).await? {
            moved.problems.push(format!("the session {name} was forgotten in the target: --mirror copies it again"));
            return Ok(());
        }
        for _ in 0..TRIES {
            match self.session_at_once(scope, session, moved).await {
                Ok(()) => return Ok(()),
                Err(Interrupted::Torn) => {}
                Err(Interrupted::Failed(failure)) => return Err(failure),
            }
        }
        moved.problems.push(format!("the session {name} is written to while it is copied: move again"));
        Ok(())
    }

    /// Returns whether the session was deleted in the target oftener than in the source, and never written again.
    async fn is_forgotten_in_target(&self, scope: &Scope, here: &SessionState) -> Result<bool, Failure> {
        let there = self.target.chat()?.store().read(scope, &here.session, &Page::newest(0)).await?.state;
        Ok(there.head == Seq(0) && there.fence.generation > here.fence.generation)
    }

    /// Copies a session as it is at one moment.
    async fn session_at_once(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        moved: &mut Moved,
    ) -> Result<(), Interrupted> {
        let (here, there) = (self.source.chat()?.store(), self.target.chat()?.store());
        let head = there.read(scope, session, &Page::newest(0)).await?.state.head;
        let (mut sum, mut restored) = self.rows(scope, session, head).await?;
        let copied = there.read(scope, session, &Page::newest(0)).await?.state;
        let mut is_same = restored.is_ok() && sum_of(there.as_ref(), scope, session).await? == sum;
        if !is_same && (self.mirror || is_older_copy(here.as_ref(), there.as_ref(), scope, session).await?) {
            match there.delete(scope, &copied).await {
                Err(Error::Conflict) => return Err(Interrupted::Torn),
                answer => answer?,
            };
            (sum, restored) = self.rows(scope, session, Seq(0)).await?;
            is_same = restored.is_ok() && sum_of(there.as_ref(), scope, session).await? == sum;
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
    ) -> Result<(Sum, Result<(), Error>), Interrupted> {
        let (mut sum, mut whole, mut outcome) = (Sum::default(), Whole::default(), Ok(()));
        loop {
            let slice = self.source.chat()?.store().read(scope, session, &whole.page()).await?;
            let rows = whole.take(slice)?;
            let Some(last) = rows.last() else { return Ok((sum, outcome)) };
            rows.iter().for_each(|row| sum.add_message(row));
            if last.seq > head && outcome.is_ok() {
                let restored = self.target.chat()?.store().restore(scope, session, &rows).await;
                outcome = unless_differing(restored.map(drop)).map_err(Interrupted::Failed)?;
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
        let extra = extra::records((self.source, self.target), scope, self.mirror, moved).await?;
        let (content, used) = sums_of(there.store().as_ref(), scope).await?;
        if extra == 0 && content != moved.records {
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
    let chat = stores.chat()?.upkeep().epoch(scope).await?;
    let Some(records) = &stores.records else { return Ok(chat) };
    Ok(chat.max(records.upkeep().epoch(scope).await?))
}

async fn holds(stores: &Stores, scope: &Scope) -> Result<bool, Failure> {
    if !stores.chat()?.store().sessions(scope, None, 1).await?.is_empty() {
        return Ok(true);
    }
    let Some(records) = &stores.records else { return Ok(false) };
    Ok(!records.store().scan(scope, &Filter::All, None, 1).await?.is_empty())
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

/// Gives `see` the rows of a session, a page at a time.
async fn each_row(
    store: &dyn ChatStore,
    scope: &Scope,
    session: &SessionId,
    mut see: impl FnMut(&StoredMessage),
) -> Result<(), Interrupted> {
    let mut whole = Whole::default();
    loop {
        let rows = whole.take(store.read(scope, session, &whole.page()).await?)?;
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().for_each(&mut see);
    }
}

async fn sum_of(store: &dyn ChatStore, scope: &Scope, session: &SessionId) -> Result<Sum, Interrupted> {
    let mut sum = Sum::default();
    each_row(store, scope, session, |row| sum.add_message(row)).await?;
    Ok(sum)
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
) -> Result<bool, Interrupted> {
    let mut places = HashMap::<MessageId, (Seq, bool)>::new();
    let see = |row: &StoredMessage| {
        places.insert(row.id, (row.seq, row.message.is_some()));
    };
    each_row(here, scope, session, see).await?;
    let mut is_known = true;
    let see = |row: &StoredMessage| {
        is_known &= match places.get(&row.id) {
            // What the target forgot stays forgotten.
            Some((seq, has_content)) => *seq == row.seq && (row.message.is_some() || !has_content),
            None => false,
        };
    };
    each_row(there, scope, session, see).await?;
    Ok(is_known)
}
