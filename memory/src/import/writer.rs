//! Writing what was read: batches that are durable before the next is read, bad items set apart, the good ones kept.

use std::collections::{BTreeMap, HashSet};

use memory_core::engine::{Scoped, Session};
use memory_core::error::{Cause, Transience};
use memory_core::{Error, Message, MessageId, Result, SessionId, StoredMessage, StoredRecord};
use tokio::task::{JoinError, JoinSet};

use super::group::{Group, GroupOutcome, write};
use super::item::Item;
use super::messages::{Messages, shared};
use super::patience::patiently;
use super::position::Position;
use super::refusal::{Refusal, named};
use super::tally::Tally;

/// Items of one batch at the most.
const ITEMS: usize = 256;
/// Bytes of memory after which a batch is written. Until it is durable it is held five times: as messages, as those that
/// are appended, as their encoding, and twice on its way into the database.
const BYTES: usize = 1 << 20;

/// Takes items and writes them in batches for one owner.
#[derive(Debug)]
pub(super) struct Writer {
    scoped: Scoped,
    waiting: Batch,
    tally: Tally,
}

/// The batch under way. Sessions are written together and share commits; within one the order of the file is kept.
#[derive(Debug, Default)]
struct Batch {
    messages: BTreeMap<SessionId, Vec<(Position, ReadMessage)>>,
    rows: BTreeMap<SessionId, Vec<(Position, StoredMessage)>>,
    records: Vec<(Position, StoredRecord)>,
    items: usize,
    bytes: usize,
}

#[derive(Debug)]
struct ReadMessage {
    message: Message,
    session_is_told: bool,
    time_is_inferred: bool,
}

impl Writer {
    /// Returns a writer for the owner of `scoped`.
    pub(super) fn new(scoped: Scoped) -> Self {
        Self { scoped, waiting: Batch::default(), tally: Tally::default() }
    }

    /// Returns what became of the items so far.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Ends the import and returns what became of all items.
    pub(super) fn into_tally(mut self) -> Tally {
        self.tally.finish();
        self.tally
    }

    /// Takes an item. Returns whether the batch is full and has to be written.
    pub(super) fn take(&mut self, item: Item) -> bool {
        let (waiting, tally, weight) = (&mut self.waiting, &mut self.tally, item.weight());
        if !matches!(item, Item::File { .. } | Item::NoConversation { .. } | Item::Note(_)) {
            tally.is_of_use();
        }
        match item {
            Item::Message { line, within, session, session_is_told, message, time_is_inferred } => {
                match SessionId::new(&session) {
                    Ok(session) => {
                        waiting.count(weight);
                        let said = ReadMessage { message: *message, session_is_told, time_is_inferred };
                        waiting.messages.entry(session).or_default().push((Position::new(line, within), said));
                    }
                    Err(error) => tally.reject(Position::new(line, within), Refusal::of_message(&error, &message)),
                }
            }
            Item::Row { line, row } => {
                tally.is_export = true;
                waiting.count(weight);
                waiting.rows.entry(row.session.clone()).or_default().push((line.into(), *row));
            }
            Item::Record { line, record } => {
                tally.is_export = true;
                waiting.count(weight);
                waiting.records.push((line.into(), *record));
            }
            Item::Rejected { line, within, why } => tally.reject(Position::new(line, within), why),
            Item::LeftOut { session, title, what } => {
                tally.leave_out(named(&session), title.map(|title| named(&title)), what);
            }
            Item::File { line, name } => tally.begin_file(line, name),
            Item::NoConversation { name } => tally.pass_over(name),
            Item::Note(text) => tally.note(text),
        }
        waiting.items >= ITEMS || waiting.bytes >= BYTES
    }

    /// Returns whether items wait to be written.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.items > 0
    }

    /// Sees the owner as it is now: nothing is written after a later erasure, also where its first batch comes behind that.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since the handle was first used.
    pub(super) async fn begin(&self) -> Result<()> {
        patiently(|| self.scoped.check()).await
    }

    /// Writes the batch. When this returns it is durable; items that were refused are in the tally.
    ///
    /// # Errors
    /// What the database fails with; then nothing of what failed counts as written, and no further batch is written. Another import of
    /// the same file finds again what is stored.
    pub(super) async fn write(&mut self) -> Result<()> {
        let Batch { messages, rows, records, .. } = std::mem::take(&mut self.waiting);
        let mut batches = JoinSet::new();
        let mut shared =
            shared(messages.iter().map(|(session, said)| (session, said.iter().map(|(_, said)| &said.message))));
        for (session, said) in messages {
            let shared = shared.remove(&session).unwrap_or_default();
            batches.spawn(write_messages(self.scoped.session(&session), said, shared));
        }
        for (session, rows) in rows {
            let (places, rows) = rows.into_iter().unzip();
            batches.spawn(write(places, Group::Rows(self.scoped.session(&session), rows)));
        }
        if !records.is_empty() {
            let (places, records) = records.into_iter().unzip();
            batches.spawn(write(places, Group::Records(self.scoped.clone(), records)));
        }
        let mut failed = None;
        while let Some(written) = batches.join_next().await {
            match written {
                Ok(Ok(written)) => written.tell(&mut self.tally),
                Ok(Err(error)) => failed = Some(error),
                Err(broken) => failed = Some(broke_down(broken)),
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Batch {
    fn count(&mut self, bytes: usize) {
        self.items += 1;
        self.bytes += bytes;
    }
}

/// Writes messages of one session. Those without a time of their own keep the time under which they were stored first.
async fn write_messages(
    session: Session,
    said: Vec<(Position, ReadMessage)>,
    shared: HashSet<MessageId>,
) -> Result<GroupOutcome> {
    let mut messages = Messages::of(session, said.iter().all(|(_, said)| said.session_is_told));
    let mut places = Vec::with_capacity(said.len());
    for (at, ReadMessage { message, time_is_inferred, .. }) in said {
        places.push(at);
        messages.push(message, time_is_inferred);
    }
    messages.prepare(&shared).await?;
    write(places, Group::Messages(messages)).await
}

fn broke_down(source: JoinError) -> Error {
    let source = Cause::new(source);
    Error::Backend { backend: "memory", doing: "write a batch", transience: Transience::Permanent, source }
}
