//! `memory export`: everything of the owner as JSON lines on stdout.

use super::Call;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::{export, upkeep};

/// Writes the export.
pub(crate) async fn run(call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    let (memory, scoped) = call.open().await?;
    export::write(&scoped, call.named_session()?.as_ref(), output).await?;
    output.flush()?;
    upkeep::after(&memory).await;
    Ok(Outcome::Done)
}
