//! The past that a branch shares, and the history of a conversation in pages: what is inherited, then its own messages.

use std::collections::VecDeque;

use futures_util::future::try_join_all;

use crate::error::{Error, Result};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{Seq, SessionId};
use crate::message::{Link, Point, Role, StoredMessage};
use crate::store::chat::{Edge, Page, View};

use super::handle::Session;

/// Where a page of a conversation's history begins.
#[derive(Clone, Copy, Debug)]
pub enum HistoryEdge<'a> {
    /// The newest messages.
    Newest,
    /// The newest messages before this one.
    Before(&'a StoredMessage),
    /// The oldest messages.
    Oldest,
    /// The oldest messages after this one.
    After(&'a StoredMessage),
}

/// A page of a conversation's history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPage {
    /// The messages, oldest first, with markers for forgotten ones. An inherited one has the conversation and the number under which it is
    /// stored.
    pub messages: Vec<StoredMessage>,
    /// The conversations whose part of the past is missing, because they were deleted.
    pub gone: Vec<SessionId>,
}

/// The conversations that still hold the past of a branch, the nearest first.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) points: Vec<Point>,
    pub(super) gone: Vec<SessionId>,
}

/// Where the next older page of a history begins.
#[derive(Debug)]
pub(super) struct Backwards {
    edge: Edge,
    /// The conversation that is read, if it is not the branch itself.
    point: Option<Point>,
    rest: VecDeque<Point>,
    is_done: bool,
    pub(super) gone: Vec<SessionId>,
}

impl Backwards {
    /// Begins at the newest message.
    pub(super) fn new() -> Self {
        Self { edge: Edge::Newest, point: None, rest: VecDeque::new(), is_done: false, gone: Vec::new() }
    }

    /// Goes on in the next older conversation.
    fn descend(&mut self) {
        self.point = self.rest.pop_front();
        self.is_done = self.point.is_none();
        self.edge = self.point.as_ref().map_or(self.edge, |point| Edge::Before(behind(point.at)));
    }
}

impl Session {
    /// Returns up to `limit` messages from either end of the conversation's history, oldest first. In a branch ([`Session::fork`]) that is
    /// the past which it shares, and then its own messages. What was folded or replaced is among them; summaries are not.
    ///
    /// # Errors
    /// `Invalid` if the page is to begin at a message that is not in this history.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::engine::HistoryEdge;
    ///
    /// let newest = session.history(HistoryEdge::Newest, 20).await?.messages;
    /// if let Some(first) = newest.first() {
    ///     let before = session.history(HistoryEdge::Before(first), 20).await?.messages;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "get_history")]
    pub async fn history(&self, edge: HistoryEdge<'_>, limit: usize) -> Result<HistoryPage> {
        let mut back = match edge {
            HistoryEdge::Oldest => return self.forwards(None, limit, None).await,
            HistoryEdge::After(row) => return self.forwards(Some(row), limit, None).await,
            HistoryEdge::Newest => Backwards::new(),
            HistoryEdge::Before(row) if row.session == *self.id() => {
                Backwards { edge: Edge::Before(row.seq), ..Backwards::new() }
            }
            HistoryEdge::Before(row) => self.backwards_from(row).await?,
        };
        let mut messages = Vec::new();
        while messages.len() < limit
            && let Some(mut page) = self.older(&mut back, limit - messages.len(), None).await?
        {
            page.extend(messages);
            messages = page;
        }
        Ok(HistoryPage { messages, gone: back.gone })
    }

    async fn backwards_from(&self, row: &StoredMessage) -> Result<Backwards> {
        let link = self.link().await?.ok_or_else(elsewhere)?;
        let Past { points, gone } = self.living(&link).await?;
        let place = place_of(&link, &points, row)?;
        let older = |point: &Point| link.points().iter().position(|known| known == point) >= Some(place);
        let rest = points.into_iter().filter(older).collect();
        let mut back = Backwards { rest, gone, ..Backwards::new() };
        back.descend();
        if back.point.as_ref().is_some_and(|point| point.session == row.session) {
            back.edge = Edge::Before(row.seq);
        }
        Ok(back)
    }

    /// Returns the next older page of up to `limit` messages, oldest first; none at the beginning. Those that do not match `filter` may be
    /// left out.
    pub(super) async fn older(
        &self,
        back: &mut Backwards,
        limit: usize,
        filter: Option<&Filter>,
    ) -> Result<Option<Vec<StoredMessage>>> {
        if back.is_done || limit == 0 {
            return Ok(None);
        }
        let page = Page { edge: back.edge, limit, tokens: None, view: View::Log, filter: filter.cloned() };
        let mut rows = self.of(back.point.as_ref()).read(&page).await?.messages;
        let is_last = rows.len() < limit || rows.first().is_some_and(|row| row.seq <= Seq(1));
        back.edge = rows.first().map_or(back.edge, |row| Edge::Before(row.seq));
        if let Some(link) = rows.first().and_then(Link::of) {
            rows.remove(0);
            if back.point.is_none() {
                let Past { points, gone } = self.living(&link).await?;
                (back.rest, back.gone) = (points.into(), gone);
            }
        }
        if let Some(point) = &back.point {
            rows = rows.into_iter().map(|row| row.seen_at(point.at)).collect();
        }
        if is_last {
            back.descend();
        }
        Ok(Some(rows))
    }

    /// Returns the page of up to `limit` messages after a message, or from the beginning. It ends behind the message that brings the sum of
    /// tokens above `tokens`.
    pub(super) async fn forwards(
        &self,
        after: Option<&StoredMessage>,
        limit: usize,
        tokens: Option<u64>,
    ) -> Result<HistoryPage> {
        let own = after.filter(|row| row.session == *self.id()).map_or(Seq(0), |row| row.seq);
        let page = |seq, limit| Page { tokens, ..Page::after(seq, limit, View::Log) };
        // One more, because a branch begins with a row that is no message.
        let mut mine = self.read(&page(own, limit.saturating_add(usize::from(own == Seq(0))))).await?.messages;
        let link = mine.first().and_then(Link::of);
        let Some(link) = link else {
            let is_here = after.is_none_or(|row| row.session == *self.id());
            mine.truncate(limit);
            return if is_here { Ok(HistoryPage { messages: mine, gone: Vec::new() }) } else { Err(elsewhere()) };
        };
        let Past { points, gone } = self.living(&link).await?;
        let place = after.map_or(Ok(usize::MAX), |row| place_of(&link, &points, row))?;
        let (mut messages, mut sum) = (Vec::new(), 0_u64);
        let is_full = |messages: &Vec<StoredMessage>, sum: u64| {
            messages.len() >= limit || tokens.is_some_and(|tokens| sum > tokens)
        };
        let newer = |point: &&Point| link.points().iter().position(|known| known == *point) <= Some(place);
        for point in points.iter().rev().filter(newer) {
            let mut seq = after.filter(|row| row.session == point.session).map_or(Seq(0), |row| row.seq);
            while seq < point.at && !is_full(&messages, sum) {
                let rows = self.of(Some(point)).read(&page(seq, limit - messages.len())).await?.messages;
                let Some(last) = rows.last() else { break };
                seq = last.seq;
                let shared = rows.into_iter().filter(|row| row.seq <= point.at && !row.begins_branch());
                for row in shared.map(|row| row.seen_at(point.at)) {
                    sum = sum.saturating_add(row.tokens);
                    messages.push(row);
                }
            }
        }
        for row in mine.into_iter().skip(1) {
            if is_full(&messages, sum) {
                break;
            }
            sum = sum.saturating_add(row.tokens);
            messages.push(row);
        }
        Ok(HistoryPage { messages, gone })
    }

    /// Returns the row with which the conversation begins, if it is a branch.
    pub(super) async fn link(&self) -> Result<Option<Link>> {
        Ok(self.read(&Page::after(Seq(0), 1, View::Log)).await?.messages.first().and_then(Link::of))
    }

    /// Returns which conversations still hold the past: those where the message stands at which the branch leaves them.
    pub(super) async fn living(&self, link: &Link) -> Result<Past> {
        let reads = link.points().iter().map(|point| async move {
            let page = Page::before(behind(point.at), 1, View::Log);
            Ok::<_, Error>(self.of(Some(point)).read(&page).await?.messages.pop().is_some_and(|row| point.is(&row)))
        });
        let mut past = Past::default();
        for (point, is_there) in link.points().iter().zip(try_join_all(reads).await?) {
            match is_there {
                true => past.points.push(point.clone()),
                false => past.gone.push(point.session.clone()),
            }
        }
        Ok(past)
    }

    /// Returns the handle of the conversation of a point, or of this one.
    fn of(&self, point: Option<&Point>) -> Self {
        point.map_or_else(|| self.clone(), |point| self.scoped().session(&point.session))
    }
}

/// Returns the filter for what is no instruction. A row that begins a branch does not match it.
pub(super) fn no_instructions() -> Filter {
    let instructions = [Role::System, Role::Developer].map(|role| Scalar::from(role.name()));
    Filter::In(Field::Role, instructions.into()).negate()
}

/// Returns the number after `seq`.
pub(super) fn behind(seq: Seq) -> Seq {
    Seq(seq.0.saturating_add(1))
}

/// Returns the place in the past where a message of another conversation stands that still holds it.
fn place_of(link: &Link, living: &[Point], row: &StoredMessage) -> Result<usize> {
    let holds = |point: &Point| point.session == row.session && row.seq <= point.at && living.contains(point);
    link.points().iter().position(holds).ok_or_else(elsewhere)
}

fn elsewhere() -> Error {
    Error::invalid("this message is not in the history of the conversation")
}
