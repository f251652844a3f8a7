//! Forgetting what is named, and telling which of it was not there.

use std::collections::HashSet;

use memory_core::engine::{Forget, ForgetReceipt, Scoped};
use memory_core::{Error, MessageId, RecordId, Result, Seq, SessionId};

/// How many items are read at once, only to see whether they are there.
const PART: usize = 32;

/// Forgets each id as a message and as a record: whoever gives one need not know which it is. Returns with the receipt which
/// of them were neither.
///
/// # Errors
/// As [`Scoped::forget`].
pub async fn forget_ids(scoped: &Scoped, ids: &[MessageId]) -> Result<(ForgetReceipt, Vec<MessageId>)> {
    let records: Vec<RecordId> = ids.iter().map(|id| RecordId(id.0)).collect();
    let mut stored = HashSet::new();
    for part in ids.chunks(PART) {
        stored.extend(stored_of(scoped, part).await?);
    }
    let unknown = ids.iter().copied().filter(|id| !stored.contains(id)).collect();
    let mut receipt = scoped.forget(&Forget::Messages(ids.to_vec())).await?;
    let rest = scoped.forget(&Forget::Records(records)).await?;
    receipt.removed += rest.removed;
    receipt.derived += rest.derived;
    receipt.complete &= rest.complete;
    receipt.stores.extend(rest.stores);
    receipt.unasked = rest.unasked;
    Ok((receipt, unknown))
}

/// Returns which of these ids a message or a record has, also one that is damaged.
async fn stored_of(scoped: &Scoped, ids: &[MessageId]) -> Result<Vec<MessageId>> {
    match read(scoped, ids).await {
        Err(Error::Corrupt { .. }) => {}
        found => return found,
    }
    let mut stored = Vec::new();
    for id in ids {
        match read(scoped, &[*id]).await {
            Err(Error::Corrupt { .. }) => stored.push(*id),
            found => stored.extend(found?),
        }
    }
    Ok(stored)
}

async fn read(scoped: &Scoped, ids: &[MessageId]) -> Result<Vec<MessageId>> {
    let records: Vec<RecordId> = ids.iter().map(|id| RecordId(id.0)).collect();
    let messages = scoped.messages(ids).await?.into_iter().map(|row| row.id);
    let records = scoped.get(&records).await?;
    Ok(messages.chain(records.iter().map(|row| MessageId(row.record.id.0))).collect())
}

/// Forgets a session. Returns with the receipt whether there was none. A branch may have no messages of its own.
///
/// # Errors
/// As [`Scoped::forget`].
pub async fn forget_session(scoped: &Scoped, session: &SessionId) -> Result<(ForgetReceipt, bool)> {
    let was_there = !matches!(scoped.session(session).state().await, Ok(state) if state.head == Seq(0));
    // Also where nothing is left of it: an earlier call may have been cut off.
    let receipt = scoped.forget(&Forget::Session(session.clone())).await?;
    let is_unknown = !was_there && receipt.removed == 0 && receipt.complete;
    Ok((receipt, is_unknown))
}
