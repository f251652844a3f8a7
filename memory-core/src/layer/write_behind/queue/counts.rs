//! How much waits, and what it is, by owner.

use crate::id::{MessageId, SessionId};
use crate::scope::Scope;

use super::super::waiting::Row;
use super::Queue;

impl Queue {
    /// Returns how many messages wait.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns how many bytes of messages wait.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns how many messages of an owner wait, and how many bytes they have.
    pub(crate) fn of_owner(&self, scope: &Scope) -> (usize, u64) {
        let sessions = self.owners.get(scope).into_iter().flat_map(|owner| owner.sessions.values());
        sessions.fold((0, 0), |(count, bytes), waiting| (count + waiting.rows.len(), bytes + waiting.bytes))
    }

    /// Returns an owner's messages that wait, newest first and with their bytes, at most `limit`; not those of the session `but`.
    pub(crate) fn sizes(&self, scope: &Scope, but: Option<&SessionId>, limit: usize) -> Vec<(MessageId, u64)> {
        let Some(owner) = self.owners.get(scope) else { return Vec::new() };
        let others = owner.sessions.iter().filter(|(session, _)| Some(*session) != but);
        let mut rows: Vec<&Row> = others.flat_map(|(_, waiting)| &waiting.rows).collect();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.queued.number));
        rows.into_iter().take(limit).map(|row| (row.id(), row.bytes)).collect()
    }
}
