//! `memory remember`: stores a fact, preference or other record.

use super::call::Call;
use crate::cli::Remember;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::upkeep;

/// Stores the record.
pub(crate) async fn run(call: &Call, args: &Remember, output: &mut Output) -> Result<Outcome, Failure> {
    let remember = request(call, args)?;
    let (memory, scoped) = call.open().await?;
    let receipt = scoped.remember(remember).await?;
    output.receipt(&receipt)?;
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

fn request(call: &Call, args: &Remember) -> Result<memory::Remember, Failure> {
    let mut remember = memory::Remember::new(&args.kind, &args.text).with_origin("cli");
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
