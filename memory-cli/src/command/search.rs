//! `memory search`: messages and records by their words.

use memory::{Filter, edge};
use serde_json::{Value, json};

use super::call::Call;
use crate::cli::Search;
use crate::failure::{Failure, Outcome};
use crate::hits::{Question, write_found};
use crate::output::Output;
use crate::{sessions, upkeep, words};

/// Shows what is found.
pub(crate) async fn run(call: &Call, args: &Search, output: &mut Output) -> Result<Outcome, Failure> {
    let mut search = request(args)?;
    let (memory, scoped) = call.open().await?;
    search.limit = args.limit.unwrap_or(memory.defaults().hits);
    let session = match call.named_session()? {
        Some(session) => Some(sessions::meant(&scoped, &session).await?.unwrap_or(session)),
        None => None,
    };
    let question = Question { words: &args.query, analysis: memory.analysis() };
    let pending = upkeep::warn_if_behind(&scoped).await;
    let found = match &session {
        Some(session) => scoped.session(session).recall(&search).await?,
        None => scoped.recall(&search).await?,
    };
    if output.is_json() {
        let hits: Vec<Value> = found.hits.iter().map(|hit| question.to_json(hit)).collect();
        let value = json!({ "hits": hits, "degraded": found.receipt.degraded, "pending": pending });
        let explained = if args.explain { json!({ "receipt": found.receipt }) } else { Value::Null };
        output.json(&edge::with(value, explained))?;
    } else {
        write_found(&found, question, args.explain, output)?;
    }
    output.flush()?;
    if let Some(session) = session.filter(|_| found.hits.is_empty()) {
        sessions::note_if_empty(&scoped, &session).await?;
    }
    upkeep::after(&memory).await;
    Ok(words::outcome(&found.receipt))
}

/// Returns what the command line asks for, but for the session and the number of hits.
fn request(args: &Search) -> Result<memory::Search, Failure> {
    let mut search = memory::Search::new(&args.query);
    if let Some(filter) = &args.filter {
        search = search.matching(filter.parse::<Filter>()?);
    }
    if let Some(kind) = args.kind {
        search = search.only(kind.into());
    }
    if let Some(at) = args.as_of {
        search = search.as_of(at);
    }
    search.mmr = args.mmr;
    Ok(search)
}
