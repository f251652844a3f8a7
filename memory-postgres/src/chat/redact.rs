//! Forgetting single messages.

use memory_core::error::Result;
use memory_core::id::{MessageId, Seq};
use memory_core::scope::Scope;
use memory_core::store::chat::Redacted;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::session::named;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::number::loaded;

const REDACT: &str = "forget messages";

/// Forgets messages and summaries, and returns what was touched. One statement, which is a transaction.
pub(super) async fn redact(server: &Postgres, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let list: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let call = Call::statement(REDACT).rows(ids.len());
    let redacted = server.run(call, (scope.clone(), list), |connection, (scope, ids)| {
        Box::pin(async move {
            let sql = "SELECT id, session, seq, summaries FROM redact_messages($1, $2)";
            let rows = sqlx::query(sql).bind(scope.key()).bind(ids).fetch_all(connection).await.doing(REDACT)?;
            rows.iter().map(touched).collect()
        })
    });
    redacted.await
}

fn touched(row: &PgRow) -> Attempt<Redacted> {
    let summaries: Vec<Uuid> = row.try_get(3).doing(REDACT)?;
    Ok(Redacted {
        id: MessageId(row.try_get(0).doing(REDACT)?),
        session: named(row.try_get(1).doing(REDACT)?)?,
        seq: Seq(loaded(row.try_get(2).doing(REDACT)?)?),
        summaries: summaries.into_iter().map(MessageId).collect(),
    })
}
