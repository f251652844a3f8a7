//! Messages and records as a cache keeps them.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{ItemId, MessageId, RecordId, Seq, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::model::CounterId;
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// An item that is cached by id.
pub(super) trait Item: Clone + Debug + Send + Sync + 'static {
    type Id: Copy + Eq + Hash + Send + Sync;

    /// The key of the owner's stamp for items of this kind.
    const STAMP: &'static str;
    /// The key of the mark that a write of items of this kind may still be applied.
    const LATE: &'static str;

    fn id(&self) -> Self::Id;

    fn key(id: Self::Id) -> String;

    /// Returns the bytes to cache; none for an item that must not be cached.
    fn encode(&self) -> Option<Vec<u8>>;

    /// Returns the item; none for bytes that are not one.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

#[derive(Serialize, Deserialize)]
struct MessageRow<'a> {
    id: MessageId,
    session: SessionId,
    seq: Seq,
    tokens: u64,
    /// Absent in what an earlier version cached.
    #[serde(default)]
    counter: CounterId,
    covers: Option<SeqRange>,
    archived_by: Option<MessageId>,
    message: Cow<'a, Message>,
}

impl Item for StoredMessage {
    type Id = MessageId;

    const STAMP: &'static str = "stamp/m";
    const LATE: &'static str = "late/m";

    fn id(&self) -> MessageId {
        self.id
    }

    fn key(id: MessageId) -> String {
        ItemId::Message(id).key()
    }

    fn encode(&self) -> Option<Vec<u8>> {
        let Self { id, session, seq, tokens, counter, covers, archived_by, message } = self;
        let row = MessageRow {
            id: *id,
            session: session.clone(),
            seq: *seq,
            tokens: *tokens,
            counter: *counter,
            covers: *covers,
            archived_by: *archived_by,
            message: Cow::Borrowed(message.as_deref()?),
        };
        serde_json::to_vec(&row).ok()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let row: MessageRow<'_> = serde_json::from_slice(bytes).ok()?;
        let MessageRow { id, session, seq, tokens, counter, covers, archived_by, message } = row;
        let message = Some(Arc::new(message.into_owned()));
        Some(Self { id, session, seq, tokens, counter, covers, archived_by, message })
    }
}

#[derive(Serialize, Deserialize)]
struct RecordRow<'a> {
    version: u64,
    accessed_at: Option<Timestamp>,
    access_count: u64,
    record: Cow<'a, Record>,
}

impl Item for StoredRecord {
    type Id = RecordId;

    const STAMP: &'static str = "stamp/r";
    const LATE: &'static str = "late/r";

    fn id(&self) -> RecordId {
        self.record.id
    }

    fn key(id: RecordId) -> String {
        ItemId::Record(id).key()
    }

    fn encode(&self) -> Option<Vec<u8>> {
        let Self { record, version, accessed_at, access_count } = self;
        // The sweep deletes expired records without telling of which owner, so no stamp could be replaced.
        if record.expires_at().is_some() && !record.hold {
            return None;
        }
        let record = Cow::Borrowed(record.as_ref());
        let row = RecordRow { version: *version, accessed_at: *accessed_at, access_count: *access_count, record };
        serde_json::to_vec(&row).ok()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let row: RecordRow<'_> = serde_json::from_slice(bytes).ok()?;
        let RecordRow { version, accessed_at, access_count, record } = row;
        Some(Self { record: Arc::new(record.into_owned()), version, accessed_at, access_count })
    }
}
