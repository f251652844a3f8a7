//! Search without words: the newest items, read from truth.

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};

use crate::engine::handle::Scoped;
use crate::engine::hit::{Content, Hit, SearchResults};
use crate::engine::past::no_instructions;
use crate::engine::receipt::{SearchReceipt, Signals, Stage};
use crate::engine::synopsis::{SYNOPSIS, synopsis_id};
use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, Seq, SessionId, Unit};
use crate::message::{Message, StoredMessage};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{Edge, Page, SessionState, View};
use crate::time::Timestamp;

use super::hydrate::note;
use super::question::Search;

/// How many sessions are read at once.
const SESSIONS: usize = 16;
/// How many sessions are listed in one call.
const PAGE: usize = 500;

/// The sort key of the newest items: later ones first, and within a session the last ones.
type Place = (Reverse<Timestamp>, Reverse<Seq>, Reverse<ItemId>);

/// An item, and who shares it.
type Newest<'a> = (Place, Option<&'a Scope>, Content);

impl Scoped {
    /// Returns the newest items of the owner and of those who share, newest first, as far as they match `filter`.
    pub(crate) async fn newest(&self, search: &Search, filter: &Filter) -> SearchResults {
        let others: Vec<Self> = search.sharing.iter().map(|owner| self.memory().of(owner)).collect();
        let theirs = join_all(others.iter().map(|other| Box::pin(other.newest_of_owner(search, filter))));
        let own = Box::pin(self.newest_of_owner(search, filter));
        let ((own, mut receipt), theirs) = tokio::join!(own, theirs);
        let mut found: Vec<Newest<'_>> = own.into_iter().map(|(place, content)| (place, None, content)).collect();
        for (owner, (theirs, receipt_of_owner)) in search.sharing.iter().zip(theirs) {
            receipt.share(owner, receipt_of_owner);
            found.extend(theirs.into_iter().map(|(place, content)| (place, Some(owner), content)));
        }
        found.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        found.truncate(search.limit);
        let hit = |((_, _, Reverse(item)), owner, content): Newest<'_>| {
            let (shared_by, signals) = (owner.cloned(), Signals::default());
            Hit { item, content, shared_by, signals }
        };
        SearchResults { hits: found.into_iter().map(hit).collect(), receipt }
    }

    /// Returns the newest items of this owner, in no order.
    async fn newest_of_owner(&self, search: &Search, filter: &Filter) -> (Vec<(Place, Content)>, SearchReceipt) {
        let messages = async {
            if search.searches(Unit::Message) {
                self.newest_messages(search.limit, filter).await
            } else {
                Ok(Vec::new())
            }
        };
        let records = async {
            if search.searches(Unit::Record) { self.newest_records(search.limit, filter).await } else { Ok(Vec::new()) }
        };
        let (messages, records, notes) = tokio::join!(messages, records, self.newest_notes(search, filter));
        let mut receipt = SearchReceipt::default();
        let messages = messages.unwrap_or_else(|error| note(&mut receipt.degraded, Stage::Chat, &error));
        let records = records.unwrap_or_else(|error| note(&mut receipt.degraded, Stage::Records, &error));
        let notes = notes.unwrap_or_else(|error| note(&mut receipt.degraded, Stage::Working, &error));
        receipt.notes = notes.len();
        let messages = messages.into_iter().map(|row| (of_message(&row), Content::Message(row)));
        let records = records.into_iter().chain(notes).map(|stored| (of_record(&stored), Content::Record(stored)));
        (messages.chain(records).collect(), receipt)
    }

    /// Returns the newest messages that are no instructions. A session whose last message is older than all those found is not
    /// read.
    async fn newest_messages(&self, limit: usize, filter: &Filter) -> Result<Vec<StoredMessage>> {
        // The store leaves instructions out, so that they hide nothing older.
        let said = filter.clone().and(no_instructions());
        let page = Page { edge: Edge::Newest, limit, tokens: None, view: View::Log, filter: Some(said) };
        let mut found: Vec<StoredMessage> = Vec::new();
        for batch in self.sessions_by_time(filter).await?.chunks(SESSIONS) {
            let begins = batch.first().map(|(_, last_at)| *last_at);
            let last = found.get(limit.saturating_sub(1)).map(|row| of_message(row).0.0);
            if last.zip(begins).is_some_and(|(last, begins)| last > begins) {
                break;
            }
            let read = |(session, _): &(SessionId, Timestamp)| {
                let (session, page) = (session.clone(), &page);
                async move { self.inner().chat.store().read(self.scope(), &session, page).await }
            };
            let slices = try_join_all(batch.iter().map(read)).await?;
            let rows = slices.into_iter().flat_map(|slice| slice.messages);
            let is_said = |message: &Arc<Message>| !message.role.is_instruction();
            found.extend(rows.filter(|row| row.message.as_ref().is_some_and(is_said)));
            found.sort_by_cached_key(of_message);
            found.truncate(limit);
        }
        Ok(found)
    }

    /// Returns the sessions that may match, the one with the latest message first.
    async fn sessions_by_time(&self, filter: &Filter) -> Result<Vec<(SessionId, Timestamp)>> {
        if let Some(session) = only_session(filter) {
            return Ok(vec![(session, Timestamp(i64::MAX))]);
        }
        let mut sessions: Vec<SessionState> = Vec::new();
        loop {
            let after = sessions.last().map(|state| state.session.clone());
            let next = self.sessions(after.as_ref(), PAGE).await?;
            if next.is_empty() {
                break;
            }
            sessions.extend(next);
        }
        sessions.sort_by_key(|state| Reverse(state.last_at));
        Ok(sessions.into_iter().map(|state| (state.session, state.last_at)).collect())
    }

    /// Returns the newest records, without the synopsis unless the filter asks for it.
    async fn newest_records(&self, limit: usize, filter: &Filter) -> Result<Vec<StoredRecord>> {
        let most = limit.saturating_add(1);
        let mut found = self.inner().records.store().newest(self.scope(), filter, None, most).await?;
        if !asks_for_synopses(filter) {
            found.retain(|stored| stored.record.id != synopsis_id());
        }
        found.truncate(limit);
        Ok(found)
    }
}

fn of_message(row: &StoredMessage) -> Place {
    let at = row.message.as_ref().map_or(Timestamp(i64::MIN), |message| message.at);
    (Reverse(at), Reverse(row.seq), Reverse(ItemId::Message(row.id)))
}

fn of_record(stored: &StoredRecord) -> Place {
    (Reverse(stored.record.created_at()), Reverse(Seq(0)), Reverse(ItemId::Record(stored.record.id)))
}

/// Returns whether the filter names the kind of synopses.
fn asks_for_synopses(filter: &Filter) -> bool {
    match filter {
        Filter::Eq(Field::Kind, Scalar::Text(kind)) => kind == SYNOPSIS,
        Filter::And(list) | Filter::Or(list) => list.iter().any(asks_for_synopses),
        _ => false,
    }
}

/// Returns the session if the filter matches one session alone.
fn only_session(filter: &Filter) -> Option<SessionId> {
    match filter {
        Filter::Eq(Field::Session, Scalar::Text(name)) => SessionId::new(name).ok(),
        Filter::And(list) => list.iter().find_map(only_session),
        _ => None,
    }
}
