//! `memory remember`: stores a fact, preference or other record.

use std::io::{Read as _, stdin};

use memory::store::Limits;

use super::call::Call;
use crate::cli::Remember;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::upkeep;

/// Stores the record.
pub(crate) async fn run(call: &Call, args: &Remember, output: &mut Output) -> Result<Outcome, Failure> {
    let text = if args.text == "-" { piped()? } else { args.text.clone() };
    let remember = request(call, args, &text)?;
    let (memory, scoped) = call.open().await?;
    let receipt = scoped.remember(remember).await?;
    output.receipt(&receipt)?;
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Returns what stands in stdin, without blanks around it. Reads no more than is enough to be refused.
fn piped() -> Result<String, Failure> {
    let most = Limits::default().record_bytes as u64;
    let mut text = String::new();
    let read = stdin().lock().take(most + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::Usage(format!("stdin cannot be read: {error}")))?;
    Ok(text.trim().to_owned())
}

fn request(call: &Call, args: &Remember, text: &str) -> Result<memory::Remember, Failure> {
    let mut remember = memory::Remember::new(&args.kind, text).with_origin("cli");
    for tag in &args.tags {
        remember = remember.with_tag(tag);
    }
    if let Some(ttl) = args.ttl {
        remember = remember.with_ttl(ttl);
    }
    if let Some(importance) = args.importance {
        remember = remember.with_importance(importance);
    }
    if let Some(agent) = &args.agent {
        remember = remember.with_agent(agent);
    }
    if let Some(run) = &args.run {
        remember = remember.with_run(run);
    }
    if let Some(threshold) = args.novelty {
        remember = remember.gated(memory::Gate::default().with_threshold(threshold));
    }
    if let Some(id) = args.id {
        remember = remember.with_id(id);
    }
    if let Some(session) = call.named_session()? {
        remember = remember.with_session(session);
    }
    Ok(remember)
}
