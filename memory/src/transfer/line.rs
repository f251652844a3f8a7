//! The lines of an export, as they are written and read.

use std::borrow::Cow;
use std::sync::Arc;

use memory_core::{
    CounterId, Message, MessageId, Record, Seq, SeqRange, SessionId, StoredMessage, StoredRecord, Timestamp,
};
use serde::{Deserialize, Serialize};

/// The member of the first line by which an export is known.
pub(crate) const MARK: &str = "memory_export";
/// The version of the format that is written, and the newest that is read.
pub(crate) const VERSION: u64 = 1;

/// The first line. Owner and time are for people: an import takes the owner from its caller.
#[derive(Debug, Serialize)]
pub(super) struct Header {
    /// The version of the format.
    pub(super) memory_export: u64,
    pub(super) tenant: String,
    pub(super) subject: String,
    pub(super) at: String,
}

/// A line with a row of a session.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RowLine<'a> {
    row: Row<'a>,
}

/// A line with a record.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecordLine<'a> {
    record: RecordRow<'a>,
}

/// How much an export holds. It is also its last line, by which a file that was cut is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// Rows of conversations: messages, summaries, and the places of forgotten messages.
    pub rows: u64,
    /// Records.
    pub records: u64,
}

/// The last line.
#[derive(Debug, Serialize)]
pub(super) struct EndLine {
    pub(super) end: Exported,
}

#[derive(Debug, Serialize, Deserialize)]
struct Row<'a> {
    session: SessionId,
    seq: Seq,
    id: MessageId,
    tokens: u64,
    /// Who counted; absent where nobody knows.
    #[serde(default, skip_serializing_if = "CounterId::is_unknown")]
    counter: CounterId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    covers: Option<SeqRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archived_by: Option<MessageId>,
    /// None once forgotten.
    message: Option<Cow<'a, Message>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RecordRow<'a> {
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accessed_at: Option<Timestamp>,
    access_count: u64,
    record: Cow<'a, Record>,
}

impl<'a> RowLine<'a> {
    pub(super) fn new(stored: &'a StoredMessage) -> Self {
        let StoredMessage { id, session, seq, tokens, counter, covers, archived_by, message } = stored;
        Self {
            row: Row {
                session: session.clone(),
                seq: *seq,
                id: *id,
                tokens: *tokens,
                counter: *counter,
                covers: *covers,
                archived_by: *archived_by,
                message: message.as_deref().map(Cow::Borrowed),
            },
        }
    }

    /// Returns the row as a store holds it.
    pub(crate) fn into_stored(self) -> StoredMessage {
        let Row { session, seq, id, tokens, counter, covers, archived_by, message } = self.row;
        let message = message.map(|message| Arc::new(message.into_owned()));
        StoredMessage { id, session, seq, tokens, counter, covers, archived_by, message }
    }
}

impl<'a> RecordLine<'a> {
    pub(super) fn new(stored: &'a StoredRecord) -> Self {
        let StoredRecord { record, version, accessed_at, access_count } = stored;
        let (version, accessed_at, access_count) = (*version, *accessed_at, *access_count);
        Self { record: RecordRow { version, accessed_at, access_count, record: Cow::Borrowed(record.as_ref()) } }
    }

    /// Returns the record as a store holds it.
    pub(crate) fn into_stored(self) -> StoredRecord {
        let RecordRow { version, accessed_at, access_count, record } = self.record;
        StoredRecord { record: Arc::new(record.into_owned()), version, accessed_at, access_count }
    }
}
