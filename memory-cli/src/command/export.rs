//! `memory export`: everything of the owner as JSON lines on stdout.

use memory::transfer::export;

use super::call::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
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
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}
