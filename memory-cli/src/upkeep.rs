//! Runs upkeep after a command, so that the indexes catch up with what was stored.

use std::time::Duration;

use memory::receipt::IndexStatus;
use memory::{Error, Memory, Scoped, UpkeepReport};

use crate::output::say;

/// How long upkeep takes before it is explained.
const QUIET: Duration = Duration::from_secs(2);
/// The same between two lines of a chat, where two seconds are for a model that finds facts.
const QUIET_BETWEEN: Duration = Duration::from_secs(4);
/// How long a model is asked for facts behind a command.
const FACTS: Duration = Duration::from_secs(300);

/// Does what is due, and says so if it takes long, as the first embedding of a large database does. What fails is a
/// warning: it stays noted, and the next command tries again. Returns whether nothing failed.
pub(crate) async fn after(memory: &Memory) -> bool {
    explained(memory, QUIET, quietly(memory)).await
}

/// Does what is due between two lines of a chat, which a slow model does not hold up: it finds facts meanwhile.
pub(crate) async fn between(memory: &Memory) -> bool {
    explained(memory, QUIET_BETWEEN, pass(memory)).await
}

/// Has facts found at the end of a chat, or waits only for the answer that is under way, which may be paid for.
pub(crate) async fn finish(memory: &Memory, is_all: bool) -> bool {
    let within = if is_all { FACTS } else { Duration::ZERO };
    explained(memory, QUIET, find(memory, within)).await
}

/// Does what is due, for a command that shows its progress itself. Returns whether nothing failed.
pub(crate) async fn quietly(memory: &Memory) -> bool {
    match memory.upkeep_once().await {
        Ok(report) => {
            let is_whole = told(Ok(report));
            find(memory, FACTS).await && is_whole
        }
        // What does not answer is asked for nothing more.
        failed => told(failed),
    }
}

/// Waits for work, and says that it takes long when it does.
async fn explained(memory: &Memory, quiet: Duration, work: impl Future<Output = bool>) -> bool {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        is_whole = &mut work => return is_whole,
        () = tokio::time::sleep(quiet) => {}
    }
    let pending = pending(memory).await;
    say(&format!("note: {pending} notes are still to be indexed; stopping loses nothing, the next command goes on"));
    work.await
}

async fn pass(memory: &Memory) -> bool {
    told(memory.upkeep_once().await)
}

async fn find(memory: &Memory, within: Duration) -> bool {
    told(memory.find_facts(within).await)
}

/// Tells what failed, and returns whether nothing did.
fn told(done: memory::Result<UpkeepReport>) -> bool {
    match done {
        Ok(report) => {
            tell(&report);
            report.failures.is_empty() && report.dead == 0
        }
        // Nothing can be indexed; searches and `memory stats` say what is missing.
        Err(Error::ReadOnly { .. }) => true,
        Err(error) => {
            say(&format!("warning: upkeep failed and will be tried again: {}", error.with_causes()));
            false
        }
    }
}

fn tell(report: &UpkeepReport) {
    for failure in &report.failures {
        say(&format!("warning: upkeep: {failure}"));
    }
    if report.dead > 0 {
        say(&format!("warning: {} notes of upkeep were given up; `memory stats` shows them", report.dead));
    }
}

/// Returns how many notes the indexes have not followed yet, of all owners; 0 if that cannot be told.
pub(crate) async fn pending(memory: &Memory) -> u64 {
    most(&memory.status().await.indexes)
}

/// Returns how many notes an index has still to follow: at least one where that cannot be told.
pub(crate) fn lacking(index: &IndexStatus) -> u64 {
    index.backlog.as_ref().map_or(1, |backlog| backlog.pending.max(u64::from(!index.is_noted)))
}

fn most(indexes: &[IndexStatus]) -> u64 {
    let notes = indexes.iter().filter_map(|index| index.backlog.as_ref().ok());
    notes.map(|backlog| backlog.pending).max().unwrap_or(0)
}

/// Warns if a search of the owner would miss what is not indexed yet, and returns how much that is.
pub(crate) async fn warn_if_behind(scoped: &Scoped) -> u64 {
    let indexes = scoped.indexes().await;
    let pending = most(&indexes);
    if indexes.iter().any(|index| !index.is_noted && index.backlog.is_ok()) {
        say("warning: what was stored before is still being noted for an index, so some things may not be found");
    } else if pending > 0 {
        let notes = if pending == 1 { "note is" } else { "notes are" };
        say(&format!("warning: {pending} {notes} not indexed yet, so some things may not be found"));
    }
    pending
}
