//! Retention: forgets what is older or more than is kept, a stretch of owners and conversations a pass.
//!
//! A step visits at most 16 owners, 256 conversations and 4,096 rows, and forgets about 1,000 messages and records. The next one comes with
//! the next pass if something is left, else after ten seconds by the memory's clock. A conversation that has not changed is read
//! again only when its next message is too old. One that is begun is read to its end, however many rows are left of the bound. What a
//! step counts has a bound of its own (`excess.rs`), so that a count holds up nothing else of the owner.

use std::collections::{HashMap, HashSet};

use crate::engine::event::Event;
use crate::engine::forget::{Forget, is_trace};
use crate::engine::handle::{Memory, Scoped};
use crate::engine::inner::{Looked, Place, Stand};
use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, MessageId, RecordId, Seq, SessionId};
use crate::rank::{Decay, importance};
use crate::record::StoredRecord;
use crate::store::chat::{Edge, Page, SessionState, View};
use crate::time::Timestamp;

use super::excess::Left;
use super::lapsed::{Reach, Taken, choose};
use super::report::{Lapse, UpkeepReport};
use super::room::{ROWS, Room};
use super::verify::OWNERS;

/// A page ends behind the row that crosses this many tokens, about 4 MiB of text.
const TOKENS: u64 = 1 << 20;
/// How long it takes until a message is looked at again that something holds.
const HELD: std::time::Duration = std::time::Duration::from_secs(3_600);

impl Memory {
    /// Takes a step, if it is due. What fails is reported, and tried again by the next round.
    pub(super) async fn lapse(&self, report: &mut UpkeepReport) {
        let Some(stand) = self.inner.lapses.take(self.now()) else { return };
        if let Err(error) = self.go_on_lapsing(stand, report).await {
            report.fail(&error);
        }
    }

    async fn go_on_lapsing(&self, stand: Stand, report: &mut UpkeepReport) -> Result<()> {
        let lapses = &self.inner.lapses;
        let mut room = Room::of_step();
        let Stand { owner: last, place: mut begun } = stand;
        let mut owners = self.inner.owners_after(last.as_ref()).await?;
        let is_end = owners.len() < OWNERS;
        if let Some(last) = last.filter(|_| begun.is_some()) {
            owners.insert(0, last);
        }
        for owner in owners {
            if room.is_out() {
                lapses.has_more();
                return Ok(());
            }
            let scoped = self.of(&owner);
            let place = begun.take().unwrap_or(Place::Records(None));
            match self.lapse_owner(&scoped, place, &mut room, report).await {
                Ok(true) => {}
                Ok(false) => {
                    lapses.has_more();
                    return Ok(());
                }
                // It holds up no other.
                Err(error) => report.fail(&error),
            }
            lapses.stands_behind(owner);
        }
        if is_end {
            lapses.end();
        }
        Ok(())
    }

    /// Visits an owner, from where the walk stood. Returns whether nothing is left to visit.
    async fn lapse_owner(
        &self,
        scoped: &Scoped,
        mut place: Place,
        room: &mut Room,
        report: &mut UpkeepReport,
    ) -> Result<bool> {
        let mut is_recounted = false;
        loop {
            // The next step repeats nothing that is done: else what takes all the room of a step would take that of each.
            self.inner.lapses.stands_in(scoped.scope(), place.clone());
            let (is_done, next) = match place {
                Place::Records(after) => (scoped.lapse_records(after, room, report).await?, Place::Count),
                Place::Count => (scoped.count_records(room).await?, Place::Excess),
                Place::Excess => match scoped.lapse_excess(room, report).await? {
                    Left::More => (false, Place::Excess),
                    Left::Outdated if !is_recounted => {
                        is_recounted = true;
                        (true, Place::Count)
                    }
                    // Whoever goes on forgetting holds up no other: the next walk that counts comes back to it.
                    Left::Outdated | Left::Nothing => (true, Place::Sessions(None)),
                },
                Place::Sessions(after) => return self.lapse_sessions(scoped, after, room, report).await,
            };
            if !is_done {
                return Ok(false);
            }
            place = next;
        }
    }

    /// Visits the conversations of an owner, from where the walk stood. Returns whether none is left to visit.
    async fn lapse_sessions(
        &self,
        scoped: &Scoped,
        mut after: Option<SessionId>,
        room: &mut Room,
        report: &mut UpkeepReport,
    ) -> Result<bool> {
        let (inner, scope) = (&self.inner, scoped.scope());
        while inner.lapses.retentions.bounds_messages_of(scope) {
            let page = scoped.sessions(after.as_ref(), ROWS).await?;
            let is_last = page.len() < ROWS;
            for state in page {
                if room.is_out() || inner.turn.is_ending() {
                    return Ok(false);
                }
                room.sessions -= 1;
                match scoped.lapse_session(&state, room, report).await {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    // It holds up no other.
                    Err(error) => report.fail(&error),
                }
                after = Some(state.session);
                inner.lapses.stands_in(scope, Place::Sessions(after.clone()));
            }
            if is_last {
                break;
            }
        }
        Ok(true)
    }
}

impl Scoped {
    /// Forgets the records that are too old, from where the walk stood. Returns whether none is left.
    async fn lapse_records(
        &self,
        mut after: Option<RecordId>,
        room: &mut Room,
        report: &mut UpkeepReport,
    ) -> Result<bool> {
        let inner = self.inner();
        let retention = inner.lapses.retentions.of(self.scope());
        let Some(age) = retention.record_age else { return Ok(true) };
        let now = inner.clock.now();
        let last = before(now, age);
        let until = Scalar::Int(last.0.saturating_add(1));
        let filter = Filter::range(Field::At, None, Some(until));
        loop {
            let limit = ROWS.min(room.rows);
            let rows = inner.records.store().scan(self.scope(), &filter, after, limit).await?;
            let is_last = rows.len() < limit;
            after = rows.last().map(|row| row.record.id);
            room.rows = room.rows.saturating_sub(rows.len());
            // A trace goes when what it leads to is gone.
            let is_old =
                |row: &StoredRecord| !is_trace(&row.record) && row.record.tellings().all(|telling| telling.at <= last);
            let matters = |row: &StoredRecord| {
                retention.importance.is_some_and(|least| importance(row, now, Decay::LONG_TERM) >= least)
            };
            let old = rows.iter().filter(|row| is_old(row) && !row.record.is_protected() && !matters(row));
            let mut items: Vec<ItemId> = old.map(|row| ItemId::Record(row.record.id)).collect();
            let held = self.held(items.iter().map(|item| (item.clone(), item.clone()))).await?;
            items.retain(|item| !held.contains(item));
            let records: Vec<RecordId> = items.iter().filter_map(ItemId::as_record).collect();
            self.let_go(None, Forget::Records(records), items.len(), room, report).await?;
            if is_last {
                return Ok(true);
            }
            inner.lapses.stands_in(self.scope(), Place::Records(after));
            if room.is_out() || inner.turn.is_ending() {
                return Ok(false);
            }
        }
    }

    /// Forgets the messages of a conversation that are not kept. Returns whether none is left.
    async fn lapse_session(&self, state: &SessionState, room: &mut Room, report: &mut UpkeepReport) -> Result<bool> {
        let (inner, session) = (self.inner(), &state.session);
        let retention = inner.lapses.retentions.of_session(self.scope(), session);
        let now = inner.clock.now();
        let looked = inner.lapses.looked(self.scope(), session).filter(|looked| looked.fence == state.fence);
        if !retention.bounds_messages() || looked.is_some_and(|looked| looked.holds(state, now)) {
            return Ok(true);
        }
        let by_count = retention.messages.map_or(0, |messages| state.head.0.saturating_sub(messages));
        let by_bytes = match retention.bytes {
            Some(bytes) => self.beyond(session, bytes, room).await?.0,
            None => 0,
        };
        let cutoff = retention.age.map(|age| before(now, age));
        let is_all = cutoff.is_some_and(|cutoff| state.last_at <= cutoff);
        let reach = Reach { upto: Seq(by_count.max(by_bytes)), cutoff, is_all };
        let mut through = looked.filter(|_| !is_all).map_or(Seq(0), |looked| looked.through);
        let (mut after, mut due, mut is_leading) = (through, None::<Timestamp>, true);
        // No conversation has this head, so the next round looks again.
        let unfinished = |through, due| Looked { fence: state.fence, head: Seq(0), revision: 0, through, due };
        loop {
            if room.items == 0 || inner.turn.is_ending() {
                inner.lapses.note(self.scope(), session, unfinished(through, due));
                return Ok(false);
            }
            let page = Page::after(after, ROWS, View::Log).within(TOKENS);
            let rows = inner.chat.store().read(self.scope(), session, &page).await?.messages;
            room.rows = room.rows.saturating_sub(rows.len());
            let mut chosen = choose(&rows, &reach);
            let Some(last) = chosen.last else { break };
            after = last;
            let itself = chosen.taken.iter().map(|taken| (taken.id, taken.id));
            let covering = self.covering(&chosen.taken).await?.into_iter();
            let named = itself.chain(covering).map(|(id, name)| (ItemId::Message(id), ItemId::Message(name)));
            let held = self.held(named).await?;
            let is_young = chosen.kept.is_some();
            let is_held = |taken: &Taken| held.contains(&ItemId::Message(taken.id));
            if let Some(first) = chosen.taken.iter().find(|taken| is_held(taken)) {
                chosen.kept = chosen.kept.into_iter().chain([first.seq]).min();
                due = earlier(due, now.checked_add(HELD).ok());
            }
            let ids: Vec<MessageId> =
                chosen.taken.iter().filter(|taken| !is_held(taken)).map(|taken| taken.id).collect();
            let count = ids.len();
            if !self.let_go(Some(session), Forget::Messages(ids), count, room, report).await? {
                inner.lapses.note(self.scope(), session, unfinished(through, due));
                return Ok(true);
            }
            if is_leading {
                through = chosen.kept.map_or(last, |kept| Seq(kept.0.saturating_sub(1)));
                is_leading = chosen.kept.is_none();
            }
            let grows_old = |at: Timestamp| retention.age.and_then(|age| at.checked_add(age).ok());
            due = earlier(due, chosen.oldest.and_then(grows_old));
            if count == 0 && is_young && last >= reach.upto {
                break;
            }
        }
        // What was forgotten has changed the conversation; somebody else may have too, and then the next round looks again.
        let Some(is) = self.state_of(session).await?.filter(|is| is.fence == state.fence) else { return Ok(true) };
        if is.head == state.head {
            let (fence, head, revision) = (is.fence, is.head, is.revision);
            inner.lapses.note(self.scope(), session, Looked { fence, head, revision, through, due });
        }
        Ok(true)
    }

    /// Returns the summaries that cover messages, those that cover these, and so on, each with the message.
    async fn covering(&self, taken: &[Taken]) -> Result<HashSet<(MessageId, MessageId)>> {
        let mut next: HashSet<(MessageId, MessageId)> =
            taken.iter().filter_map(|taken| Some((taken.id, taken.summary?))).collect();
        let (mut found, mut above) = (HashSet::new(), HashMap::<MessageId, Option<MessageId>>::new());
        while !next.is_empty() {
            let summaries: HashSet<MessageId> = next.iter().map(|(_, summary)| *summary).collect();
            let unread: Vec<MessageId> = summaries.into_iter().filter(|summary| !above.contains_key(summary)).collect();
            let rows = self.said(&unread).await?;
            above.extend(unread.into_iter().map(|summary| (summary, None)));
            above.extend(rows.into_iter().map(|row| (row.id, row.archived_by)));
            found.extend(&next);
            let up = |(id, summary)| Some((id, above.get(&summary).copied().flatten()?));
            next = next.into_iter().filter_map(up).filter(|pair| !found.contains(pair)).collect();
        }
        Ok(found)
    }

    async fn state_of(&self, session: &SessionId) -> Result<Option<SessionState>> {
        let state = self.inner().chat.store().read(self.scope(), session, &Page::newest(0)).await?.state;
        Ok((state.head > Seq(0)).then_some(state))
    }

    /// Returns the last number before the newest messages that have no more than so many bytes together.
    async fn beyond(&self, session: &SessionId, bytes: u64, room: &mut Room) -> Result<Seq> {
        let (mut edge, mut sum) = (Edge::Newest, 0_u64);
        loop {
            let page = Page { edge, limit: ROWS, tokens: Some(TOKENS), view: View::Log, filter: None };
            let rows = self.inner().chat.store().read(self.scope(), session, &page).await?.messages;
            room.rows = room.rows.saturating_sub(rows.len());
            let Some(first) = rows.first() else { return Ok(Seq(0)) };
            edge = Edge::Before(first.seq);
            for row in rows.iter().rev() {
                let size = row.message.as_ref().map_or(0, |message| message.encoded_len() as u64);
                sum = sum.saturating_add(size);
                if sum > bytes {
                    return Ok(row.seq);
                }
            }
        }
    }

    /// Forgets at most a page of items, and says so. Returns whether they are gone: not if a record that would fall with them has been
    /// pinned or put on hold since they were looked at.
    pub(super) async fn let_go(
        &self,
        session: Option<&SessionId>,
        what: Forget,
        count: usize,
        room: &mut Room,
        report: &mut UpkeepReport,
    ) -> Result<bool> {
        if count == 0 {
            return Ok(true);
        }
        room.items = room.items.saturating_sub(count);
        let receipt = self.forget_unless_protected(&what).await?;
        let (removed, derived) = (receipt.removed, receipt.derived);
        if removed == 0 {
            return Ok(false);
        }
        let session = session.cloned();
        self.inner().tell(Some(self.scope()), &Event::Lapsed { session: session.clone(), removed, derived });
        report.lapse(Lapse { scope: self.scope().clone(), session, removed, derived, complete: receipt.complete });
        // What fell before it was stopped counts among both.
        Ok(removed > derived)
    }
}

/// Returns the time so long before `now`.
fn before(now: Timestamp, age: std::time::Duration) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)))
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}
