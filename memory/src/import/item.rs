//! The items that are read from a file.

use memory_core::{Message, StoredMessage, StoredRecord};
use serde::Serialize;

use super::position::Within;
use super::refusal::Refusal;
use super::weight;

/// Something found in a file, with the line it ends on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Item {
    /// A message of a session.
    Message {
        /// The line.
        line: u64,
        /// Where in the line.
        within: Within,
        /// The session's name.
        session: String,
        /// Whether the file has that name. Else it was made of the file's name and the line, or is the caller's.
        session_is_told: bool,
        /// The message.
        message: Box<Message>,
        /// The file does not say when it was said.
        time_is_inferred: bool,
    },
    /// A row of a conversation of an export, with its number.
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
        /// Where in the line.
        within: Within,
        /// Why.
        why: Refusal,
    },
    /// Something of a conversation that is not taken, or not as it was.
    LeftOut {
        /// The conversation.
        session: String,
        /// Its title.
        title: Option<String>,
        /// What it is.
        what: LeftOut,
    },
    /// Another file begins.
    File {
        /// How many lines came before it.
        line: u64,
        /// Its name.
        name: String,
    },
    /// A file of a download that holds no conversations.
    NoConversation {
        /// Its name.
        name: String,
    },
    /// Something to be said to the person.
    Note(String),
}

/// What of a conversation is not taken, or not as it was, although nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOut {
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
    /// A piece of an unknown kind. Of chat JSON it is kept as it is, and no search finds it.
    UnknownPiece,
    /// A session that stands in the file a second time, under another date.
    OtherDate,
    /// A thought, or a tool's result, for which its message has no room.
    LargeAside,
}

impl LeftOut {
    /// Returns what it is, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::OtherBranch => "messages of other branches",
            Self::Hidden => "hidden messages",
            Self::Empty => "empty messages",
            Self::Image => "images",
            Self::File => "files",
            Self::UnknownPiece => "pieces of an unknown kind",
            Self::OtherDate => "repetitions under another date",
            Self::LargeAside => "thoughts and tool results",
        }
    }

    /// Returns why it is left out, as a clause.
    pub fn why(self) -> &'static str {
        match self {
            Self::OtherBranch => "the person sees another branch",
            Self::Hidden => "the program they come from hides them",
            Self::Empty => "they say nothing",
            Self::Image => "of an image its place is kept",
            Self::File => "of a file its place or transcript is kept",
            Self::UnknownPiece => "their kind is not known",
            Self::OtherDate => "the first date stays",
            Self::LargeAside => "they are too large for their message",
        }
    }
}

impl Item {
    /// Returns the line, which counts from the beginning of its file; none if it has none.
    pub(super) fn line_mut(&mut self) -> Option<&mut u64> {
        match self {
            Self::Message { line, .. }
            | Self::Row { line, .. }
            | Self::Record { line, .. }
            | Self::Rejected { line, .. } => Some(line),
            _ => None,
        }
    }

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
            Self::Rejected { .. }
            | Self::LeftOut { .. }
            | Self::File { .. }
            | Self::NoConversation { .. }
            | Self::Note(_) => 0,
        };
        size_of::<Self>() + beside
    }
}
