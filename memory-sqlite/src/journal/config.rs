//! The configuration of a journal file.

use std::path::{Path, PathBuf};

use super::truth::place;

/// Which file holds a journal, and how much it may hold.
///
/// ```
/// use memory_sqlite::JournalConfig;
///
/// let config = JournalConfig::new("/var/lib/agent/journal.db").with_messages(10_000).with_bytes(16 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalConfig {
    pub(crate) path: PathBuf,
    pub(crate) messages: usize,
    pub(crate) bytes: u64,
    pub(crate) truth: Option<String>,
    pub(crate) former: Option<String>,
}

impl JournalConfig {
    /// Returns the default configuration for the file at `path`, which is created if it is missing.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), messages: 100_000, bytes: 64 << 20, truth: None, former: None }
    }

    /// Sets how many messages it takes at most, rejected ones among them. Default 100,000.
    ///
    /// Rejected messages of one owner leave seven eighths of it to the others. Where it is full of them, it can so come to hold four and
    /// a half times as much.
    #[must_use]
    pub fn with_messages(mut self, messages: usize) -> Self {
        self.messages = messages;
        self
    }

    /// Names the database that its messages are meant for, so that a journal which holds some is not emptied into another one.
    ///
    /// Of a URL, who logs in and how the connection is tuned does not count, and is not kept.
    #[must_use]
    pub fn with_truth(mut self, name: impl AsRef<str>) -> Self {
        self.truth = Some(place(name.as_ref()));
        self
    }

    /// Says by which other name a journal may know the same database: one that does takes the name of
    /// [`JournalConfig::with_truth`] when it is opened.
    #[must_use]
    pub fn with_former_truth(mut self, name: impl AsRef<str>) -> Self {
        self.former = Some(place(name.as_ref()));
        self
    }

    /// Sets how many bytes of messages it takes at most, as [`JournalConfig::with_messages`] tells. Default 64 MiB.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }
}
