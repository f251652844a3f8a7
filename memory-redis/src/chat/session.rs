//! Sessions and their counters.

use memory_core::error::Result;
use memory_core::id::{Seq, SessionId};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::{Fence, Placement, SessionState};
use memory_core::time::Timestamp;

use crate::client::{Call, Redis, detached};
use crate::error::damaged;
use crate::keys::{of_sortable, padded};
use crate::reply::{Reply, number};
use crate::script;

const LIST: &str = "list sessions";
const DELETE: &str = "delete a session";

/// How many sessions one step lists.
const PAGE: usize = 500;

/// About how many rows of a deleted session one step takes away, so that other callers have their turn.
const STEP: usize = 1_000;

/// Reads the state of a session from an answer.
pub(super) fn state(mut reply: Reply, session: &SessionId) -> Result<SessionState> {
    Ok(SessionState {
        session: session.clone(),
        fence: Fence { epoch: Epoch(reply.number()?), generation: reply.number()? },
        revision: reply.number()?,
        head: Seq(reply.number()?),
        active_messages: reply.number()?,
        active_tokens: reply.number()?,
        asked: reply.number()?,
        last_at: match reply.text()?.as_str() {
            "" => Timestamp::default(),
            at => of_sortable(at).ok_or_else(|| damaged("a time is none"))?,
        },
    })
}

/// Reads what became of a message: `+7`, `=7` or `f`.
pub(super) fn placement(text: &str) -> Result<Placement> {
    match text.split_at_checked(1) {
        Some(("+", seq)) => Ok(Placement::Added(Seq(number(seq)?))),
        Some(("=", seq)) => Ok(Placement::Already(Seq(number(seq)?))),
        Some(("f", "")) => Ok(Placement::Forgotten),
        _ => Err(damaged("a placement is none")),
    }
}

/// Returns up to `count` sessions that hold messages, after the session `after`, in order.
pub(super) async fn list(
    redis: &Redis,
    scope: &Scope,
    after: Option<&SessionId>,
    count: usize,
) -> Result<Vec<SessionState>> {
    let mut found: Vec<SessionState> = Vec::new();
    let mut after = after.cloned();
    while found.len() < count {
        let wanted = (count - found.len()).min(PAGE);
        let from = after.as_ref().map_or_else(|| "-".to_owned(), |after| format!("({}", after.key()));
        let call = Call::new(&script::SESSIONS, redis.keys().owner(scope)).arg(from).number(wanted);
        let page = redis.run(&call, LIST).await?.list()?.lists()?;
        let is_last = page.len() < wanted;
        for mut entry in page {
            let session = SessionId::from_key(&entry.text()?).map_err(|_| damaged("no session has this key"))?;
            let state = state(entry.list()?, &session)?;
            after = Some(session);
            // A server that was killed may have kept the name alone.
            if state.head > Seq(0) {
                found.push(state);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// Takes away the rows of deleted sessions, those that an earlier deletion left behind too.
async fn clear(redis: &Redis, scope: &Scope) -> Result<()> {
    let mut cursor = "0".to_owned();
    loop {
        let call = Call::new(&script::CLEAR, redis.keys().owner(scope)).number(STEP).arg(cursor);
        let mut step = redis.run(&call, DELETE).await?;
        if step.number()? == 0 {
            return Ok(());
        }
        cursor = step.text()?;
    }
}

/// Deletes what a session holds that is as it was `seen`, and returns how many messages that were.
pub(super) async fn delete(redis: &Redis, scope: &Scope, seen: &SessionState) -> Result<u64> {
    let SessionState { session, fence, revision, head, .. } = seen;
    let call = Call::release(&script::DELETE, redis.keys().owner(scope)).arg(session.key());
    let call = call.arg(padded(fence.epoch)).arg(fence.generation.to_string());
    let call = call.arg(head.0.to_string()).arg(revision.to_string());
    let (redis, scope) = (redis.clone(), scope.clone());
    let work = async move {
        let held = redis.change(&scope, call, DELETE).await?.number()?;
        clear(&redis, &scope).await?;
        Ok(held)
    };
    detached(DELETE, work).await
}
