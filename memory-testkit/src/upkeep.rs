//! What the upkeep of every truth store promises, whatever it holds.

mod bounds;
mod burial;
mod keeper;
mod notes;
mod outcomes;
mod owners;

use std::sync::Arc;

use memory_core::upkeep::Upkeep;
use memory_core::{Epoch, Result, Scope};

use crate::{Chat, Records, Scenario};

/// Begins the erasure of an owner as he is now.
pub(crate) async fn bury(upkeep: &Arc<dyn Upkeep>, scope: &Scope) -> Result<Epoch> {
    let seen = upkeep.epoch(scope).await?;
    upkeep.bury(scope, seen).await
}

/// Returns the scenarios of the upkeep of conversations that are not about messages.
pub(crate) fn of_chat() -> Vec<Scenario<Chat>> {
    [bounds::CHAT, burial::CHAT, notes::CHAT, outcomes::CHAT, owners::CHAT].concat()
}

/// Returns the scenarios of the upkeep of records that are not about records.
pub(crate) fn of_records() -> Vec<Scenario<Records>> {
    [bounds::RECORDS, burial::RECORDS, notes::RECORDS, outcomes::RECORDS, owners::RECORDS].concat()
}
