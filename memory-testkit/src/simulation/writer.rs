//! A writer: carries out the operations of its script, and notes each answer in the ledger.

use std::sync::Arc;
use std::time::Duration;

use memory_core::Result;
use memory_core::engine::Memory;
use tokio::time::sleep;

use super::act::{Act, Operation};
use super::ledger::LedgerEntry;
use super::script::Script;
use super::world::World;

/// A script, and how far its writer is.
pub(super) struct Progress {
    script: Script,
    /// A forget that failed or was cut off: it is repeated before anything else is done, as callers do.
    unended: Option<Act>,
}

impl Progress {
    pub(super) fn new(script: Script) -> Self {
        Self { script, unended: None }
    }

    /// Returns what is to be done next, and how many milliseconds later; none at the end.
    fn next(&mut self, world: &World) -> Result<Option<(Act, u64)>> {
        let next = match &self.unended {
            Some(unended) => Some(unended.clone()),
            None => self.script.next(&world.site.sessions, world.site.ledger.items())?,
        };
        let Some(act) = next else { return Ok(None) };
        if matches!(act.what, Operation::Forget(_)) {
            self.unended = Some(act.clone());
        }
        Ok(Some((act, self.script.pause())))
    }
}

/// Shared by the processes of one writer.
pub(super) type Shared = Arc<tokio::sync::Mutex<Progress>>;

/// Does what is left of the script.
pub(super) async fn write(world: &World, memory: &Memory, progress: &tokio::sync::Mutex<Progress>) -> Result<()> {
    loop {
        let next = progress.lock().await.next(world)?;
        let Some((act, pause)) = next else { return Ok(()) };
        sleep(Duration::from_millis(pause)).await;
        world.wire.note(|| format!("  {} begins {:?}", act.by, act.what));
        let (line, is_ended) =
            carry_out(&act, world, memory).await.unwrap_or_else(|error| (format!("{error:?}"), false));
        world.wire.note(|| format!("  {} ends: {line}", act.by));
        if is_ended {
            progress.lock().await.unended = None;
        }
    }
}

/// Does it, notes what was answered, and returns a line about that, and whether it need not be repeated.
async fn carry_out(act: &Act, world: &World, memory: &Memory) -> Result<(String, bool)> {
    let site = &world.site;
    let scope = site.owner(act.owner)?;
    let entry = match &act.what {
        Operation::Forget(what) if !(world.forgets)(what) => return Ok(("not in this plan".to_owned(), true)),
        Operation::Forget(_) => {
            let held = site.held(scope).await?;
            site.ledger.begin(act, |item| held.holds(item))
        }
        _ => site.ledger.begin(act, |_| false),
    };
    let answer = act.what.carry_out(memory, scope).await;
    site.ledger.end(&entry, &answer);
    if let (Operation::Forget(what), LedgerEntry::Oblivion(place)) = (&act.what, &entry)
        && answer.is_complete
    {
        match site.untrue(scope, what, *place).await {
            Ok(None) => {}
            Ok(Some(why)) => world.wire.fail(why),
            Err(error) => world.wire.fail(format!("{what:?} cannot be looked at: {error:?}")),
        }
    }
    if let Some(why) = site.foreign(act.owner, &answer.shown) {
        world.wire.fail(why);
    }
    Ok((answer.line, answer.is_done))
}
