//! Reading around damage: an item that its store cannot read any more hides no other.

use crate::error::{Error, Result};
use crate::id::{MessageId, RecordId};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{ChatStore, FoundMessages};
use crate::store::records::RecordStore;

/// What was read, and the items that are damaged, each with the error that says so.
#[derive(Debug)]
pub(super) struct Salvaged<T, I> {
    pub(super) read: T,
    pub(super) damaged: Vec<(I, Error)>,
}

impl<T, I> Salvaged<T, I> {
    /// Returns what was read without damage.
    pub(super) fn of(read: T) -> Self {
        Self { read, damaged: Vec::new() }
    }
}

/// Reads messages: all at once or, if one of them is damaged, each by itself.
pub(super) async fn messages(
    chat: &dyn ChatStore,
    scope: &Scope,
    ids: &[MessageId],
) -> Result<Salvaged<FoundMessages, MessageId>> {
    match chat.get(scope, ids).await {
        Err(Error::Corrupt { .. }) => {}
        answer => return answer.map(Salvaged::of),
    }
    let mut salvaged = Salvaged::of(FoundMessages::of([]));
    for id in ids {
        match chat.get(scope, &[*id]).await {
            Ok(found) => {
                salvaged.read.messages.extend(found.messages);
                salvaged.read.forgotten.extend(found.forgotten);
                salvaged.read.complete &= found.complete;
            }
            Err(error @ Error::Corrupt { .. }) => salvaged.damaged.push((*id, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(salvaged)
}

/// Reads records: all at once or, if one of them is damaged, each by itself.
pub(super) async fn records(
    records: &dyn RecordStore,
    scope: &Scope,
    ids: &[RecordId],
) -> Result<Salvaged<Vec<StoredRecord>, RecordId>> {
    match records.get(scope, ids).await {
        Err(Error::Corrupt { .. }) => {}
        answer => return answer.map(Salvaged::of),
    }
    let mut salvaged = Salvaged::of(Vec::new());
    for id in ids {
        match records.get(scope, &[*id]).await {
            Ok(found) => salvaged.read.extend(found),
            Err(error @ Error::Corrupt { .. }) => salvaged.damaged.push((*id, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(salvaged)
}
