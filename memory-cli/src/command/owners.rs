//! `memory owners`: who the database holds something of, with counts and nothing else.

use memory::transfer;
use serde_json::{Value, json};

use super::call::Call;
use super::stats::{OwnerStats, count};
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::words::plural;

/// Lists the owners.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let database = call.database()?;
    call.must_be_there(&database)?;
    let stores = database.connect().await?;
    let owners = transfer::owners(&stores).await?;
    let memory = call.hold(database.build(stores, None).await?).await;
    let mut list: Vec<Value> = Vec::new();
    let mut listed = 0_usize;
    for owner in &owners {
        let owned = count(&memory.of(owner)).await?;
        let OwnerStats { sessions, messages, records, .. } = owned;
        // Of who was erased the name stays, so that what comes late is refused.
        if (sessions, records) == (0, 0) {
            continue;
        }
        listed += 1;
        let (tenant, subject) = (owner.tenant(), owner.subject());
        if output.is_json() {
            list.push(json!({
                "tenant": tenant, "subject": subject, "sessions": sessions, "messages": messages, "records": records,
            }));
            continue;
        }
        output.line(&format!("{subject} of {tenant}"))?;
        output.line(&format!("  {owned}"))?;
    }
    if output.is_json() {
        output.json(&json!({ "owners": list }))?;
    } else {
        output.line(&format!("{listed} {}", plural(listed, "owner")))?;
    }
    output.flush()?;
    Ok(Outcome::Done)
}
