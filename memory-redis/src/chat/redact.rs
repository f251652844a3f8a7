//! Forgetting single messages.

use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::scope::Scope;
use memory_core::store::chat::Redacted;
use memory_core::store::upkeep::IndexName;

use crate::client::{Call, Redis, detached};
use crate::error::damaged;
use crate::reply::Reply;
use crate::row;
use crate::script;

const REDACT: &str = "forget messages";

/// Forgets messages and summaries, and returns what was touched.
pub(super) async fn redact(redis: &Redis, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids = ids.iter().map(|id| id.0.as_bytes().to_vec());
    let call = Call::release(&script::REDACT, redis.keys().owner(scope)).arg(IndexName::FACTS).args(ids);
    let (redis, scope) = (redis.clone(), scope.clone());
    let work = async move {
        let touched = redis.change(&scope, call, REDACT).await?.list()?.lists()?;
        touched.into_iter().map(redacted).collect()
    };
    detached(REDACT, work).await
}

fn redacted(mut entry: Reply) -> Result<Redacted> {
    let id = entry.bytes()?.ok_or_else(|| damaged("an id is missing"))?;
    let session = SessionId::from_key(&entry.text()?).map_err(|_| damaged("no session has this key"))?;
    let seq = row::seq(&entry.text()?)?;
    let summaries = entry.list()?.all_bytes()?;
    let summaries = summaries.iter().flatten().map(|id| row::id(id)).collect::<Result<_>>()?;
    Ok(Redacted { id: row::id(&id)?, session, seq, summaries })
}
