//! `memory remember`: stores a fact, preference or other record.

use memory::engine::{Addition, NotTaken, Remembered, Why};

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
    if output.is_json() {
        output.json(&receipt)?;
    } else {
        let outcome = match receipt.outcome {
            Remembered::Stored => "remembered",
            Remembered::Reinforced => "known already",
        };
        output.line(&format!("{outcome}: {} (version {})", receipt.id, receipt.version))?;
        for NotTaken { what, why } in &receipt.not_taken {
            output.line(&format!("not taken: {}, {}", addition(what), reason(*why)))?;
        }
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

fn addition(what: &Addition) -> String {
    match what {
        Addition::Metadata(key) => format!("the value of {key}"),
        Addition::Tag(tag) => format!("the tag {tag}"),
        Addition::Importance => "the importance".to_owned(),
        Addition::Pin => "the pin".to_owned(),
        Addition::Expiry => "the end of its life".to_owned(),
        Addition::Validity => "the time of its truth".to_owned(),
        Addition::Run => "the run".to_owned(),
    }
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::LowerTrust => "for somebody more trusted told it too",
        Why::Outlived => "for another telling asks for a longer life",
        Why::Full => "for the record was told too often",
    }
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
    if let Some(id) = args.id {
        remember = remember.with_id(id);
    }
    if let Some(session) = call.named_session()? {
        remember = remember.with_session(session);
    }
    Ok(remember)
}
