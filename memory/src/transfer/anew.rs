//! Marks in the target of a move. One tells that a session was emptied because another copy of it follows, and not to forget it: so
//! a move that ends in between can be repeated.
//!
//! A mark is a session of a reserved name with one row that has no content. It is there only while the copy is made anew.

use std::collections::HashSet;

use memory_core::store::chat::{ChatStore, Fence, Page, SessionState, View};
use memory_core::{CounterId, Error, MessageId, Result, Scope, Seq, SessionId, StoredMessage};

/// What the names of marks begin with.
const NAME: &str = "copied anew by a move: ";

/// Returns whether a session is a mark.
pub(super) fn is_mark(state: &SessionState) -> bool {
    state.session.name().starts_with(NAME) && state.head == Seq(1) && state.active_messages == 0
}

/// Marks the session that is as it was `seen`, and is removed next.
///
/// # Errors
/// What the store fails with; `Fenced` if the owner was erased meanwhile.
pub(super) async fn begin(there: &dyn ChatStore, scope: &Scope, seen: &SessionState) -> Result<()> {
    // A mark that is there may tell of an earlier copy.
    end(there, scope, &seen.session).await?;
    let row = row_of(&seen.session, seen.fence.generation)?;
    let mark = there.read(scope, &row.session, &Page::newest(0)).await?.state;
    let fence = Fence { epoch: seen.fence.epoch, generation: mark.fence.generation };
    there.restore(scope, &row.session, Some(fence), std::slice::from_ref(&row)).await.map(drop)
}

/// Returns whether a session of the target, which is empty, was marked before it was emptied the last time.
pub(super) async fn is_under_way(there: &dyn ChatStore, scope: &Scope, emptied: &SessionState) -> Result<bool> {
    let Some(generation) = emptied.fence.generation.checked_sub(1) else { return Ok(false) };
    let row = row_of(&emptied.session, generation)?;
    let first = there.read(scope, &row.session, &Page::after(Seq(0), 1, View::Log)).await?.messages.pop();
    Ok(first.is_some_and(|first| first.id == row.id))
}

/// Removes the mark of a session, if there is one.
pub(super) async fn end(there: &dyn ChatStore, scope: &Scope, session: &SessionId) -> Result<()> {
    let mark = there.read(scope, &mark_of(session)?, &Page::newest(0)).await?.state;
    if is_mark(&mark) { remove(there, scope, &mark).await } else { Ok(()) }
}

/// Removes those of the `marks` in the target whose session of the source, one of `known`, is there again or is no more.
pub(super) async fn tidy(
    there: &dyn ChatStore,
    scope: &Scope,
    known: &HashSet<SessionId>,
    marks: &[SessionState],
) -> Result<()> {
    for mark in marks {
        let session = known.iter().find(|session| mark_of(session).is_ok_and(|id| id == mark.session));
        let is_awaited = match session {
            Some(session) => there.read(scope, session, &Page::newest(0)).await?.state.head == Seq(0),
            None => false,
        };
        if !is_awaited {
            remove(there, scope, mark).await?;
        }
    }
    Ok(())
}

async fn remove(there: &dyn ChatStore, scope: &Scope, mark: &SessionState) -> Result<()> {
    match there.delete(scope, mark).await {
        // Another move has it.
        Err(Error::Conflict) => Ok(()),
        answer => answer.map(drop),
    }
}

/// Returns the session that is the mark of another one.
fn mark_of(session: &SessionId) -> Result<SessionId> {
    SessionId::new(&format!("{NAME}{}", MessageId::of_content(session.key().as_bytes())))
}

/// Returns the row of the mark. Its id tells which generation of the session is removed.
fn row_of(session: &SessionId, generation: u64) -> Result<StoredMessage> {
    let id = MessageId::of_content(format!("{} {generation}", session.key()).as_bytes());
    Ok(StoredMessage {
        id,
        session: mark_of(session)?,
        seq: Seq(1),
        tokens: 0,
        counter: CounterId::UNKNOWN,
        covers: None,
        archived_by: None,
        message: None,
    })
}
