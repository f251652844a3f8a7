//! The queue between the thread that reads a file and the task that writes to the database. It is bounded by its items
//! and by the memory that they take: a hundred messages of four MiB must not wait there at once.

use std::sync::Arc;

use memory_core::{Limits, Message, Trust};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::conversation::Conversation;
use super::item::{Item, LeftOut};
use super::position::{Position, Within};
use super::refusal::Refusal;

/// Memory that items in a queue may take, in KiB; a single larger one waits there alone.
const ROOM: u32 = 4 << 10;

/// Whoever takes the items has stopped.
#[derive(Debug)]
pub(super) struct Stopped;

/// Where a reader puts items. Waits while the other side is busy.
#[derive(Clone, Debug)]
pub(super) struct Sink {
    items: Sender<(Item, Option<OwnedSemaphorePermit>)>,
    room: Arc<Semaphore>,
    /// The runtime in which a reader waits for room; none outside a runtime, where it does not wait.
    runtime: Option<Handle>,
    limits: Arc<Limits>,
    trusts_roles: bool,
    /// The lines of the files before.
    behind: u64,
}

/// Where the items that a reader has put are taken, in order.
#[derive(Debug)]
pub(super) struct Outlet(Receiver<(Item, Option<OwnedSemaphorePermit>)>);

/// Returns the two ends of a queue of so many items at the most.
pub(super) fn queue(items: usize) -> (Sink, Outlet) {
    let (sender, receiver) = channel(items);
    let (room, runtime) = (Arc::new(Semaphore::new(ROOM as usize)), Handle::try_current().ok());
    (Sink { items: sender, room, runtime, limits: Arc::default(), trusts_roles: false, behind: 0 }, Outlet(receiver))
}

impl Outlet {
    /// Returns the next item; none once the reader has ended.
    pub(super) async fn next(&mut self) -> Option<Item> {
        Some(self.0.recv().await?.0)
    }

    /// Returns the next item, and blocks until there is one.
    pub(super) fn blocking_next(&mut self) -> Option<Item> {
        Some(self.0.blocking_recv()?.0)
    }
}

impl Sink {
    /// Lets messages speak with the trust of their roles, or with that of an import.
    pub(super) fn trusting(&self, trusts_roles: bool) -> Self {
        Self { trusts_roles, ..self.clone() }
    }

    /// Counts lines behind so many of other files.
    pub(super) fn behind(&self, lines: u64) -> Self {
        Self { behind: lines, ..self.clone() }
    }

    /// Puts an item. One beyond the limits is put as a rejection, before it takes room.
    pub(super) fn put(&self, item: Item) -> Result<(), Stopped> {
        let mut item = self.checked(item);
        item.line_mut().into_iter().for_each(|line| *line += self.behind);
        let kib = u32::try_from(item.weight() >> 10).unwrap_or(ROOM).min(ROOM);
        let room = Arc::clone(&self.room).try_acquire_many_owned(kib).ok().or_else(|| {
            let room = Arc::clone(&self.room).acquire_many_owned(kib);
            self.runtime.as_ref()?.block_on(room).ok()
        });
        self.items.blocking_send((item, room)).map_err(|_| Stopped)
    }

    /// Puts a message of a session that a file of another program names.
    pub(super) fn message(
        &self,
        at: Position,
        session: &str,
        message: Message,
        time_is_inferred: bool,
    ) -> Result<(), Stopped> {
        self.message_of(at, (session, true), message, time_is_inferred)
    }

    /// Puts a message of a file that another program wrote, with the name of its session and whether the file has that.
    pub(super) fn message_of(
        &self,
        at: Position,
        (session, session_is_told): (&str, bool),
        mut message: Message,
        time_is_inferred: bool,
    ) -> Result<(), Stopped> {
        if !self.trusts_roles {
            message.trust = Trust::Untrusted;
        }
        let (Position { line, within, .. }, session, message) = (at, session.to_owned(), Box::new(message));
        self.put(Item::Message { line, within, session, session_is_told, message, time_is_inferred })
    }

    /// Puts a rejection.
    pub(super) fn reject(&self, at: impl Into<Position>, why: impl Into<Refusal>) -> Result<(), Stopped> {
        let Position { line, within, .. } = at.into();
        self.put(Item::Rejected { line, within, why: why.into() })
    }

    /// Puts a note that something of a conversation is not taken as it was.
    pub(super) fn leave_out(&self, of: Conversation<'_>, what: LeftOut) -> Result<(), Stopped> {
        let Conversation { session, title } = of;
        self.put(Item::LeftOut { session: session.to_owned(), title: title.map(str::to_owned), what })
    }

    /// Puts a note.
    pub(super) fn note(&self, text: impl Into<String>) -> Result<(), Stopped> {
        self.put(Item::Note(text.into()))
    }

    fn checked(&self, item: Item) -> Item {
        let nowhere = Within::default();
        let (line, within, checked) = match &item {
            Item::Message { line, within, message, .. } => {
                let checked = self.limits.check_message(message);
                (*line, *within, checked.map_err(|error| Refusal::of_message(&error, message)))
            }
            Item::Row { line, row } => (*line, nowhere, self.limits.check_row(row).map_err(|error| (&error).into())),
            Item::Record { line, record } => {
                (*line, nowhere, self.limits.check_stored(record).map_err(|error| (&error).into()))
            }
            _ => return item,
        };
        checked.map_or_else(|why| Item::Rejected { line, within, why }, |()| item)
    }
}
