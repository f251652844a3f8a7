//! What the target of a move holds and the source does not: told, or removed.

use std::collections::HashSet;

use memory::store::chat::SessionState;
use memory::{Error, Filter, RecordId, Scope, SessionId, Stores};

use super::report::Moved;
use crate::failure::Failure;

/// Sessions and records that are looked at together.
const PAGE: usize = 500;
/// Names that are told.
const TOLD: usize = 3;

/// Finds the owner's sessions that are not among `known`, and removes them for good if `mirror` asks for it.
pub(super) async fn sessions(
    target: &Stores,
    scope: &Scope,
    known: &HashSet<SessionId>,
    mirror: bool,
    moved: &mut Moved,
) -> Result<(), Failure> {
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
                    let name = state.session.name();
                    moved
                        .problems
                        .push(format!("the session {name}, which the target alone holds, is written to: move again"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    } else if !extra.is_empty() {
        let names: Vec<&str> = extra.iter().take(TOLD).map(|state| state.session.name()).collect();
        let more = if extra.len() > TOLD { ", …" } else { "" };
        let (count, names) = (extra.len(), names.join(", "));
        moved.problems.push(format!("the target alone holds {count} sessions ({names}{more}): --mirror removes them"));
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
) -> Result<u64, Failure> {
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
                Err(error) => return Err(error.into()),
            }
        } else {
            extra += alone.len() as u64;
        }
    }
    if extra > 0 {
        moved.problems.push(format!("the target alone holds {extra} records: --mirror removes them"));
    }
    if changed > 0 {
        moved.problems.push(format!("of {changed} records that the target alone holds one is written to: move again"));
    }
    Ok(extra + changed)
}
