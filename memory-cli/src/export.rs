//! The export: versioned JSON lines that hold everything of one owner that has not expired. Written here, read by `import/export.rs`.
//!
//! The first line is a [`Header`]; then come the rows of each session in order, then the records, and last the [`End`],
//! by which a cut file is known.

mod spool;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use memory::{
    CounterId, Filter, Message, MessageId, Record, RecordId, Scoped, Seq, SeqRange, SessionId, StoredMessage,
    StoredRecord, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::Output;
use crate::whole::{TRIES, Torn, Whole};

use spool::Spool;

/// The version of the format that this program writes, and the newest that it reads.
pub(crate) const VERSION: u64 = 1;
/// Records that are read together.
const PAGE: usize = 500;
const SESSIONS: usize = 500;

/// The first line. Owner and time are for people: an import takes the owner from its caller.
#[derive(Debug, Serialize)]
pub(crate) struct Header {
    /// The version of the format.
    pub(crate) memory_export: u64,
    tenant: String,
    subject: String,
    at: String,
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

/// The last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// How many rows there are.
    pub(crate) rows: u64,
    /// How many records there are.
    pub(crate) records: u64,
}

#[derive(Debug, Serialize)]
struct EndLine {
    end: End,
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
    fn new(stored: &'a StoredMessage) -> Self {
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
    fn new(stored: &'a StoredRecord) -> Self {
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

/// Writes everything of the owner, a page at a time; only one session if it is given.
pub(crate) async fn write(scoped: &Scoped, only: Option<&SessionId>, output: &mut Output) -> Result<End, Failure> {
    let mut end = End::default();
    let scope = scoped.scope();
    let at = scoped.memory().now().to_string();
    output.json(&Header { memory_export: VERSION, tenant: scope.tenant(), subject: scope.subject(), at })?;
    if let Some(session) = only {
        end.rows += write_session(scoped, session, output).await?;
    } else {
        end.rows += write_sessions(scoped, output).await?;
        end.records += write_records(scoped, output).await?;
    }
    output.json(&EndLine { end })?;
    Ok(end)
}

async fn write_sessions(scoped: &Scoped, output: &mut Output) -> Result<u64, Failure> {
    let mut rows = 0;
    let mut after: Option<SessionId> = None;
    loop {
        let sessions = scoped.sessions(after.as_ref(), SESSIONS).await?;
        for state in &sessions {
            rows += write_session(scoped, &state.session, output).await?;
        }
        match sessions.into_iter().next_back() {
            Some(last) => after = Some(last.session),
            None => return Ok(rows),
        }
    }
}

/// Writes the rows of a session as they were at one moment. One of several pages waits in a file without a name until its
/// last page shows that nobody changed it meanwhile.
async fn write_session(scoped: &Scoped, id: &SessionId, output: &mut Output) -> Result<u64, Failure> {
    let session = scoped.session(id);
    for _ in 0..TRIES {
        let mut whole = Whole::default();
        let Ok(first) = whole.take(session.read(&whole.page()).await?) else { continue };
        let Ok(mut rows) = whole.take(session.read(&whole.page()).await?) else { continue };
        if rows.is_empty() {
            first.iter().try_for_each(|row| output.json(&RowLine::new(row)))?;
            return Ok(first.len() as u64);
        }
        let mut spool = Spool::new()?;
        first.iter().try_for_each(|row| spool.write(&RowLine::new(row)))?;
        drop(first);
        let is_torn = loop {
            rows.iter().try_for_each(|row| spool.write(&RowLine::new(row)))?;
            match whole.take(session.read(&whole.page()).await?) {
                Ok(next) if next.is_empty() => break false,
                Ok(next) => rows = next,
                Err(Torn) => break true,
            }
        };
        if !is_torn {
            return spool.copy_to(output);
        }
    }
    Err(Failure::Busy(format!("{} is written to while it is exported: export it again", id.name())))
}

async fn write_records(scoped: &Scoped, output: &mut Output) -> Result<u64, Failure> {
    // Superseded records are history, expired ones are gone, also before they are swept away.
    let unexpired = Filter::unexpired(scoped.memory().now());
    let (mut records, mut after): (u64, Option<RecordId>) = (0, None);
    loop {
        let page = scoped.records(&unexpired, after, PAGE).await?;
        for stored in &page {
            output.json(&RecordLine::new(stored))?;
        }
        records += page.len() as u64;
        match page.last() {
            Some(last) => after = Some(last.record.id),
            None => return Ok(records),
        }
    }
}
