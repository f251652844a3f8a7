//! What waits, laid over what the primary answered. Functions of values.
//!
//! What waits has no numbers yet: it stands behind the newest message of the primary, with the numbers that it would get now.

use std::collections::HashSet;

use crate::id::{MessageId, Seq};
use crate::message::StoredMessage;
use crate::plan::chat::take;
use crate::store::chat::{Edge, Fence, Page, SessionState, View};
use crate::store::journal::Queued;

/// Returns those of `queued` that a session of this fence would take, each id once, except `known` ones.
pub(super) fn current<'a>(
    queued: impl IntoIterator<Item = &'a Queued>,
    fence: Fence,
    known: &HashSet<MessageId>,
) -> Vec<&'a Queued> {
    let mut seen = HashSet::new();
    let is_current = |queued: &&Queued| {
        let id = queued.new.message.id;
        queued.fence.unwrap_or_default() == fence && !known.contains(&id) && seen.insert(id)
    };
    queued.into_iter().filter(is_current).collect()
}

/// Returns the session as it will be with what waits.
pub(super) fn state_with(mut state: SessionState, queued: &[&Queued]) -> SessionState {
    for Queued { asked, new, .. } in queued.iter().copied() {
        state.head.0 = state.head.0.saturating_add(1);
        state.active_messages = state.active_messages.saturating_add(1);
        state.active_tokens = state.active_tokens.saturating_add(new.tokens);
        state.asked = state.asked.max(*asked);
        state.last_at = state.last_at.max(new.message.at);
    }
    state
}

/// Returns what waits as rows behind `head`.
pub(super) fn rows_behind(head: Seq, queued: &[&Queued]) -> Vec<StoredMessage> {
    let row = |(seq, queued): (u64, &&Queued)| queued.new.row(&queued.session, Seq(seq));
    (head.0.saturating_add(1)..).zip(queued).map(row).collect()
}

/// Returns the page with `behind`, which stands behind all of `rows`: the answer of the primary to the same page.
pub(super) fn page_with(page: &Page, rows: Vec<StoredMessage>, behind: Vec<StoredMessage>) -> Vec<StoredMessage> {
    let is_shown = |row: &StoredMessage| {
        let is_pinned = row.message.as_ref().is_some_and(|message| message.role.is_instruction());
        let is_on_page = match page.edge {
            Edge::Newest => true,
            Edge::Before(seq) => row.seq < seq,
            Edge::After(seq) => row.seq > seq,
        };
        is_on_page && (page.view != View::Pinned || is_pinned)
    };
    let behind: Vec<StoredMessage> = behind.into_iter().filter(is_shown).collect();
    if page.limit == 0 {
        return Vec::new();
    }
    if behind.is_empty() {
        return rows;
    }
    let all: Vec<StoredMessage> = rows.into_iter().chain(behind).collect();
    // Of the primary's rows it is known already that they are on the page, so only its bounds count.
    let taken = match page.edge {
        Edge::After(_) => take(all.iter(), page),
        Edge::Newest | Edge::Before(_) => {
            let mut taken = take(all.iter().rev(), page);
            taken.reverse();
            taken
        }
    };
    taken.into_iter().cloned().collect()
}

/// Returns the states of sessions in the order of their ids, `others` in place of those with their ids; at most `limit`.
pub(super) fn sessions_with(listed: Vec<SessionState>, others: Vec<SessionState>, limit: usize) -> Vec<SessionState> {
    // A full page of the primary says nothing of what stands behind it.
    let last = if listed.len() < limit { None } else { listed.last().map(|state| state.session.clone()) };
    let named: HashSet<_> = others.iter().map(|state| state.session.clone()).collect();
    let mut all: Vec<SessionState> = listed.into_iter().filter(|state| !named.contains(&state.session)).collect();
    all.extend(others.into_iter().filter(|state| last.as_ref().is_none_or(|last| state.session <= *last)));
    all.retain(|state| state.head > Seq(0));
    all.sort_by(|one, other| one.session.cmp(&other.session));
    all.truncate(limit);
    all
}

#[cfg(test)]
mod tests;
