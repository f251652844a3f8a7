//! Why an item, or a whole file, is rejected.

use std::fmt;

use memory_core::Error;
use serde::{Serialize, Serializer};

/// The most characters of a name that are told.
const NAME: usize = 80;

/// Why an item, or a whole file, is rejected. It is displayed and serialised as one clause, which quotes no content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The file is of a kind that is known and cannot be read as it is.
    Foreign(Foreign),
    /// The file has none of the formats that are known: [`Source::with_format`](super::Source::with_format) names it.
    UnknownFormat,
    /// The file is an export of another owner, and nobody said that its roles are to be trusted:
    /// [`Source::trusting_roles`](super::Source::trusting_roles) does.
    ForeignOwner,
    /// Anything else, as a clause.
    Other(String),
}

/// A kind of file, known by its first bytes, that has to be changed before it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// A ZIP archive, as ChatGPT sends its export: `conversations.json` is in it.
    Zip,
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
    /// An SQLite database: a memory can be opened over it, if it is one.
    Sqlite,
}

impl Foreign {
    /// Returns the kind of the file that begins so.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        const KNOWN: [(&[u8], Foreign); 8] = [
            (b"PK\x03\x04", Foreign::Zip),
            (&[0x1f, 0x8b], Foreign::Gzip),
            (&[0xfd, b'7', b'z', b'X', b'Z'], Foreign::Xz),
            (&[0x28, 0xb5, 0x2f, 0xfd], Foreign::Zstd),
            (b"BZh", Foreign::Bzip2),
            (&[0xff, 0xfe], Foreign::Utf16),
            (&[0xfe, 0xff], Foreign::Utf16),
            (b"SQLite format 3\0", Foreign::Sqlite),
        ];
        KNOWN.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, kind)| *kind)
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zip => "a ZIP archive",
            Self::Gzip => "compressed by gzip",
            Self::Xz => "compressed by xz",
            Self::Zstd => "compressed by zstd",
            Self::Bzip2 => "compressed by bzip2",
            Self::Utf16 => "text in UTF-16",
            Self::Sqlite => "an SQLite database",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign(kind) => kind.fmt(f),
            Self::UnknownFormat => f.write_str("not a format that is known"),
            Self::ForeignOwner => f.write_str("an export of another owner"),
            Self::Other(why) => f.write_str(why),
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

/// Returns the beginning of a name that stands in a file, on one line: it may be of any length.
pub(super) fn named(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line).trim_end()),
        None => line,
    }
}
