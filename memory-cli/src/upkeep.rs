//! Runs upkeep after a command, so that the indexes catch up with what was stored.

use std::time::Duration;

use memory::receipt::IndexStatus;
use memory::{Error, Memory, Scoped, UpkeepReport};

use crate::output::say;

/// How long upkeep takes before it is explained.
const QUIET: Duration = Duration::from_secs(2);

/// Does what is due, and says so if it takes long, as the first embedding of a large database does. What fails is a
/// warning: it stays noted, and the next command tries again. Returns whether nothing failed.
pub(crate) async fn after(memory: &Memory) -> bool {
    let mut work = std::pin::pin!(quietly(memory));
    tokio::select! {
        biased;
        is_whole = &mut work => return is_whole,
        () = tokio::time::sleep(QUIET) => {}
    }
    let pending = pending(memory).await;
    say(&format!("note: {pending} notes are still to be indexed; stopping loses nothing, the next command goes on"));
    work.await
}

/// Does what is due, for a command that shows its progress itself. Returns whether nothing failed.
pub(crate) async fn quietly(memory: &Memory) -> bool {
    match memory.upkeep_once().await {
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
