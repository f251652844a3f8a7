//! Branches: conversations that share the past of another one without copying it.

use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SessionId};
use crate::message::{Link, Point, StoredMessage};
use crate::store::chat::{Append, Page, Placement, View};
use crate::time::Timestamp;

use super::counted::measure_all;
use super::event::Event;
use super::handle::Session;

/// The last message that a branch shares with the conversation that it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkPoint {
    /// The message with this number. In a branch only its own messages have numbers, from 2 on; 1 is the point where it begins.
    Number(Seq),
    /// The message of this id. In a branch it may be one that the branch inherited.
    Message(MessageId),
}

impl From<Seq> for ForkPoint {
    fn from(seq: Seq) -> Self {
        Self::Number(seq)
    }
}

impl From<MessageId> for ForkPoint {
    fn from(id: MessageId) -> Self {
        Self::Message(id)
    }
}

impl Session {
    /// Begins the conversation `branch`, which shares the past of this one up to the message `at`, and returns its handle with the
    /// settings of this one.
    ///
    /// Nothing is copied, so the length of the past costs nothing. Contexts, [`Session::history`], [`Session::recent`],
    /// [`Session::title`] and [`Session::search`] of the branch show that past as it was said, whatever was folded or replaced since, and
    /// never what was said after it. The branch's own messages have numbers of their own, from 2 on; [`Session::read`] reads these alone,
    /// and only these are folded. Inherited ones are not edited there: make a branch before the message instead.
    ///
    /// As there is one copy, a message that is forgotten is gone from all branches. A conversation that is deleted takes its own messages
    /// out of the past of its branches, also if another one is begun under its name; contexts of the branch then say so. To forget the
    /// branch leaves the past as it is. Exports and moves keep branches, as long as they hold the conversations whose past is shared.
    ///
    /// May be repeated: the same call gives the same branch.
    ///
    /// # Errors
    /// `Invalid` if the message is not in this conversation or the past that it shares, or was forgotten, or if `branch` is this
    /// conversation or would share the past of more than 64 conversations. `Conflict` if `branch` has messages or another past. `Fenced` as
    /// [`Session::append`].
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::{Seq, SessionId};
    ///
    /// let other = session.fork(Seq(12), &SessionId::new("what if")?).await?;
    /// let context = other.context("And if it rains?", 2_000).await?; // with the first twelve messages
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "branch")]
    pub async fn fork(&self, at: impl Into<ForkPoint>, branch: &SessionId) -> Result<Self> {
        let (inner, scope) = (self.scoped().inner(), self.scoped().scope());
        if branch == self.id() {
            return Err(Error::invalid("a branch is a conversation of its own: give it another name"));
        }
        let (link, at) = self.link_at(at.into(), branch).await?;
        let message = link.message(branch, at);
        let id = message.id;
        let child = self.scoped().session(branch).with(*self.buffer())?;
        let first = child.read(&Page::after(Seq(0), 1, View::Log)).await?;
        if first.state.head > Seq(0) && first.messages.first().map(|row| row.id) != Some(id) {
            return Err(Error::Conflict);
        }
        let messages = measure_all(vec![message], &inner.limits, &inner.counter).await?;
        let batch = Append { fence: Some(first.state.fence), asked: 0, messages };
        let appended = inner.chat.store().append(scope, branch, &batch).await?;
        match appended.placements.first() {
            Some(Placement::Added(Seq(1))) => {
                let (session, from) = (branch.clone(), self.id().clone());
                inner.tell(Some(scope), &Event::Forked { session, from });
                Ok(child)
            }
            Some(Placement::Already(Seq(1))) => Ok(child),
            // What it will be is known when it is sent.
            Some(Placement::Queued) => {
                child.flush().await?;
                let first = child.read(&Page::after(Seq(0), 1, View::Log)).await?.messages.pop();
                if first.is_some_and(|row| row.id == id) {
                    return Ok(child);
                }
                inner.chat.store().redact(scope, &[id]).await?;
                Err(Error::Conflict)
            }
            // Somebody began the conversation meanwhile: the row says nothing there, and is not kept.
            Some(Placement::Added(_) | Placement::Already(_)) => {
                inner.chat.store().redact(scope, &[id]).await?;
                Err(Error::Conflict)
            }
            // The branch was cut off from its past.
            Some(Placement::Forgotten) | None => Err(Error::Conflict),
        }
    }

    /// Returns the past that a branch shares which leaves this conversation at a message, and when that was said.
    async fn link_at(&self, at: ForkPoint, branch: &SessionId) -> Result<(Link, Timestamp)> {
        let absent = || Error::invalid("there is no such message to branch at");
        let row = self.row_at(at).await?;
        let page = Page::after(Seq(0), 1, View::Log);
        // Read behind the row, which so belongs to the conversation that this handle knows.
        let mut first = self.read_own(&page).await?;
        if first.state.head == Seq(0) {
            // What leads to its past may wait in a journal. What waits behind that is not needed.
            let flushed = self.flush().await;
            first = self.read_own(&page).await?;
            if first.state.head == Seq(0) {
                flushed?;
            }
        }
        let link = first.messages.first().and_then(Link::of);
        let row = row.filter(|row| row.covers.is_none()).ok_or_else(absent)?;
        let said = row.message.as_ref().map(|message| message.at);
        let said = said.ok_or_else(|| Error::invalid("the message to branch at was forgotten"))?;
        let before = link.as_ref().map_or(&[][..], Link::points);
        // Behind a row that begins a branch stands the past alone.
        if let Some(inherited) = Link::of(&row) {
            let is_known = row.session == *self.id() || before.iter().any(|point| point.session == row.session);
            let (point, before) = inherited.points().split_first().filter(|_| is_known).ok_or_else(absent)?;
            return Ok((Link::new(branch, point, before)?, said));
        }
        let point = Point { session: row.session, at: row.seq, id: row.id };
        if point.session == *self.id() {
            return Ok((Link::new(branch, &point, before)?, said));
        }
        // Another conversation may have been begun under the name of one that was deleted.
        let living = match &link {
            Some(link) => self.living(link).await?.points,
            None => Vec::new(),
        };
        let holds = |known: &Point| known.session == point.session && point.at <= known.at && living.contains(known);
        let place = before.iter().position(holds).ok_or_else(absent)?;
        Ok((Link::new(branch, &point, before.get(place + 1..).unwrap_or_default())?, said))
    }

    async fn row_at(&self, at: ForkPoint) -> Result<Option<StoredMessage>> {
        match at {
            ForkPoint::Message(id) => Ok(self.scoped().said(&[id]).await?.pop()),
            ForkPoint::Number(Seq(0)) => Ok(None),
            ForkPoint::Number(seq) => {
                // What waits in a journal has no number yet.
                self.flush().await?;
                let page = Page::after(Seq(seq.0 - 1), 1, View::Log);
                Ok(self.read_own(&page).await?.messages.pop().filter(|row| row.seq == seq))
            }
        }
    }
}
