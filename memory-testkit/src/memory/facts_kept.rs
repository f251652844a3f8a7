//! Facts that are told again keep what was told of them before.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Forget, Remember, Scoped};
use memory_core::extract::{RuleExtractor, SLOT, VALUE};
use memory_core::store::upkeep::IndexName;
use memory_core::{Filter, Message, Role, Timestamp};

use super::world::{World, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    a_fact_that_is_confirmed_expires_as_it_did,
    a_fact_that_was_ended_stays_so_if_what_superseded_it_is_forgotten,
    a_fact_that_has_ended_twice_holds_what_was_said_before_its_last_end,
]);

async fn with_rules(bed: &Bed<Stores>) -> Result<World, Failure> {
    World::with(bed, |_, builder| builder.extractor(Arc::new(RuleExtractor))).await
}

async fn expiries(owner: &Scoped) -> Result<Vec<Option<Timestamp>>, Failure> {
    let stored = owner.records(&Filter::All, None, 9).await?;
    Ok(stored.iter().map(|stored| stored.record.expires_at()).collect())
}

async fn a_fact_that_is_confirmed_expires_as_it_did(bed: Bed<Stores>) -> Scene {
    let world = with_rules(&bed).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    let told = Remember::fact("user: I live in Porto by the river Douro")
        .with_metadata(SLOT, "home")
        .with_metadata(VALUE, "Porto")
        .with_ttl(Duration::from_secs(3_600));
    ada.remember(told).await?;
    let before = expiries(&ada).await?;
    equal(before.iter().flatten().count(), 1)?;
    talk.append(vec![world.user("I live in Porto.")]).await?;
    world.tend().await?;
    equal(expiries(&ada).await?, before)?;
    let stored = ada.records(&Filter::All, None, 9).await?;
    equal(stored.iter().map(|stored| stored.record.sources().len()).collect::<Vec<_>>(), [1])
}

async fn a_fact_that_was_ended_stays_so_if_what_superseded_it_is_forgotten(bed: Bed<Stores>) -> Scene {
    let world = with_rules(&bed).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    talk.append(vec![world.user("I like tea.")]).await?;
    world.tend().await?;
    for stored in ada.records(&Filter::All, None, 9).await? {
        ada.retire(stored.record.id).await?;
        let newer = ada.supersede(stored.record.id, Remember::fact("Ada drinks coffee")).await?;
        ada.forget(&Forget::Records(vec![newer.id])).await?;
    }
    world.memory.reindex(&IndexName::new("facts/rules-1")?).await?;
    world.tend().await?;
    equal(ada.records(&Filter::current(world.memory.now()), None, 9).await?.len(), 0)?;
    equal(ada.records(&Filter::All, None, 9).await?.len(), 1)
}

/// Says what Ada likes, retires that, and returns when.
async fn liked_for_a_while(world: &World) -> Result<Timestamp, Failure> {
    let ada = world.owner("ada")?;
    world.talk("ada")?.append(vec![world.user("I like tea.")]).await?;
    world.tend().await?;
    for stored in ada.records(&Filter::current(world.memory.now()), None, 9).await? {
        ada.retire(stored.record.id).await?;
    }
    Ok(world.memory.now())
}

async fn a_fact_that_has_ended_twice_holds_what_was_said_before_its_last_end(bed: Bed<Stores>) -> Scene {
    let world = with_rules(&bed).await?;
    let ada = world.owner("ada")?;
    let between = liked_for_a_while(&world).await?;
    liked_for_a_while(&world).await?;
    // What was said before the last end, as from an import.
    let copy = Message::new(Role::User, "I like tea.", between);
    ada.session(&session("copy")?).append(vec![copy]).await?;
    world.tend().await?;
    equal(ada.records(&Filter::current(world.memory.now()), None, 9).await?.len(), 0)?;
    equal(ada.records(&Filter::All, None, 9).await?.len(), 2)
}
