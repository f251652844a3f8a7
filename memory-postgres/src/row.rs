//! Rows of the message table as core's values.

use std::sync::Arc;

use memory_core::CounterId;
use memory_core::error::Error;
use memory_core::id::{MessageId, Seq, SeqRange, SessionId};
use memory_core::message::{Message, StoredMessage};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::error::{Attempt, BACKEND, Doing};
use crate::number::loaded;

/// Returns a message of `session` from the columns `id, seq, tokens, counter, first, archived_by, digest, body`, beginning with
/// the column `start`.
///
/// The types of the columns are not checked for each row: the table and the schema's functions define them.
///
/// # Errors
/// `Corrupt` if the body does not match its digest.
pub(crate) fn message(row: &PgRow, start: usize, session: &SessionId, doing: &'static str) -> Attempt<StoredMessage> {
    let id = MessageId(row.try_get_unchecked(start).doing(doing)?);
    let seq = Seq(loaded(row.try_get_unchecked(start + 1).doing(doing)?)?);
    let first: Option<i64> = row.try_get_unchecked(start + 4).doing(doing)?;
    let covers = first.map(loaded).transpose()?.map(|first| SeqRange { first: Seq(first), last: seq });
    let counter: i64 = row.try_get_unchecked(start + 3).doing(doing)?;
    let archived_by: Option<Uuid> = row.try_get_unchecked(start + 5).doing(doing)?;
    let message = content(row, start + 6, id, session, doing)?;
    if message.as_ref().is_some_and(|message| message.id != id) {
        return Err(Error::corrupt(BACKEND, "a row has another id than its message").into());
    }
    Ok(StoredMessage {
        id,
        session: session.clone(),
        seq,
        tokens: loaded(row.try_get_unchecked(start + 2).doing(doing)?)?,
        counter: CounterId(u32::try_from(counter).unwrap_or_default()),
        covers,
        archived_by: archived_by.map(MessageId),
        message: message.map(Arc::new),
    })
}

fn content(
    row: &PgRow,
    start: usize,
    id: MessageId,
    session: &SessionId,
    doing: &'static str,
) -> Attempt<Option<Message>> {
    let digest: &[u8] = row.try_get_unchecked(start).doing(doing)?;
    let Some(body) = row.try_get_unchecked::<Option<&str>, _>(start + 1).doing(doing)? else { return Ok(None) };
    let message = if Message::digest_of(session, body.as_bytes()).0 == digest {
        Message::decode(BACKEND, body.as_bytes())
    } else {
        Err(Error::corrupt(BACKEND, "it does not match its digest"))
    };
    Ok(Some(message.map_err(|error| error.damaging(format_args!("the message {id}")))?))
}
