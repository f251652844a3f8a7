//! Reading around damage: an item that its store cannot read any more hides no other.

use crate::error::{Error, Result};
use crate::id::{MessageId, RecordId};
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{ChatStore, FoundMessages};
use crate::store::records::RecordStore;

/// What was read, and the items that are damaged, each with the error that says so.
#[derive(Debug)]
pub(super) struct Around<T, I> {
    pub(super) read: T,
    pub(super) damaged: Vec<(I, Error)>,
}

impl<T, I> Around<T, I> {
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
) -> Result<Around<FoundMessages, MessageId>> {
    match chat.get(scope, ids).await {
        Err(Error::Corrupt { .. }) => {}
        answer => return answer.map(Around::of),
    }
    let mut around = Around::of(FoundMessages::of([]));
    for id in ids {
        match chat.get(scope, &[*id]).await {
            Ok(found) => {
                around.read.messages.extend(found.messages);
                around.read.forgotten.extend(found.forgotten);
                around.read.complete &= found.complete;
            }
            Err(error @ Error::Corrupt { .. }) => around.damaged.push((*id, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(around)
}

/// Reads records: all at once or, if one of them is damaged, each by itself.
pub(super) async fn records(
    records: &dyn RecordStore,
    scope: &Scope,
    ids: &[RecordId],
) -> Result<Around<Vec<StoredRecord>, RecordId>> {
    match records.get(scope, ids).await {
        Err(Error::Corrupt { .. }) => {}
        answer => return answer.map(Around::of),
    }
    let mut around = Around::of(Vec::new());
    for id in ids {
        match records.get(scope, &[*id]).await {
            Ok(found) => around.read.extend(found),
            Err(error @ Error::Corrupt { .. }) => around.damaged.push((*id, error)),
            Err(error) => return Err(error),
        }
    }
    Ok(around)
}
