//! What the upkeep of every truth store promises, whatever it holds.

mod bounds;
mod burial;
mod incarnations;
mod keeper;
mod notes;
mod outcomes;
mod owners;

use std::sync::Arc;

use memory_core::store::upkeep::{Incarnation, IndexName, Upkeep};
use memory_core::{Epoch, Result, Scope};
use uuid::Uuid;

use crate::{Chat, Records, Scenario};

/// Begins the erasure of an owner as he is now.
pub(crate) async fn bury(upkeep: &Arc<dyn Upkeep>, scope: &Scope) -> Result<Epoch> {
    let seen = upkeep.epoch(scope).await?;
    upkeep.bury(scope, seen).await
}

/// Returns the incarnation that an index of a scenario has at first.
pub(crate) fn first() -> Incarnation {
    Incarnation(Uuid::from_u64_pair(1, 1))
}

/// Enlists an index in its first incarnation, and has all that is stored noted.
pub(crate) async fn enlist(upkeep: &dyn Upkeep, index: &IndexName) -> Result<()> {
    while !upkeep.enlist(index, Some(first()), 100).await? {}
    Ok(())
}

/// Returns the scenarios of the upkeep of conversations that are not about messages.
pub(crate) fn of_chat() -> Vec<Scenario<Chat>> {
    [bounds::CHAT, burial::CHAT, incarnations::CHAT, notes::CHAT, outcomes::CHAT, owners::CHAT].concat()
}

/// Returns the scenarios of the upkeep of records that are not about records.
pub(crate) fn of_records() -> Vec<Scenario<Records>> {
    [bounds::RECORDS, burial::RECORDS, incarnations::RECORDS, notes::RECORDS, outcomes::RECORDS, owners::RECORDS]
        .concat()
}
