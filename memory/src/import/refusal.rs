//! Why an item, or a whole file, is rejected.

use std::fmt;
use std::io;

use memory_core::message::TITLE;
use memory_core::{Error, Message};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The most characters of a name that are told.
const NAME: usize = 80;
/// The members by which a person, or else a search in the file, finds a conversation.
const TITLES: [&str; 7] = ["title", "name", "conversation_id", "uuid", "id", "sample_id", "question_id"];
/// The beginning of a file by which its kind is told, in bytes.
const HEAD: usize = 512;

/// Why an item, or a whole file, is rejected. It is displayed and serialised as one clause, which quotes no content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file is of a kind that is known and cannot be read as it is.
    Foreign(Foreign),
    /// No line of the file is JSON, of the first hundred if there are more, as a clause: it holds no chat, or one that was written for
    /// people. It is not read on.
    NoJson(String),
    /// The file has none of the formats that are known: [`Source::with_format`](super::Source::with_format) names it.
    UnknownFormat,
    /// The file is an export of another owner, and nobody said that its roles are to be trusted:
    /// [`Source::trusting_roles`](super::Source::trusting_roles) does.
    ForeignOwner,
    /// The end is missing, as a clause: what stands before it is taken.
    Cut(String),
    /// The file, folder or archive as a whole, as a clause: no line of it is to blame.
    Whole(String),
    /// Anything else, as a clause.
    Other(String),
}

/// A kind of file, known by its first bytes, that has to be changed before it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// A ZIP archive, as ChatGPT sends its export: `conversations.json` is in it.
    Zip,
    /// A ZIP archive of which a part is missing or wrong.
    BrokenZip,
    /// Compressed by gzip.
    Gzip,
    /// Compressed by xz.
    Xz,
    /// Compressed by zstd.
    Zstd,
    /// Compressed by bzip2.
    Bzip2,
    /// Text in UTF-16; UTF-8 is read.
    Utf16,
    /// A PDF.
    Pdf,
    /// A page of the web, such as `chat.html`, which stands beside `conversations.json` in an export of ChatGPT.
    Html,
    /// Bytes that are no text.
    Binary,
    /// An SQLite database: a memory can be opened over it, if it is one.
    Sqlite,
}

impl Foreign {
    /// Returns the kind of the file that begins so.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        const KNOWN: [(&[u8], Foreign); 14] = [
            (b"PK\x03\x04", Foreign::Zip),
            (b"PK\x05\x06", Foreign::Zip),
            (&[0x1f, 0x8b], Foreign::Gzip),
            (&[0xfd, b'7', b'z', b'X', b'Z'], Foreign::Xz),
            (&[0x28, 0xb5, 0x2f, 0xfd], Foreign::Zstd),
            (b"BZh", Foreign::Bzip2),
            (&[0xff, 0xfe], Foreign::Utf16),
            (&[0xfe, 0xff], Foreign::Utf16),
            // Without a byte order mark: what JSON begins with, and the empty half of it.
            (b"[\0", Foreign::Utf16),
            (b"{\0", Foreign::Utf16),
            (b"\0[", Foreign::Utf16),
            (b"\0{", Foreign::Utf16),
            (b"%PDF-", Foreign::Pdf),
            (b"SQLite format 3\0", Foreign::Sqlite),
        ];
        let known = KNOWN.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, kind)| *kind);
        known.or_else(|| is_page(head).then_some(Self::Html)).or_else(|| is_binary(head).then_some(Self::Binary))
    }
}

/// Returns whether a file that begins so is a page of the web.
fn is_page(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |mark: &str| head.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()));
    begins("<!doctype html") || begins("<html")
}

/// Returns whether a file that begins so is no text. What begins as JSON is read line by line, whatever stands in it.
fn is_binary(head: &[u8]) -> bool {
    let head = head.get(..HEAD).unwrap_or(head);
    let is_json = head.trim_ascii_start().first().is_some_and(|first| b"[{".contains(first));
    // A character that is cut where the beginning ends is no mistake.
    let is_text = std::str::from_utf8(head).err().is_none_or(|error| error.error_len().is_none());
    !is_json && !is_text && head.contains(&0)
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zip => "a ZIP archive",
            Self::BrokenZip => "a ZIP archive that is broken or cut",
            Self::Gzip => "compressed by gzip",
            Self::Xz => "compressed by xz",
            Self::Zstd => "compressed by zstd",
            Self::Bzip2 => "compressed by bzip2",
            Self::Utf16 => "text in UTF-16",
            Self::Pdf => "a PDF",
            Self::Html => "a page of the web",
            Self::Binary => "not JSON: a binary file",
            Self::Sqlite => "an SQLite database",
        })
    }
}

impl Refusal {
    /// Returns whether the file as a whole is refused, so that no line is to blame.
    pub fn is_of_whole_file(&self) -> bool {
        matches!(self, Self::Foreign(_) | Self::Whole(_))
    }

    /// Returns that so many lines, with which a file begins, are no JSON.
    pub(super) fn no_json(lines: usize) -> Self {
        Self::NoJson(match lines.saturating_sub(1) {
            0 => "not JSON".to_owned(),
            1 => "not JSON, nor is the line behind it".to_owned(),
            behind => format!("not JSON, nor are the {behind} lines behind it"),
        })
    }

    /// Returns that a file, folder or archive cannot be read.
    pub(super) fn unreadable(what: &str, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::PermissionDenied => "the system does not let you read it".to_owned(),
            io::ErrorKind::NotFound => "it is not there".to_owned(),
            _ => error.to_string(),
        };
        Self::Whole(format!("the {what} cannot be read: {why}"))
    }

    /// Returns why a message is refused, and in which conversation it stands if that has a title.
    pub(super) fn of_message(error: &Error, message: &Message) -> Self {
        let title = message.metadata.get(TITLE).and_then(Value::as_str);
        match (Self::from(error), title) {
            (Self::Other(why), Some(title)) => Self::Other(format!("{why}, in the conversation {}", named(title))),
            (why, _) => why,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign(kind) => kind.fmt(f),
            Self::UnknownFormat => f.write_str("not a format that is known"),
            Self::ForeignOwner => f.write_str("an export of another owner"),
            Self::NoJson(why) | Self::Cut(why) | Self::Whole(why) | Self::Other(why) => f.write_str(why),
        }
    }
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl From<&Error> for Refusal {
    fn from(error: &Error) -> Self {
        match error {
            Error::Invalid { what } => what.clone().into(),
            Error::Conflict => "its number or version is taken by other content, or leaves a gap".into(),
            other => other.to_string().into(),
        }
    }
}

/// Returns what an element is not, with the name of its conversation if it has one.
pub(super) fn titled(title: Option<String>, why: &str) -> String {
    title.map_or_else(|| why.to_owned(), |title| format!("{title} is {why}"))
}

/// Returns the name of a conversation as it is told: its title, or else what it is found by.
pub(super) fn title(value: &Value) -> Option<String> {
    let text = |member: &&str| value.get(*member).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    TITLES.iter().find_map(text).map(named)
}

/// Returns the beginning of a name that stands in a file, on one line: it may be of any length.
pub(super) fn named(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line).trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_refused_as_a_whole_for_what_the_person_can_change() {
        let of = |kind: io::ErrorKind| Refusal::unreadable("file", &kind.into());
        let table = [
            (io::ErrorKind::PermissionDenied, "the file cannot be read: the system does not let you read it"),
            (io::ErrorKind::NotFound, "the file cannot be read: it is not there"),
        ];
        for (kind, why) in table {
            assert_eq!((of(kind).to_string().as_str(), of(kind).is_of_whole_file()), (why, true));
        }
        assert!(!Refusal::UnknownFormat.is_of_whole_file() && !Refusal::Cut(String::new()).is_of_whole_file());
    }

    #[test]
    fn a_kind_of_file_is_told_by_its_beginning_and_json_is_none_of_them() {
        let table: [(&[u8], Option<Foreign>); 9] = [
            (b"%PDF-1.7", Some(Foreign::Pdf)),
            (b"\n <!DocType HTML>", Some(Foreign::Html)),
            (b"{\0\"\0", Some(Foreign::Utf16)),
            (b"\0[\0{", Some(Foreign::Utf16)),
            (b"\x89PNG\r\n\x1a\n\0\0", Some(Foreign::Binary)),
            (b"[{\"role\":\"caf\xe9\0\"}]", None),
            (b"\0\x01", None),
            ("{\"content\":\"é".as_bytes(), None),
            (b"", None),
        ];
        for (head, kind) in table {
            assert_eq!(Foreign::of(head), kind, "{head:?}");
        }
    }
}
