//! Rows stored as they are: the script checks everything before it stores anything.

use memory_core::error::{Error, Result};
use memory_core::id::SessionId;
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use memory_core::store::chat::{Appended, Fence, NewMessage};

use super::session;
use crate::client::{Call, Redis, detached};
use crate::keys::padded;
use crate::row::Row;
use crate::script;

const RESTORE: &str = "restore messages";

/// Restores rows of a session.
pub(super) async fn restore(
    redis: &Redis,
    scope: &Scope,
    session: &SessionId,
    fence: Option<Fence>,
    rows: &[StoredMessage],
) -> Result<Appended> {
    let mut call = Call::change(&script::RESTORE, redis.keys().owner(scope)).arg(session.key());
    call = match fence {
        Some(fence) => call.arg(padded(fence.epoch)).number(fence.generation),
        None => call.arg("-").arg("-"),
    };
    for row in rows {
        let [head, bytes] = encode(session, row)?;
        call = call.arg(head).arg(bytes);
    }
    let durability = redis.truth().await?;
    let (redis, scope, session) = (redis.clone(), scope.clone(), session.clone());
    let work = async move {
        let mut reply = redis.change(&scope, call, RESTORE).await?;
        let state = session::state(reply.list()?, &session)?;
        let placements =
            reply.list()?.texts()?.iter().map(|placed| session::placement(placed)).collect::<Result<_>>()?;
        Ok(Appended { placements, state, durability })
    };
    detached(RESTORE, work).await
}

/// Returns where a row stands and what stands for it, and the row.
fn encode(session: &SessionId, row: &StoredMessage) -> Result<[Vec<u8>; 2]> {
    let StoredMessage { id, session: _, seq, tokens, counter, covers, archived_by, message } = row;
    let first = covers.map(|covers| covers.first);
    let encoded = match message {
        Some(message) => {
            let (message, tokens, counter) = (message.clone(), *tokens, *counter);
            Row::new(session, &NewMessage { message, tokens, counter }, first)?
        }
        None => Row::marker(*id),
    };
    if encoded.id != *id {
        return Err(Error::invalid("a row has another id than its message"));
    }
    let head = match covers {
        Some(covers) => format!("{} {} {} ", seq.0, covers.first.0, covers.last.0),
        None => format!("{} - - ", seq.0),
    };
    let mark = archived_by.as_ref().map(|id| id.0.as_bytes().as_slice()).unwrap_or_default();
    Ok([[head.as_bytes(), mark].concat(), encoded.bytes])
}
