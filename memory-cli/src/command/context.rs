//! `memory context`: shows the context that a model would be sent, and its receipt.

use memory::edge;
use serde_json::json;

use super::call::Call;
use crate::assemble::assemble;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::{cli, sessions, upkeep, words};

/// Shows the context of a query.
pub(crate) async fn run(call: &Call, args: &cli::Context, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let mut session = call.session()?;
    if call.named_session()?.is_some() {
        session = sessions::meant(&scoped, &session).await?.unwrap_or(session);
    }
    let query = args.query.as_deref().unwrap_or_default();
    let pending = upkeep::warn_if_behind(&scoped).await;
    let context = assemble(&scoped.session(&session), query, &args.bounds).await?;
    if call.named_session()?.is_some() && context.receipt.history.window_messages == 0 {
        sessions::note_if_empty(&scoped, &session).await?;
    }
    if output.is_json() {
        output.json(&edge::with(words::context_json(&context, args.dialect), json!({ "pending": pending })))?;
    } else if let Some(dialect) = args.dialect {
        words::write_sent(&context, dialect, output)?;
        context.receipt.search.troubles().for_each(|trouble| say(&format!("warning: {trouble}")));
    } else {
        words::write_context(&context, query, &scoped, output).await?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(words::outcome(&context.receipt.search))
}
