//! What a reader finds, and where it goes.

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use memory::{Error, Message, MessageId, StoredMessage, StoredRecord};
use tokio::sync::mpsc::Sender;

/// Something found in a file, with the line it ends on.
#[derive(Debug)]
pub(crate) enum Item {
    /// A message of a session.
    Message {
        /// The line.
        line: u64,
        /// The session's name.
        session: String,
        /// The message.
        message: Box<Message>,
        /// The file does not say when it was said.
        time_is_inferred: bool,
    },
    /// A row of an export, with its number.
    Row {
        /// The line.
        line: u64,
        /// The row.
        row: Box<StoredMessage>,
    },
    /// A record of an export.
    Record {
        /// The line.
        line: u64,
        /// The record.
        record: Box<StoredRecord>,
    },
    /// Something that cannot be taken.
    Rejected {
        /// The line.
        line: u64,
        /// Why, one clause.
        why: String,
    },
    /// Something to be said to the person.
    Note(String),
}

/// Whoever takes the items has stopped.
#[derive(Debug)]
pub(crate) struct Stopped;

/// How far a file has been read.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    bytes: AtomicU64,
    lines: AtomicU64,
}

impl Meter {
    /// Returns the bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the ends of lines read so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Adds what was read.
    pub(crate) fn add(&self, bytes: u64, lines: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.lines.fetch_add(lines, Ordering::Relaxed);
    }
}

/// Where a reader puts items. Waits while the other side is busy, so that memory stays bounded.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    items: Sender<Item>,
}

impl Sink {
    /// Returns a sink into `items`.
    pub(crate) fn new(items: Sender<Item>) -> Self {
        Self { items }
    }

    /// Puts an item.
    pub(crate) fn put(&self, item: Item) -> Result<(), Stopped> {
        self.items.blocking_send(item).map_err(|_| Stopped)
    }

    /// Puts a rejection.
    pub(crate) fn reject(&self, line: u64, why: impl Into<String>) -> Result<(), Stopped> {
        self.put(Item::Rejected { line, why: why.into() })
    }

    /// Puts a note.
    pub(crate) fn note(&self, text: impl Into<String>) -> Result<(), Stopped> {
        self.put(Item::Note(text.into()))
    }
}

/// Returns the id of the message at `index` of a session of a file, so that a second import finds it stored.
///
/// `said` is what makes the message: role, speaker, content.
pub(crate) fn message_id(session: &str, index: u64, said: &[&str]) -> MessageId {
    let mut bytes = b"import".to_vec();
    bytes.extend(index.to_le_bytes());
    for part in std::iter::once(&session).chain(said) {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    MessageId::of_content(&bytes)
}

/// Returns a small stand-in for a name, where a file may hold millions of them.
pub(crate) fn fingerprint(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// Returns why an item was refused, as one clause.
pub(crate) fn refusal(error: &Error) -> String {
    match error {
        Error::Invalid { what } => what.clone(),
        Error::Conflict => "its number or version is taken by other content, or leaves a gap".to_owned(),
        other => other.to_string(),
    }
}
