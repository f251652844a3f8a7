//! The past that a branch shares: which of its rows are read into the window, and when.

use std::collections::VecDeque;

use crate::engine::counted::recount;
use crate::engine::past::behind;
use crate::engine::recall::window::Window;
use crate::id::{Seq, SessionId};
use crate::message::{Link, Point, StoredMessage};
use crate::model::TokenCounter;
use crate::store::chat::{Page, Slice, View};
use crate::window::Ledger;

use super::is_instruction;
use super::past::{Part, Past};
use super::reading::{HEAD, INSTRUCTIONS, LOOK, LOST, SLACK, TAIL, may_be_folded};

/// The first pages of a part of the past: its pinned rows, and the message at which the branch leaves it with some before.
#[derive(Debug)]
pub(crate) struct PartPages {
    pub(crate) session: SessionId,
    pub(crate) pinned: Page,
    pub(crate) tail: Page,
}

impl Window {
    /// Returns the past that the branch shares, if the window is one's whose past was not read yet.
    pub(crate) fn take_link(&mut self) -> Option<Link> {
        self.link.take()
    }

    /// Returns the pages of the past that are read first, for each conversation of it.
    pub(crate) fn past_pages(&self, link: &Link, limit: u64) -> Vec<PartPages> {
        // Instructions may make room for the last turn.
        let read = self.rows.iter().filter(|row| !is_instruction(row)).map(|row| row.tokens);
        let room = limit.saturating_sub(read.fold(0, u64::saturating_add));
        let pages = |(place, point): (usize, &Point)| {
            let pinned = Page { view: View::Pinned, ..Page::before(behind(point.at), INSTRUCTIONS, View::Pinned) };
            let tail = if place == 0 && self.goes_into_past() && room > 0 {
                self.past_page(point.at, room)
            } else {
                Page::before(behind(point.at), 1, View::Log)
            };
            PartPages { session: point.session.clone(), pinned: pinned.within(limit.saturating_mul(SLACK)), tail }
        };
        link.points().iter().enumerate().map(pages).collect()
    }

    /// Takes in the first pages of the past, in the order of [`Window::past_pages`].
    pub(crate) fn begin_past(
        &mut self,
        link: &Link,
        limit: u64,
        read: Vec<(PartPages, Slice, Slice)>,
        counter: &dyn TokenCounter,
    ) {
        let points = link.points().to_vec();
        let root = points.last().map_or_else(|| self.state.session.clone(), |point| point.session.clone());
        let (rest, lacks_instructions) = (VecDeque::new(), false);
        let mut past = Past { rest, points: points.clone(), root, gone: 0, read: 0, tokens: 0, lacks_instructions };
        let mut first = None;
        for (point, (pages, mut pinned, tail)) in points.into_iter().zip(read) {
            if !tail.messages.last().is_some_and(|row| point.is(row)) {
                past.gone += 1;
                continue;
            }
            self.complete &= pinned.complete && tail.complete;
            let size = pinned.messages.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
            past.lacks_instructions |= pinned.messages.len() >= INSTRUCTIONS || size > limit.saturating_mul(SLACK);
            let is_summary = |row: &StoredMessage| row.covers.is_some() && !row.is_archive();
            let summary = pinned.messages.iter().rfind(|row| is_summary(row)).cloned();
            pinned.messages.retain(|row| is_instruction(row) && !row.begins_branch());
            self.recounted += recount(&mut pinned.messages, counter);
            past.tokens = pinned.messages.iter().map(|row| row.tokens).fold(past.tokens, u64::saturating_add);
            self.rows.splice(..0, pinned.messages);
            let before = behind(point.at);
            // Whatever was folded or replaced since may stand for the newest summary of the past.
            let lost = may_be_folded(&pinned.state).then_some(before);
            past.rest.push_back(Part { before, point, summary, lost });
            first = first.or((pages.tail.limit > 1).then_some(tail));
        }
        self.past = Some(past);
        self.ledger = Ledger::of(&self.rows);
        if let Some(tail) = first {
            self.add_past(tail, counter);
        }
    }

    /// Returns whether the rows before those that were read are the past that the branch shares.
    pub(super) fn goes_into_past(&self) -> bool {
        self.is_own_whole && (self.summary.is_none() || !self.shape.unfolds())
    }

    /// Returns the page of the past up to the message `at`, as far as `room` tokens hold it.
    fn past_page(&self, at: Seq, room: u64) -> Page {
        let more = |most: u64| most.saturating_add(HEAD as u64).saturating_sub(self.ledger.messages()).max(1);
        let most = self.shape.most_messages.and_then(|most| usize::try_from(more(most)).ok());
        let most = most.map_or(TAIL, |most| most.min(TAIL));
        Page::before(behind(at), most, View::Log).within(room)
    }

    /// Returns the page of the past that is read next, and whose it is, if `room` tokens are left for it.
    pub(super) fn older_past(&self, room: u64) -> Option<(SessionId, Page)> {
        let part = self.past.as_ref()?.rest.front().filter(|_| room > 0)?;
        let page = self.past_page(Seq(part.before.0.saturating_sub(1)), room);
        Some((part.point.session.clone(), page))
    }

    /// Returns the page of the past that is read next where the messages under the branch's own summaries leave room for it.
    pub(crate) fn past_behind_log(&self, budget: u64) -> Option<(SessionId, Page)> {
        let log = self.log.as_ref().filter(|log| log.first().is_some_and(|row| row.seq <= Seq(1)))?;
        let under = log.iter().filter(|row| row.archived_by.is_some()).map(|row| row.tokens);
        let taken = under.fold(self.ledger.tokens(), u64::saturating_add);
        self.older_past(budget.saturating_sub(taken))
    }

    /// Puts older rows of the past before those that were read.
    pub(crate) fn add_past(&mut self, mut older: Slice, counter: &dyn TokenCounter) {
        let Some(past) = &mut self.past else { return };
        let Some(part) = past.rest.front_mut() else { return };
        let (session, at, later) = (part.point.session.clone(), part.point.at, part.before);
        let first = older.messages.first().map_or(Seq(0), |row| row.seq);
        part.before = first;
        if first <= Seq(1) {
            past.rest.pop_front();
        }
        self.complete &= older.complete;
        let is_shown = |row: &StoredMessage| row.is_active() && !row.begins_branch();
        older.messages = older.messages.into_iter().map(|row| row.seen_at(at)).filter(is_shown).collect();
        past.read += older.messages.len() as u64;
        older.messages.retain(|row| !self.instructions_left_out.contains(&row.id));
        // Instructions in this range are pinned, so they were read and counted before.
        let is_again = |row: &mut StoredMessage| row.session == session && first <= row.seq && row.seq < later;
        let pinned: Vec<StoredMessage> = self.rows.extract_if(.., is_again).collect();
        for row in &mut older.messages {
            if let Some(read) = pinned.iter().find(|read| read.id == row.id) {
                *row = read.clone();
            }
        }
        self.recounted += recount(&mut older.messages, counter);
        let known: u64 = pinned.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
        let tokens = older.messages.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
        past.tokens = past.tokens.saturating_add(tokens.saturating_sub(known));
        // What stands before is pinned: of this conversation, and of those that are not read yet.
        let is_older = |row: &&StoredMessage| match row.session == session {
            true => row.seq < first,
            false => past.rest.iter().any(|part| part.point.session == row.session),
        };
        let place = self.rows.iter().take_while(|row| is_older(row)).count();
        self.rows.splice(place..place, older.messages);
        self.ledger = Ledger::of(&self.rows);
    }

    /// Returns the page in which to look for the newest summary of what was not read of the past, and whose it is, where the pinned rows
    /// have none. The conversation may have folded that summary since. The page holds little more than a context of `limit` tokens.
    pub(crate) fn lost_past_summary(&self, limit: u64) -> Option<(SessionId, Page)> {
        let past = self.past.as_ref().filter(|_| self.summary.is_none())?;
        let mut parts = past.rest.iter().take_while(|part| !part.is_summarised());
        let (part, lost) = parts.find_map(|part| Some((part, part.lost?)))?;
        let page = Page::before(lost, LOST, View::All).within(limit.saturating_mul(LOOK));
        Some((part.point.session.clone(), page))
    }

    /// Takes the newest summary from its [`Window::lost_past_summary`], or goes on looking.
    pub(crate) fn find_past_summary(&mut self, session: &SessionId, page: Slice) {
        self.complete &= page.complete;
        let Some(past) = &mut self.past else { return };
        let Some(part) = past.rest.iter_mut().find(|part| part.point.session == *session) else { return };
        // Each number has a row in this view, so a page that is not the last one begins behind the first number.
        part.lost = page.messages.first().map(|row| row.seq).filter(|first| *first > Seq(1));
        let found = page.messages.into_iter().rfind(|row| row.message.is_some() && part.covers_unread(row));
        if let Some(summary) = found {
            (part.summary, part.lost) = (Some(summary.seen_at(part.point.at)), None);
        }
    }

    /// Takes the newest summary of the past for what was not read of it, if the branch has none of its own.
    pub(crate) fn summarise_past(&mut self, counter: &dyn TokenCounter) {
        let Some(past) = self.past.as_mut().filter(|_| self.summary.is_none()) else { return };
        let found = past.rest.iter_mut().find(|part| part.is_summarised());
        self.summary = found.and_then(|part| part.summary.take());
        self.recounted += recount(self.summary.as_mut(), counter);
    }

    /// Returns how many tokens there are before the rows that were read. Where those reach into the past, whose length nobody counted, the
    /// branch's own rows begin at a multiple of `step`.
    pub(super) fn before(&self, step: u64) -> u64 {
        let is_past = |row: &&StoredMessage| !self.is_own(row);
        let inherited = |row: &&StoredMessage| is_past(row) && !is_instruction(row);
        let sum = |rows: &mut dyn Iterator<Item = u64>| rows.fold(0, u64::saturating_add);
        let all = sum(&mut self.rows.iter().filter(is_past).map(|row| row.tokens));
        let read = sum(&mut self.rows.iter().filter(inherited).map(|row| row.tokens));
        let own = self.state.active_tokens.saturating_sub(self.ledger.tokens().saturating_sub(all));
        own.saturating_add(read.div_ceil(step.max(1)).saturating_mul(step.max(1)) - read)
    }

    /// Returns how many rows of the past the window has, read or not, and the tokens of those that were read.
    pub(super) fn inherited(&self) -> (u64, u64) {
        self.past.as_ref().map_or((0, 0), |past| (past.read.saturating_add(past.unread()), past.tokens))
    }

    /// Returns how many conversations of the past are not read to their beginning.
    pub(crate) fn parts(&self) -> usize {
        self.past.as_ref().map_or(0, |past| past.rest.len())
    }

    /// Returns how many conversations are gone whose past the branch shared.
    pub(crate) fn gone(&self) -> usize {
        self.past.as_ref().map_or(0, |past| past.gone)
    }

    /// Returns the conversation that opens the window.
    pub(super) fn root(&self) -> SessionId {
        self.past.as_ref().map_or_else(|| self.state.session.clone(), |past| past.root.clone())
    }

    pub(super) fn lacks_past_instructions(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.lacks_instructions)
    }

    /// Returns whether a message was said after the branch left the conversation in which it stands.
    pub(crate) fn is_after_fork(&self, row: &StoredMessage) -> bool {
        let points = self.past.iter().flat_map(|past| &past.points);
        points.into_iter().any(|point| point.session == row.session && row.seq > point.at)
    }
}
