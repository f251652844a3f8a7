//! `memory fork`: a conversation that shares the past of another one.

use memory::{ForkPoint, Scoped, Seq, SessionId};
use serde_json::json;

use super::call::Call;
use crate::cli::Fork;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{sessions, upkeep};

/// Begins the branch.
pub(crate) async fn run(call: &Call, args: &Fork, output: &mut Output) -> Result<Outcome, Failure> {
    let (session, branch) = (SessionId::new(&args.session)?, SessionId::new(&args.branch)?);
    let (memory, scoped) = call.open().await?;
    if !sessions::exists(&scoped, &session).await? {
        return Err(Failure::Usage(sessions::no_such(&scoped, &session).await?));
    }
    let (point, at) = point(&scoped, &session, args.at.as_deref()).await?;
    match scoped.session(&session).fork(point, &branch).await {
        Err(memory::Error::Conflict) => {
            let what = format!("there is a session {} already, with messages or another past", branch.name());
            return Err(Failure::Usage(what));
        }
        forked => drop(forked?),
    }
    if output.is_json() {
        output.json(&json!({ "session": branch.name(), "from": session.name(), "at": at }))?;
    } else {
        output.line(&format!("{} shares the past of {} up to {at}", branch.name(), session.name()))?;
    }
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Returns the message that is named, and how it is called; without a name the newest.
async fn point(scoped: &Scoped, session: &SessionId, at: Option<&str>) -> Result<(ForkPoint, String), Failure> {
    let Some(at) = at else {
        let head = scoped.session(session).state().await?.head;
        return Ok((head.into(), format!("#{}", head.0)));
    };
    if let Ok(number) = at.strip_prefix('#').unwrap_or(at).parse::<u64>() {
        return Ok((Seq(number).into(), format!("#{number}")));
    }
    let id: memory::MessageId =
        at.parse().map_err(|_| Failure::Usage(format!("{at} is neither the number nor the id of a message")))?;
    Ok((id.into(), id.to_string()))
}
