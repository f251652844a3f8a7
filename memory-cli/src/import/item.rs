//! What a reader finds, and where it goes.

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use memory::{Error, Message, MessageId, StoredMessage, StoredRecord};
use serde::Serialize;

use super::weight;
use crate::output::brief;

/// The most characters of a name that are told.
const NAME: usize = 80;

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
    /// Something of a conversation that is not taken, or not as it was.
    LeftOut {
        /// The conversation.
        session: String,
        /// What it is.
        what: LeftOut,
    },
    /// Something to be said to the person.
    Note(String),
}

/// What of a conversation is not taken, or not as it was, although nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeftOut {
    /// A message of a branch that the person does not see.
    OtherBranch,
    /// A message that the program it comes from hides.
    Hidden,
    /// A message that says nothing.
    Empty,
    /// An image, of which a place holder stands in the text.
    Image,
    /// A file or sound, of which a place holder or a transcript stands in the text.
    File,
    /// A piece of a kind that this program does not know.
    UnknownPiece,
    /// A session that stands in the file a second time, under another date.
    OtherDate,
}

impl LeftOut {
    /// Returns what it is, in the plural.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OtherBranch => "messages of other branches",
            Self::Hidden => "hidden messages",
            Self::Empty => "empty messages",
            Self::Image => "images",
            Self::File => "files",
            Self::UnknownPiece => "pieces of an unknown kind",
            Self::OtherDate => "repetitions under another date",
        }
    }
}

impl Item {
    /// Returns about how many bytes of memory it takes.
    pub(super) fn weight(&self) -> usize {
        let beside = match self {
            Self::Message { message, .. } => weight::of_message(message),
            Self::Row { row, .. } => row.message.as_deref().map_or(0, weight::of_message),
            Self::Record { record, .. } => {
                let record = &record.record;
                let names = |names: &mut dyn Iterator<Item = &String>| {
                    names.map(|name| weight::HEAP + name.len()).sum::<usize>()
                };
                let tellings = record.tellings().map(|telling| {
                    size_of_val(telling)
                        + names(&mut telling.tags.iter().chain(&telling.origin).chain(&telling.run))
                        + weight::of_map(&telling.metadata)
                        + telling.sources.len() * weight::HEAP
                });
                names(&mut [&record.kind, &record.text].into_iter()) + tellings.sum::<usize>()
            }
            Self::Rejected { .. } | Self::LeftOut { .. } | Self::Note(_) => 0,
        };
        size_of::<Self>() + beside
    }
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

/// Returns the beginning of a name that stands in a file, to be told: it may be of any length.
pub(crate) fn named(name: &str) -> String {
    brief(name, NAME)
}
