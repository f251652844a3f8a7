//! Changes of the window.

use memory_core::error::Result;
use memory_core::id::SessionId;
use memory_core::scope::Scope;
use memory_core::store::chat::{Compaction, SessionState};

use super::session;
use crate::client::{Call, Redis, detached};
use crate::keys::padded;
use crate::row::Row;
use crate::script;

const COMPACT: &str = "change the window";

/// Changes the window of a session.
pub(super) async fn compact(
    redis: &Redis,
    scope: &Scope,
    session: &SessionId,
    change: &Compaction,
) -> Result<SessionState> {
    let key = redis.keys().owner(scope);
    let call = match change {
        Compaction::Fold { fence, span, ids, summary } => {
            let summary = Row::new(session, summary, Some(span.first))?;
            redis.truth().await?;
            Call::new(&script::FOLD, key)
                .arg(session.key())
                .arg(padded(fence.epoch))
                .number(fence.generation)
                .number(span.first.0)
                .number(span.last.0)
                .arg(summary.bytes)
                .args(ids.iter().map(|id| id.0.as_bytes().to_vec()))
        }
        Compaction::Unfold { summary } => {
            Call::new(&script::UNFOLD, key).arg(session.key()).arg(summary.0.as_bytes().as_slice())
        }
    };
    let (redis, session) = (redis.clone(), session.clone());
    let work = async move { session::state(redis.run(&call, COMPACT).await?.list()?, &session) };
    detached(COMPACT, work).await
}
