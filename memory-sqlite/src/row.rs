//! Rows of the message table as core's values.

use std::sync::Arc;

use memory_core::CounterId;
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SeqRange, SessionId};
use memory_core::message::{Message, StoredMessage};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::body::unpack;
use crate::error::{BACKEND, Doing};
use crate::number::loaded;

/// Returns an id that was stored.
///
/// # Errors
/// `Corrupt` if it has not 16 bytes.
pub(crate) fn uuid(bytes: &[u8]) -> Result<Uuid> {
    Uuid::from_slice(bytes).map_err(|_| Error::corrupt(BACKEND, "an id has not 16 bytes"))
}

/// Returns a message of `session` from the columns `id, seq, tokens, counter, first, archived_by, digest, body`.
///
/// # Errors
/// `Corrupt` if the body does not match its digest.
pub(crate) fn message(row: &SqliteRow, session: &SessionId, doing: &'static str) -> Result<StoredMessage> {
    let seq = Seq(loaded(row.try_get(1).doing(doing)?)?);
    let first: Option<i64> = row.try_get(4).doing(doing)?;
    let covers = first.map(loaded).transpose()?.map(|first| SeqRange { first: Seq(first), last: seq });
    let archived_by: Option<&[u8]> = row.try_get(5).doing(doing)?;
    let id = MessageId(uuid(row.try_get(0).doing(doing)?)?);
    let message = content(row, id, session, doing).map_err(|error| error.damaging(format_args!("the message {id}")))?;
    if message.as_ref().is_some_and(|message| message.id != id) {
        return Err(Error::corrupt(BACKEND, "a row has another id than its message"));
    }
    Ok(StoredMessage {
        id,
        session: session.clone(),
        seq,
        tokens: loaded(row.try_get(2).doing(doing)?)?,
        counter: CounterId(u32::try_from(row.try_get::<i64, _>(3).doing(doing)?).unwrap_or_default()),
        covers,
        archived_by: archived_by.map(uuid).transpose()?.map(MessageId),
        message: message.map(Arc::new),
    })
}

fn content(row: &SqliteRow, id: MessageId, session: &SessionId, doing: &'static str) -> Result<Option<Message>> {
    let digest: &[u8] = row.try_get(6).doing(doing)?;
    let Some(stored) = row.try_get::<Option<&[u8]>, _>(7).doing(doing)? else { return Ok(None) };
    let body = unpack(id, stored)?;
    if Message::digest_of(session, &body).0 != digest {
        return Err(Error::corrupt(BACKEND, "it does not match its digest"));
    }
    Message::decode(BACKEND, &body).map(Some)
}
