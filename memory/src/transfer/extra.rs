//! Finds what the target of a move holds and the source does not, and removes it if the move is a mirror.

use std::collections::HashSet;

use memory_core::store::chat::SessionState;
use memory_core::{Error, Filter, RecordId, Result, Scope, SessionId, Stores};

use super::moved::Moved;
use super::problem::Problem;

/// Sessions and records that are looked at together.
const PAGE: usize = 500;

/// Finds the owner's sessions that are not among `known`, and removes them for good if `mirror` asks for it.
pub(super) async fn sessions(
    target: &Stores,
    scope: &Scope,
    known: &HashSet<SessionId>,
    mirror: bool,
    moved: &mut Moved,
) -> Result<()> {
    let (mut extra, mut after): (Vec<SessionState>, Option<SessionId>) = (Vec::new(), None);
    loop {
        let page = target.chat()?.store().sessions(scope, after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.session.clone());
        extra.extend(page.into_iter().filter(|state| !known.contains(&state.session)));
    }
    if mirror {
        for state in &extra {
            match target.chat()?.store().delete(scope, state).await {
                Ok(_) => moved.removed += 1,
                Err(Error::Conflict) => {
                    moved.problems.push(Problem::ExtraSessionBusy(state.session.name().to_owned()));
                }
                Err(error) => return Err(error),
            }
        }
    } else if !extra.is_empty() {
        let names = extra.iter().map(|state| state.session.name().to_owned()).collect();
        moved.problems.push(Problem::ExtraSessions(names));
    }
    Ok(())
}

/// Finds the owner's records that the source does not hold, and removes them for good if `mirror` asks for it. Returns how
/// many stay.
pub(super) async fn records(
    (source, target): (&Stores, &Stores),
    scope: &Scope,
    mirror: bool,
    moved: &mut Moved,
) -> Result<u64> {
    let (Some(here), Some(there)) = (&source.records, &target.records) else { return Ok(0) };
    let (mut extra, mut changed, mut after): (u64, u64, Option<RecordId>) = (0, 0, None);
    loop {
        let page = there.store().scan(scope, &Filter::All, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        let ids: Vec<RecordId> = page.iter().map(|stored| stored.record.id).collect();
        let known: HashSet<RecordId> =
            here.store().get(scope, &ids).await?.iter().map(|stored| stored.record.id).collect();
        let alone = page.iter().filter(|stored| !known.contains(&stored.record.id));
        let alone: Vec<(RecordId, u64)> = alone.map(|stored| (stored.record.id, stored.version)).collect();
        if mirror {
            match there.store().delete(scope, &alone).await {
                Ok(removed) => moved.removed += removed,
                Err(Error::Conflict) => changed += alone.len() as u64,
                Err(error) => return Err(error),
            }
        } else {
            extra += alone.len() as u64;
        }
    }
    if extra > 0 {
        moved.problems.push(Problem::ExtraRecords(extra));
    }
    if changed > 0 {
        moved.problems.push(Problem::ExtraRecordsBusy(changed));
    }
    Ok(extra + changed)
}
