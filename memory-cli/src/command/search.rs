//! `memory search`: messages and records by their words.

use memory::engine::Found;
use memory::{Field, Filter};
use serde_json::{Value, json};

use super::{Call, sessions};
use crate::cli::Search;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{upkeep, words};

/// Shows what is found.
pub(crate) async fn run(call: &Call, args: &Search, output: &mut Output) -> Result<Outcome, Failure> {
    let search = request(call, args)?;
    let (memory, scoped) = call.open().await?;
    let pending = upkeep::warn_if_behind(&scoped).await;
    let found = scoped.recall(&search).await?;
    if output.is_json() {
        let hits: Vec<Value> = found.hits.iter().map(words::hit_json).collect();
        let mut value = json!({ "hits": hits, "degraded": found.receipt.degraded, "pending": pending });
        if let (true, Value::Object(members)) = (args.explain, &mut value) {
            members.insert("receipt".to_owned(), json!(found.receipt));
        }
        output.json(&value)?;
    } else {
        in_words(&found, args.explain, output)?;
    }
    output.flush()?;
    if let Some(session) = call.named_session()?.filter(|_| found.hits.is_empty()) {
        sessions::note_if_empty(&scoped, &session).await?;
    }
    upkeep::after(&memory).await;
    Ok(words::outcome(&found.receipt))
}

fn request(call: &Call, args: &Search) -> Result<memory::Search, Failure> {
    let mut search = memory::Search::new(&args.query).limit(args.limit);
    if let Some(filter) = &args.filter {
        search = search.matching(filter.parse::<Filter>()?);
    }
    if let Some(session) = call.named_session()? {
        search = search.matching(Filter::eq(Field::Session, session.name()));
    }
    if let Some(kind) = args.kind {
        search = search.only(kind.into());
    }
    if let Some(at) = args.as_of {
        search = search.as_of(at);
    }
    Ok(search)
}

/// Writes hits for people.
pub(crate) fn in_words(found: &Found, explain: bool, output: &mut Output) -> Result<(), Failure> {
    for (place, hit) in (1..).zip(&found.hits) {
        for line in words::hit(place, hit, explain) {
            output.line(&line)?;
        }
    }
    if found.hits.is_empty() {
        output.line("nothing found")?;
    }
    let receipt = &found.receipt;
    if explain {
        let (by_words, by_meaning) = (receipt.text_candidates, receipt.vector_candidates);
        let took = words::millis(receipt.took_micros);
        output.line(&format!("sought     {}", receipt.terms.join(" ")))?;
        if let Some(speaker) = &receipt.speaker {
            output.line(&format!("said by    {speaker}"))?;
        }
        if !receipt.times.is_empty() {
            output.line(&format!("said in    {}", receipt.times.join(", ")))?;
        }
        output.line(&format!("candidates {by_words} by words, {by_meaning} by meaning; took {took}"))?;
        if receipt.dropped_at_hydration > 0 {
            output.line(&format!("dropped    {} whose content is gone", receipt.dropped_at_hydration))?;
        }
    }
    for line in words::troubles(receipt) {
        output.line(&line)?;
    }
    Ok(())
}
