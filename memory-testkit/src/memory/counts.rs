//! Accesses: what is recalled is counted, what is only searched for is not, and counting can be switched off.

use std::time::Duration;

use memory_core::engine::{ContextRequest, PartKind, Remember, Search};
use memory_core::{ItemId, RecordId, Timestamp};

use super::world::World;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s1_12_what_is_recalled_is_counted_and_what_is_only_found_is_not,
    s1_12_nothing_is_counted_where_that_is_switched_off,
]);

/// Searches for a record without recalling it, then recalls it by a search and, a second later, by a context.
async fn recall(world: &World, id: RecordId) -> Scene {
    let ada = world.owner("ada")?;
    let roses = Search::new("Which roses shall we buy?").limit(1);
    ada.search(&roses).await?;
    let hits = ada.recall(&roses).await?.hits;
    equal(hits.iter().map(|hit| hit.item.clone()).collect::<Vec<_>>(), [ItemId::Record(id)])?;
    world.ground.clock.advance(Duration::from_secs(1));
    let context =
        world.talk("ada")?.assemble(&ContextRequest::new("Which roses shall we buy?", 1_000).recall(1)).await?;
    let recalled = context.receipt.included.iter().filter(|included| included.part == PartKind::Recalled);
    equal(recalled.map(|included| included.item.clone()).collect::<Vec<_>>(), [ItemId::Record(id)])?;
    world.tend().await
}

/// Returns how often a record was accessed, and when for the last time.
async fn accesses(world: &World, id: RecordId) -> Result<(u64, Option<Timestamp>), Failure> {
    let stored = world.owner("ada")?.get(&[id]).await?;
    let stored = stored.first().ok_or("the record is gone")?;
    Ok((stored.access_count, stored.accessed_at))
}

async fn planted(world: &World) -> Result<[RecordId; 2], Failure> {
    let ada = world.owner("ada")?;
    let roses = ada.remember(Remember::preference("Ada wants roses without thorns")).await?.id;
    let bus = ada.remember(Remember::fact("The bus leaves at noon")).await?.id;
    world.tend_later().await?;
    Ok([roses, bus])
}

async fn s1_12_what_is_recalled_is_counted_and_what_is_only_found_is_not(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [roses, bus] = planted(&world).await?;
    world.owner("ada")?.search(&Search::new("roses")).await?;
    world.tend().await?;
    equal(accesses(&world, roses).await?, (0, None))?;
    recall(&world, roses).await?;
    equal(accesses(&world, roses).await?, (2, Some(world.memory.now())))?;
    equal(accesses(&world, bus).await?, (0, None))
}

async fn s1_12_nothing_is_counted_where_that_is_switched_off(bed: Bed<Stores>) -> Scene {
    let world = World::with(&bed, |_, builder| builder.touch(false)).await?;
    let [roses, _] = planted(&world).await?;
    recall(&world, roses).await?;
    equal(accesses(&world, roses).await?, (0, None))
}
