//! Reading what the primary has together with what waits.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::id::{MessageId, SessionId};
use crate::message::StoredMessage;
use crate::scope::Scope;
use crate::store::chat::{FoundMessages, Page, SessionState, Slice};
use crate::store::journal::Queued;

use super::overlay::{current, page_with, rows_behind, state_with};
use super::queue::{Snapshot, unknown};
use super::shared::{SESSIONS_AT_ONCE, Shared};

/// How often a session is read that changes meanwhile.
const ATTEMPTS: usize = 5;

/// How long a reader waits for messages that are under way to the primary.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the primary answered, and what waits behind it.
pub(super) struct Both {
    slice: Slice,
    behind: Vec<StoredMessage>,
}

impl Both {
    /// Returns the page of both.
    pub(super) fn page(self, page: &Page) -> Slice {
        let Self { slice, behind } = self;
        Slice { messages: page_with(page, slice.messages, behind), ..slice }
    }
}

/// What waits although the primary had it before.
#[derive(Debug, Default)]
struct Before {
    /// What it has, and what was forgotten there.
    known: HashSet<MessageId>,
    forgotten: HashSet<MessageId>,
}

impl Shared {
    /// Returns the page of the primary, and what waits. The state is that of both.
    pub(super) async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Both> {
        for attempt in 1.. {
            let Some(snapshot) = self.landed(scope, session).await else {
                return self.read_primary(scope, session, page).await;
            };
            let before = self.appended_before(scope, &snapshot);
            let (slice, before) = match tokio::try_join!(self.inner.read(scope, session, page), before) {
                Ok(read) => read,
                Err(error) if error.is_retryable() => {
                    return Ok(alone(session, Some(&snapshot), snapshot.known.clone()));
                }
                Err(error) => return Err(error),
            };
            let is_same = self.keep(scope, session, &snapshot, &slice.state, &before);
            if is_same || attempt == ATTEMPTS {
                let is_sure = is_same && !snapshot.is_sent && !snapshot.is_in_doubt;
                return Ok(laid_over(slice, Some(&snapshot), &before.known, is_sure));
            }
        }
        Err(Error::Conflict)
    }

    /// Reads a session of which nothing waits.
    async fn read_primary(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Both> {
        match self.inner.read(scope, session, page).await {
            Ok(slice) => {
                self.queue.lock().know(scope, &slice.state);
                Ok(Both { slice, behind: Vec::new() })
            }
            Err(error) if error.is_retryable() => {
                // What was queued meanwhile is not missed.
                let (snapshot, known) = {
                    let queue = self.queue.lock();
                    (queue.snapshot(scope, session), queue.known(scope, session).cloned())
                };
                Ok(alone(session, snapshot.as_ref(), known))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what waits of a session, once what is under way has landed, or after a while.
    async fn landed(&self, scope: &Scope, session: &SessionId) -> Option<Snapshot> {
        let landing = async {
            let mut landings = self.landings.subscribe();
            while self.queue.lock().mark(scope, session).is_some_and(|(_, is_sent)| is_sent) {
                let _ = landings.changed().await;
            }
        };
        let _ = timeout(PATIENCE, landing).await;
        self.queue.lock().snapshot(scope, session)
    }

    /// Returns those that wait and are in the primary all the same, because they were appended before, and those that were forgotten
    /// there since. It is asked once for each that is neither.
    async fn appended_before(&self, scope: &Scope, snapshot: &Snapshot) -> Result<Before> {
        let unasked: Vec<MessageId> = snapshot.rows.iter().filter(|row| !row.is_new).map(|row| row.id()).collect();
        if unasked.is_empty() {
            return Ok(Before::default());
        }
        let FoundMessages { messages, forgotten, .. } = self.inner.get(scope, &unasked).await?;
        let forgotten: HashSet<MessageId> = forgotten.into_iter().collect();
        Ok(Before {
            known: messages.into_iter().map(|row| row.id).chain(forgotten.iter().copied()).collect(),
            forgotten,
        })
    }

    /// Notes what was read, if the session is still as it was. Returns whether it is.
    fn keep(
        &self,
        scope: &Scope,
        session: &SessionId,
        snapshot: &Snapshot,
        state: &SessionState,
        before: &Before,
    ) -> bool {
        let mut queue = self.queue.lock();
        let mark = queue.mark(scope, session);
        if mark != Some((snapshot.change, snapshot.is_sent)) {
            return false;
        }
        queue.know(scope, state);
        if !snapshot.is_sent && !snapshot.is_in_doubt {
            let asked: HashSet<u64> = snapshot.rows.iter().map(|row| row.queued.number).collect();
            queue.change(scope, session, |waiting| {
                for row in waiting.rows.iter_mut().filter(|row| asked.contains(&row.queued.number)) {
                    row.is_new = !before.known.contains(&row.id());
                    row.is_forgotten = before.forgotten.contains(&row.id());
                }
            });
        }
        true
    }

    /// Returns the messages with these ids, those that wait among them.
    pub(super) async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let (waited, sessions) = {
            let queue = self.queue.lock();
            (queue.among(scope, ids), queue.sessions_of(scope, ids))
        };
        if waited.is_empty() {
            return self.inner.get(scope, ids).await;
        }
        // Its session tells whether a message that waits was erased meanwhile.
        let nothing = Page::newest(0);
        let waiting = async {
            let mut read = Vec::with_capacity(sessions.len());
            for some in sessions.chunks(SESSIONS_AT_ONCE) {
                read.extend(try_join_all(some.iter().map(|session| self.read(scope, session, &nothing))).await?);
            }
            Ok(read)
        };
        let (found, waiting): (_, Result<Vec<Both>>) = tokio::join!(self.inner.get(scope, ids), waiting);
        let mut found = if_there(found)?;
        let places: HashMap<MessageId, usize> = ids.iter().enumerate().rev().map(|(place, id)| (*id, place)).collect();
        let found_ids = found.messages.iter().map(|row| row.id).chain(found.forgotten.iter().copied());
        let mut known: HashSet<MessageId> = found_ids.collect();
        // Where a message stands does not matter here, so a session in doubt leaves nothing open.
        for Both { behind, .. } in waiting? {
            let is_asked = |row: &StoredMessage| places.contains_key(&row.id) && known.insert(row.id);
            found.messages.extend(behind.into_iter().filter(is_asked));
        }
        // What came to the primary after it was asked, and so waited no more, is in neither answer.
        let missed: Vec<MessageId> = waited.into_iter().filter(|id| !known.contains(id)).collect();
        if !missed.is_empty() && found.complete {
            let later = if_there(self.inner.get(scope, &missed).await)?;
            found.complete &= later.complete;
            found.messages.extend(later.messages);
            found.forgotten.extend(later.forgotten);
        }
        found.messages.sort_by_key(|row| places.get(&row.id).copied());
        Ok(found)
    }
}

/// Returns what was found; nothing, and not all, where the primary is away.
fn if_there(found: Result<FoundMessages>) -> Result<FoundMessages> {
    match found {
        Err(error) if error.is_retryable() => Ok(FoundMessages { complete: false, ..FoundMessages::of([]) }),
        found => found,
    }
}

/// Returns what waits alone, behind what is known of the session.
fn alone(session: &SessionId, snapshot: Option<&Snapshot>, known: Option<SessionState>) -> Both {
    let state = known.unwrap_or_else(|| unknown(session));
    laid_over(Slice { state, messages: Vec::new(), complete: false }, snapshot, &HashSet::new(), false)
}

fn laid_over(slice: Slice, snapshot: Option<&Snapshot>, stored: &HashSet<MessageId>, is_sure: bool) -> Both {
    let Slice { state, messages, complete } = slice;
    let known: HashSet<MessageId> = messages.iter().map(|row| row.id).chain(stored.iter().copied()).collect();
    let rows = snapshot.into_iter().flat_map(|snapshot| &snapshot.rows);
    let queued: Vec<&Queued> = current(rows.map(|row| &row.queued), state.fence, &known);
    let behind = rows_behind(state.head, &queued);
    Both { slice: Slice { state: state_with(state, &queued), messages, complete: complete && is_sure }, behind }
}
