//! Facts that are told again keep what was told of them before.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::engine::{Forget, Remember, Scoped};
use memory_core::extract::{Effect, ExtractRequest, Extractor, FactCounts, Operation, RuleExtractor, SLOT, VALUE};
use memory_core::store::upkeep::IndexName;
use memory_core::{Block, Filter, Message, Role, Timestamp, Trust};

use super::world::{World, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    a_fact_that_is_confirmed_expires_as_it_did,
    a_fact_that_was_ended_stays_so_if_what_superseded_it_is_forgotten,
    a_fact_that_has_ended_twice_holds_what_was_said_before_its_last_end,
    a_pass_tells_what_came_of_the_facts_that_it_found,
    a_fact_that_fills_no_slot_is_replaced_by_whoever_is_trusted_as_much,
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

async fn a_pass_tells_what_came_of_the_facts_that_it_found(bed: Bed<Stores>) -> Scene {
    let world = with_rules(&bed).await?;
    let talk = world.talk("ada")?;
    let none = FactCounts::default();
    for (said, promised) in [
        ("I live in Rome. I like tea.", FactCounts { added: 2, ..none }),
        ("I moved to Lisbon.", FactCounts { changed: 1, ..none }),
        ("I live in Lisbon.", FactCounts { confirmed: 1, ..none }),
        ("I no longer live in Lisbon.", FactCounts { retracted: 1, ..none }),
        ("Is it warm there?", none),
    ] {
        talk.append(vec![world.user(said)]).await?;
        let report = world.memory.upkeep_once().await?;
        equal((report.fact_counts, report.failures), (promised, Vec::new()))?;
    }
    Ok(())
}

/// Says that what it is shown first has changed, by whatever was said last.
#[derive(Debug)]
struct Changes;

#[async_trait]
impl Extractor for Changes {
    fn name(&self) -> &str {
        "changes-1"
    }

    async fn extract(&self, request: &ExtractRequest) -> memory_core::Result<Vec<Operation>> {
        let Some((known, row)) = request.known.first().zip(request.messages.last()) else { return Ok(Vec::new()) };
        Ok(vec![Operation {
            effect: Effect::Change(known.record.id),
            kind: "fact".to_owned(),
            text: "the cat drinks milk".to_owned(),
            slot: None,
            entities: Vec::new(),
            valid_from: None,
            valid_to: None,
            sources: vec![row.id],
            quote: "milk".to_owned(),
        }])
    }
}

async fn a_fact_that_fills_no_slot_is_replaced_by_whoever_is_trusted_as_much(bed: Bed<Stores>) -> Scene {
    let world = World::with(&bed, |_, builder| builder.extractor(Arc::new(Changes))).await?;
    let (ada, talk) = (world.owner("ada")?, world.talk("ada")?);
    ada.remember(Remember::fact("the cat drinks tea")).await?;
    // So long that only its beginning is read, which is not taken for the person's word either.
    let mut read = world.user("");
    let long = format!("The cat drinks milk. {}", "x".repeat(300_000));
    read.blocks = vec![Block::tool_result("call", vec![Block::text(long)])];
    equal(read.trust, Trust::User)?;
    talk.append(vec![read]).await?;
    let report = world.memory.upkeep_once().await?;
    equal((report.fact_counts.changed, report.fact_counts.refused), (0, 1))?;
    let copy = ada.session(&session("other")?);
    copy.append(vec![world.user("My cat drinks milk now.")]).await?;
    equal(world.memory.upkeep_once().await?.fact_counts.changed, 1)?;
    let current = ada.records(&Filter::current(world.memory.now()), None, 9).await?;
    equal(current.iter().map(|stored| stored.record.text.as_str()).collect::<Vec<_>>(), ["the cat drinks milk"])
}
