//! The store: one lock around everything, and every change made on a copy that takes the place of the original.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use memory_core::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, NewMessage, Page, Placement, Redacted, SessionState,
    Slice, revision_after_deletion,
};
use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target, Upkeep};
use memory_core::store::{Durability, Erased, ErasureLevel, Health, Store};
use memory_core::{Epoch, Error, MessageId, Result, Scope, Seq, SessionId, StoredMessage, Timestamp};

use crate::notes::{Change, Notes};
use crate::session::Session;

#[derive(Debug, Default)]
pub(crate) struct TinyChat(Mutex<Contents>);

#[derive(Debug, Default)]
struct Contents {
    owners: BTreeMap<Scope, Owner>,
    notes: Notes,
}

#[derive(Clone, Debug, Default)]
struct Owner {
    epoch: Epoch,
    sessions: BTreeMap<SessionId, Session>,
    /// Where each id stands.
    places: HashMap<MessageId, (SessionId, Seq)>,
    /// Rows that fell with a burial and that no erasure has counted yet.
    buried: u64,
}

impl Owner {
    fn row(&self, id: MessageId) -> Option<&StoredMessage> {
        let (session, seq) = self.places.get(&id)?;
        self.sessions.get(session)?.row(id, *seq)
    }

    fn state(&self, session: &SessionId) -> SessionState {
        self.sessions.get(session).cloned().unwrap_or_default().state(session, self.epoch)
    }

    fn insert(&mut self, session: &SessionId, row: StoredMessage) {
        self.places.insert(row.id, (session.clone(), row.seq));
        self.sessions.entry(session.clone()).or_default().insert(row);
    }

    fn append(&mut self, session: &SessionId, new: &NewMessage) -> Result<Placement> {
        let NewMessage { message, tokens, counter } = new;
        if let Some(row) = self.row(message.id) {
            let is_same = row.message.as_ref() == Some(message) && row.session == *session && row.covers.is_none();
            return match row.message {
                None => Ok(Placement::Forgotten),
                Some(_) if is_same => Ok(Placement::Already(row.seq)),
                Some(_) => Err(Error::IdConflict { id: message.id.to_string() }),
            };
        }
        let seq = Seq(self.state(session).head.0 + 1);
        let (id, session_id, message) = (message.id, session.clone(), Some(message.clone()));
        let (tokens, counter, covers, archived_by) = (*tokens, *counter, None, None);
        let row = StoredMessage { id, session: session_id, seq, tokens, counter, covers, archived_by, message };
        self.insert(session, row);
        Ok(Placement::Added(seq))
    }

    fn restore(&mut self, session: &SessionId, row: &StoredMessage) -> Result<Option<Placement>> {
        let head = self.state(session).head;
        let is_message = row.covers.is_none();
        if let Some(known) = self.row(row.id) {
            let is_same = known.message == row.message || known.message.is_none();
            if known.session != *session || !is_same {
                return Err(Error::IdConflict { id: row.id.to_string() });
            }
            let placement = if known.message.is_none() { Placement::Forgotten } else { Placement::Already(row.seq) };
            return Ok(is_message.then_some(placement));
        }
        if row.seq > Seq(head.0 + 1) || (is_message && row.seq <= head) {
            return Err(Error::Conflict);
        }
        self.insert(session, StoredMessage { session: session.clone(), ..row.clone() });
        Ok(is_message.then_some(Placement::Added(row.seq)))
    }

    fn bury(&mut self, epoch: Epoch) {
        self.buried += self.places.len() as u64;
        *self = Self { epoch, buried: self.buried, ..Self::default() };
    }
}

impl TinyChat {
    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self, scope: &Scope) -> Owner {
        self.lock().owners.get(scope).cloned().unwrap_or_default()
    }
}

impl Contents {
    /// Adds rows to a copy of the owner, which takes the owner's place if all went well.
    fn add(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        add: impl FnOnce(&mut Owner) -> Result<Vec<Placement>>,
    ) -> Result<Appended> {
        let mut owner = self.owners.get(scope).cloned().unwrap_or_default();
        let placements = add(&mut owner)?;
        let (epoch, state) = (owner.epoch, owner.state(session));
        let first = placements.iter().find_map(|placement| match placement {
            Placement::Added(seq) => Some(*seq),
            _ => None,
        });
        if let Some(first) = first {
            let target = Target::Messages(session.clone());
            self.notes.mark(None, (scope, &target), epoch, (first, state.head), Change::Appended);
        }
        if !owner.sessions.is_empty() || epoch > Epoch(0) {
            self.owners.insert(scope.clone(), owner);
        }
        Ok(Appended { placements, state, durability: Durability::Volatile })
    }
}

#[async_trait]
impl Store for TinyChat {
    fn backend(&self) -> &'static str {
        "tiny"
    }

    async fn ping(&self) -> Result<Health> {
        Ok(Health::new("tiny", "1", Durability::Volatile))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        below.check()?;
        let mut state = self.lock();
        state.notes.forget(scope, below);
        let owner = state.owners.entry(scope.clone()).or_default();
        if owner.epoch < below {
            owner.bury(below);
        }
        Ok(Erased { removed: std::mem::take(&mut owner.buried), remaining: 0, level: ErasureLevel::Purged })
    }
}

#[async_trait]
impl ChatStore for TinyChat {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        self.lock().add(scope, session, |owner| {
            let fence: Fence = owner.state(session).fence;
            if batch.fence.is_some_and(|seen| seen != fence) {
                return Err(Error::Fenced);
            }
            let placements = batch.messages.iter().map(|new| owner.append(session, new)).collect::<Result<Vec<_>>>()?;
            if placements.iter().any(|placement| matches!(placement, Placement::Added(_)))
                && let Some(kept) = owner.sessions.get_mut(session)
            {
                kept.asked = kept.asked.max(batch.asked);
            }
            Ok(placements)
        })
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        self.lock().add(scope, session, |owner| {
            if fence.is_some_and(|seen| seen != owner.state(session).fence) {
                return Err(Error::Fenced);
            }
            rows.iter().filter_map(|row| owner.restore(session, row).transpose()).collect()
        })
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let owner = self.owner(scope);
        let messages = owner.sessions.get(session).map(|kept| kept.page(page)).unwrap_or_default();
        Ok(Slice { state: owner.state(session), messages, complete: true })
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let owner = self.owner(scope);
        Ok(FoundMessages::of(ids.iter().filter_map(|id| owner.row(*id).cloned())))
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        let owner = self.owner(scope);
        let filled = owner
            .sessions
            .iter()
            .filter(|(name, kept)| !kept.rows.is_empty() && after.is_none_or(|after| *name > after));
        Ok(filled.take(limit).map(|(name, kept)| kept.state(name, owner.epoch)).collect())
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        let mut state = self.lock();
        let now = state.owners.get(scope).cloned().unwrap_or_default().state(session).fence;
        if let Compaction::Fold { fence, .. } = change
            && *fence != now
        {
            return Err(Error::Fenced);
        }
        let Some(owner) = state.owners.get_mut(scope) else {
            let is_fold = matches!(change, Compaction::Fold { .. });
            return if is_fold { Err(Error::Conflict) } else { Ok(Owner::default().state(session)) };
        };
        let id = match change {
            Compaction::Fold { summary, .. } => summary.message.id,
            Compaction::Unfold { summary } => *summary,
        };
        let known = owner.row(id).filter(|row| row.session == *session && row.covers.is_some()).cloned();
        match (change, known) {
            (Compaction::Fold { summary, .. }, Some(row)) if row.message.as_ref() == Some(&summary.message) => {}
            (Compaction::Fold { fence: _, span, ids, summary }, None) if !owner.places.contains_key(&id) => {
                owner.sessions.entry(session.clone()).or_default().fold(session, *span, ids, summary)?;
                owner.places.insert(id, (session.clone(), span.last));
            }
            (Compaction::Fold { .. }, _) => return Err(Error::IdConflict { id: id.to_string() }),
            (Compaction::Unfold { .. }, Some(row)) if row.archived_by.is_some() => return Err(Error::Conflict),
            (Compaction::Unfold { .. }, Some(_)) => {
                owner.sessions.entry(session.clone()).or_default().unfold(id);
                owner.places.remove(&id);
            }
            (Compaction::Unfold { .. }, None) => {}
        }
        Ok(owner.state(session))
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let mut state = self.lock();
        let Contents { owners, notes } = &mut *state;
        let Some(owner) = owners.get_mut(scope) else { return Ok(Vec::new()) };
        let mut touched = Vec::new();
        for id in ids {
            let Some(row) = owner.row(*id).filter(|row| row.message.is_some()).cloned() else { continue };
            let kept = owner.sessions.entry(row.session.clone()).or_default();
            let summaries = kept.redact(&row);
            let (session, seq) = (row.session, row.seq);
            // Its neighbours are searched by its words too.
            let range = (Seq(seq.0.max(2) - 1), kept.head().min(Seq(seq.0 + 1)));
            let target = Target::Messages(session.clone());
            notes.mark(None, (scope, &target), owner.epoch, range, Change::Changed);
            touched.push(Redacted { id: *id, session, seq, summaries });
        }
        Ok(touched)
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let mut state = self.lock();
        let Contents { owners, notes } = &mut *state;
        let session = &seen.session;
        let Some(owner) = owners.get_mut(scope) else { return Ok(0) };
        if !owner.state(session).is_to_be_deleted(seen)? {
            return Ok(0);
        }
        let Some(kept) = owner.sessions.get_mut(session) else { return Ok(0) };
        let removed = kept.rows.iter().filter(|row| row.covers.is_none() && row.message.is_some()).count();
        let (generation, revision) = (kept.generation + 1, revision_after_deletion(kept.revision));
        *kept = Session { generation, revision, ..Session::default() };
        owner.places.retain(|_, (place, _)| place != session);
        let target = Target::Messages(session.clone());
        notes.mark(None, (scope, &target), owner.epoch, (Seq(1), Seq(0)), Change::Gone);
        Ok(removed as u64)
    }
}

#[async_trait]
impl Upkeep for TinyChat {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        let mut state = self.lock();
        let Contents { owners, notes } = &mut *state;
        let Some(through) = notes.enlist(index, incarnation) else { return Ok(true) };
        let stored = owners.iter().flat_map(|(scope, owner)| {
            let filled = owner.sessions.iter().filter(|(_, kept)| !kept.rows.is_empty());
            filled.map(move |(name, kept)| ((scope.clone(), Target::Messages(name.clone())), owner.epoch, kept.head()))
        });
        let mut stored = stored.skip_while(|(place, ..)| through.as_ref().is_some_and(|through| place <= through));
        let some: Vec<_> = stored.by_ref().take(limit).collect();
        let is_noted = stored.next().is_none();
        for ((scope, target), epoch, head) in &some {
            notes.mark(Some(index), (scope, target), *epoch, (Seq(1), *head), Change::Changed);
        }
        notes.noted(index, some.into_iter().last().map(|(place, ..)| place), is_noted);
        Ok(is_noted)
    }

    async fn doubt(&self, index: &IndexName) -> Result<()> {
        if let Some(enlisted) = self.lock().notes.enlisted.get_mut(index) {
            enlisted.0.incarnation = None;
        }
        Ok(())
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        Ok(self.lock().notes.enlisted.values().map(|(enlisted, _)| enlisted.clone()).collect())
    }

    async fn revive(&self, index: &IndexName) -> Result<u64> {
        Ok(self.lock().notes.revive(index))
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        let mut state = self.lock();
        state.notes.indexes.remove(index);
        state.notes.enlisted.remove(index);
        Ok(())
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        Ok(self.lock().notes.pending(index, now, limit))
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let mut state = self.lock();
        notes.iter().for_each(|(note, outcome)| state.notes.settle(index, note, outcome));
        Ok(())
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        Ok(self.lock().notes.backlog(None, index))
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        Ok(self.lock().notes.backlog(Some(scope), index))
    }

    /// Messages do not expire.
    async fn sweep(&self, _: Timestamp, _: usize) -> Result<u64> {
        Ok(0)
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let state = self.lock();
        let owners = state.owners.keys().filter(|scope| after.is_none_or(|after| *scope > after));
        Ok(owners.take(limit).cloned().collect())
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        seen.check()?;
        let mut state = self.lock();
        let Contents { owners, notes } = &mut *state;
        let owner = owners.entry(scope.clone()).or_default();
        if owner.epoch > seen {
            return Ok(owner.epoch);
        }
        owner.bury(Epoch(seen.0 + 1));
        notes.forget(scope, owner.epoch);
        notes.mark(None, (scope, &Target::Owner), owner.epoch, (Seq(0), Seq(0)), Change::Changed);
        Ok(owner.epoch)
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        Ok(self.owner(scope).epoch)
    }
}
