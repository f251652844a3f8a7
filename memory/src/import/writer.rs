//! Writing what was read: batches that are durable before the next is read, bad items set apart, the good ones kept.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use memory_core::engine::{Scoped, Session};
use memory_core::error::{Cause, Transience};
use memory_core::message::TITLE;
use memory_core::store::chat::Placement;
use memory_core::{
    Error, Message, MessageId, RecordId, Result, SessionId, StoredMessage, StoredRecord, Timestamp, Trust,
};
use tokio::task::{JoinError, JoinSet};

use super::identity::fingerprint;
use super::item::Item;
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
            Item::Message { line, within, session, message, time_is_inferred } => match SessionId::new(&session) {
                Ok(session) => {
                    waiting.count(weight);
                    let said = ReadMessage { message: *message, time_is_inferred };
                    waiting.messages.entry(session).or_default().push((Position { line, within }, said));
                }
                Err(error) => tally.reject(Position { line, within }, Refusal::of_message(&error, &message)),
            },
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
            Item::Rejected { line, within, why } => tally.reject(Position { line, within }, why),
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
        for (session, said) in messages {
            batches.spawn(write_messages(self.scoped.session(&session), said));
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

/// Items to be written together, all or none.
#[derive(Debug)]
enum Group {
    /// Those whose times are not told, besides, have the time at which they were stored first.
    Messages(Session, Vec<Message>, HashSet<MessageId>),
    Rows(Session, Vec<StoredMessage>),
    Records(Scoped, Vec<StoredRecord>),
}

#[derive(Clone, Copy, Debug)]
enum ItemOutcome {
    Added,
    Already,
    Forgotten,
}

#[derive(Debug, Default)]
struct GroupOutcome {
    /// The fingerprint of its session.
    session: Option<u64>,
    /// Messages in an instruction's role without the trust for it.
    quoted: u64,
    instructions: u64,
    outcomes: Vec<ItemOutcome>,
    rejections: Vec<(Position, Refusal)>,
    /// Messages that were stored before with another trust.
    trusted_before: u64,
}

impl GroupOutcome {
    /// Counts the instructions of what was stored.
    fn count(&mut self, group: &Group, instructions: &[bool]) {
        let count = instructions.iter().filter(|is_instruction| **is_instruction).count() as u64;
        match group {
            Group::Messages(..) => self.quoted += count,
            Group::Rows(..) => self.instructions += count,
            Group::Records(..) => {}
        }
    }

    fn tell(self, tally: &mut Tally) {
        if !self.outcomes.is_empty() {
            tally.sessions.extend(self.session);
        }
        for outcome in self.outcomes {
            match outcome {
                ItemOutcome::Added => tally.added += 1,
                ItemOutcome::Already => tally.already += 1,
                ItemOutcome::Forgotten => tally.forgotten += 1,
            }
        }
        tally.quoted += self.quoted;
        tally.instructions += self.instructions;
        tally.trusted_before += self.trusted_before;
        self.rejections.into_iter().for_each(|(at, why)| tally.reject(at, why));
    }
}

impl Group {
    /// Returns the fingerprint of the session that it is of.
    fn session(&self) -> Option<u64> {
        match self {
            Self::Messages(session, ..) | Self::Rows(session, _) => Some(fingerprint(session.id().key())),
            Self::Records(..) => None,
        }
    }

    /// Returns which of its items have the role of an instruction: messages without the trust for it, and rows with it.
    fn instructions(&self) -> Vec<bool> {
        let is_quoted = |message: &Message| message.role.is_instruction() && message.trust < Trust::System;
        // What begins a branch has the role, and says nothing.
        let is_instruction = |row: &StoredMessage| {
            row.message.as_ref().is_some_and(|message| message.is_instruction()) && !row.begins_branch()
        };
        match self {
            Self::Messages(_, all, _) => all.iter().map(is_quoted).collect(),
            Self::Rows(_, all) => all.iter().map(is_instruction).collect(),
            Self::Records(..) => Vec::new(),
        }
    }

    /// Returns why the item at `index` is refused.
    fn refusal(&self, index: usize, error: &Error) -> Refusal {
        match self {
            Self::Messages(_, all, _) => {
                all.get(index).map_or_else(|| error.into(), |message| Refusal::of_message(error, message))
            }
            _ => error.into(),
        }
    }

    async fn store(&self, range: Range<usize>) -> Result<Vec<ItemOutcome>> {
        patiently(|| self.store_once(range.clone())).await
    }

    async fn store_once(&self, range: Range<usize>) -> Result<Vec<ItemOutcome>> {
        let placements = match self {
            Self::Messages(session, all, _) => {
                session.append(all.get(range).unwrap_or_default().to_vec()).await?.placements
            }
            Self::Rows(session, all) => session.restore(all.get(range).unwrap_or_default()).await?.placements,
            Self::Records(scoped, all) => return restore_records(scoped, all.get(range).unwrap_or_default()).await,
        };
        Ok(placements.into_iter().map(ItemOutcome::of).collect())
    }

    /// Gives messages that are stored with equal words the trust, the title and what stands aside as they have it there, and the
    /// time if theirs is not told. Returns how many differed, and how many of these in their trust. Whether roles are trusted is
    /// said when something is imported first, and a conversation may be renamed: a later import of it is no conflict, nor is one
    /// at the same time.
    async fn keep_stored(&mut self) -> Result<(u64, u64)> {
        let Self::Messages(session, messages, timeless) = self else { return Ok((0, 0)) };
        let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        let stored = patiently(|| session.scoped().messages(&ids)).await?;
        let stored: HashMap<MessageId, &Message> =
            stored.iter().filter_map(|row| Some((row.id, row.message.as_deref()?))).collect();
        let (mut kept, mut trusted) = (0, 0);
        for message in messages {
            let Some(there) = stored.get(&message.id).filter(|there| **there != message) else { continue };
            let mut like = message.clone();
            (like.trust, like.aside) = (there.trust, there.aside.clone());
            if timeless.contains(&like.id) {
                like.at = there.at;
            }
            match there.metadata.get(TITLE) {
                Some(title) => like = like.with_metadata(TITLE, title.clone()),
                None => _ = like.metadata.remove(TITLE),
            }
            if like == **there {
                (kept, trusted) = (kept + 1, trusted + u64::from(message.trust != there.trust));
                *message = like;
            }
        }
        Ok((kept, trusted))
    }
}

impl ItemOutcome {
    fn of(placement: Placement) -> Self {
        match placement {
            Placement::Added(_) | Placement::Queued => Self::Added,
            Placement::Already(_) => Self::Already,
            Placement::Forgotten => Self::Forgotten,
        }
    }
}

/// Stores the records that are not there: an import replaces none, and brings none back.
async fn restore_records(scoped: &Scoped, rows: &[StoredRecord]) -> Result<Vec<ItemOutcome>> {
    let ids: Vec<RecordId> = rows.iter().map(|row| row.record.id).collect();
    let stored = scoped.get(&ids).await?;
    let mut stored: HashSet<RecordId> = stored.iter().map(|row| row.record.id).collect();
    match (scoped.restore_missing(rows).await, rows) {
        // What is in the way of one alone, and is not stored, is that it was forgotten.
        (Err(Error::Conflict), [_]) if stored.is_empty() => return Ok(vec![ItemOutcome::Forgotten]),
        (restored, _) => restored?,
    }
    // A record that stands in the file twice is added once.
    let outcome = |row: &StoredRecord| {
        if stored.insert(row.record.id) { ItemOutcome::Added } else { ItemOutcome::Already }
    };
    Ok(rows.iter().map(outcome).collect())
}

async fn write_messages(session: Session, said: Vec<(Position, ReadMessage)>) -> Result<GroupOutcome> {
    let timeless = said.iter().filter(|(_, said)| said.time_is_inferred).map(|(_, said)| said.message.id);
    let timeless: HashSet<MessageId> = timeless.collect();
    let known = known_times(session.scoped(), &timeless).await?;
    let mut places = Vec::with_capacity(said.len());
    let mut messages = Vec::with_capacity(said.len());
    for (at, ReadMessage { mut message, .. }) in said {
        message.at = known.get(&message.id).copied().unwrap_or(message.at);
        places.push(at);
        messages.push(message);
    }
    write(places, Group::Messages(session, messages, timeless)).await
}

/// Returns the times under which messages are stored, so that one without a time of its own keeps its first.
async fn known_times(scoped: &Scoped, ids: &HashSet<MessageId>) -> Result<HashMap<MessageId, Timestamp>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<MessageId> = ids.iter().copied().collect();
    let stored = patiently(|| scoped.messages(&ids)).await?;
    Ok(stored.iter().filter_map(|row| Some((row.id, row.message.as_ref()?.at))).collect())
}

/// Writes the items of a group together. If they are refused, writes them one by one, so that only the bad ones are
/// left out.
async fn write(places: Vec<Position>, mut group: Group) -> Result<GroupOutcome> {
    let instructions = group.instructions();
    let mut written = GroupOutcome { session: group.session(), ..GroupOutcome::default() };
    let mut stored = group.store(0..places.len()).await;
    // Again while another import stores the same messages: each is made like the stored one once.
    while matches!(stored, Err(Error::IdConflict { .. })) {
        let (kept, trusted) = group.keep_stored().await?;
        written.trusted_before += trusted;
        if kept == 0 {
            break;
        }
        stored = group.store(0..places.len()).await;
    }
    match stored {
        Ok(outcomes) => {
            written.outcomes = outcomes;
            written.count(&group, &instructions);
            return Ok(written);
        }
        Err(error) if !is_refusal(&error) => return Err(error),
        Err(_) => {}
    }
    for (index, at) in places.into_iter().enumerate() {
        match group.store(index..index + 1).await {
            Ok(mut outcomes) => {
                written.outcomes.append(&mut outcomes);
                written.count(&group, instructions.get(index..index + 1).unwrap_or_default());
            }
            Err(error) if is_refusal(&error) => written.rejections.push((at, group.refusal(index, &error))),
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

fn broke_down(source: JoinError) -> Error {
    let source = Cause::new(source);
    Error::Backend { backend: "memory", doing: "write a batch", transience: Transience::Permanent, source }
}

/// Whether an error is about one item, not about the database.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Invalid { .. } | Error::IdConflict { .. } | Error::Conflict)
}
