//! `memory export`: everything of the owner as JSON lines on stdout.

use memory::store::chat::{Page, View};
use memory::transfer::export;
use memory::{Scoped, Seq, SessionId};

use super::call::Call;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};
use crate::{sessions, upkeep};

/// Writes the export.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    let only = call.named_session()?;
    if let Some(session) = &only
        && !sessions::exists(&scoped, session).await?
    {
        // An export of nothing would pass for a copy.
        return Err(Failure::Usage(sessions::no_such(&scoped, session).await?));
    }
    export(&scoped, only.as_ref(), output.lines()).await?;
    output.flush()?;
    if let Some(session) = &only {
        tell_past(&scoped, session).await?;
    }
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}

/// Warns that the past of a branch is not in its export, with the names of the conversations that hold it.
async fn tell_past(scoped: &Scoped, branch: &SessionId) -> Result<(), Failure> {
    let first = scoped.session(branch).read(&Page::after(Seq(0), 1, View::Log)).await?.messages.pop();
    let mut held = Vec::new();
    for session in first.map(|row| row.shares_past_of()).unwrap_or_default() {
        if sessions::exists(scoped, &session).await? {
            held.push(session.name().to_owned());
        }
    }
    if !held.is_empty() {
        let (name, held) = (branch.name(), held.join(", "));
        say(&format!(
            "warning: {name} is a branch, and the past that it shares with {held} is not in this export: \
             export that with --session too, or everything without it"
        ));
    }
    Ok(())
}
