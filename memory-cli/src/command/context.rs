//! `memory context`: what a model would be sent, and why.

use memory::Session;
use memory::engine::{Context, ContextRequest};
use memory::window::{Budget, ModelProfile, token_limit};
use serde_json::{Value, json};

use super::{Call, sessions};
use crate::cli::{self, Bounds};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::{upkeep, words};

/// Shows the context of a query.
pub(crate) async fn run(call: &Call, args: &cli::Context, output: &mut Output) -> Result<Outcome, Failure> {
    let session = call.session()?;
    let (memory, scoped) = call.open().await?;
    let pending = upkeep::warn_if_behind(&scoped).await;
    let context = assemble(&scoped.session(&session), args.query.as_deref().unwrap_or_default(), &args.bounds).await?;
    if call.named_session()?.is_some() && context.receipt.history.window_messages == 0 {
        sessions::note_if_empty(&scoped, &session).await?;
    }
    if output.is_json() {
        let mut value = as_json(&context);
        if let Value::Object(members) = &mut value {
            members.insert("pending".to_owned(), json!(pending));
        }
        output.json(&value)?;
    } else {
        in_words(&context, output)?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(words::outcome(&context.receipt.search))
}

/// Returns the context of `query` within the bounds of the command line.
pub(crate) async fn assemble(session: &Session, query: &str, bounds: &Bounds) -> Result<Context, Failure> {
    let budget = Budget::new(limit(bounds)).reserve(bounds.reserve);
    Ok(session.assemble(&ContextRequest::new(query, budget).recall(bounds.recall)).await?)
}

/// Returns a context as JSON: the messages as they are sent, and the receipt.
pub(crate) fn as_json(context: &Context) -> Value {
    json!({ "messages": context.to_openai(), "receipt": context.receipt })
}

/// Writes a context and its receipt for people.
pub(crate) fn in_words(context: &Context, output: &mut Output) -> Result<(), Failure> {
    for message in words::context(context) {
        output.said(&message)?;
    }
    output.line("-- receipt")?;
    for line in words::receipt(&context.receipt) {
        output.line(&line)?;
    }
    Ok(())
}

/// Returns the budget that the command line asks for.
pub(crate) fn limit(bounds: &Bounds) -> u64 {
    let profile = bounds.model.as_deref().map(|name| (name, ModelProfile::of(name)));
    if let (None, Some((name, None))) = (bounds.budget, &profile) {
        say(&format!("note: nothing is known of the model {name}, so the budget is that of an unknown one"));
    }
    let profile = profile.and_then(|(_, profile)| profile);
    bounds.budget.unwrap_or_else(|| token_limit(profile.as_ref(), 0))
}
