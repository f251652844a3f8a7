//! A bound on the number of an owner's records: upkeep forgets those that matter least, and nothing else.

use std::time::Duration;

use memory_core::engine::{Remember, Retained, Retention, Scoped};
use memory_core::{Filter, ItemId};

use super::world::World;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    c33_of_too_many_records_those_that_matter_least_are_forgotten,
    c33_what_a_pinned_record_was_derived_from_stays_among_too_many,
    c33_what_matters_does_not_fall_with_its_source_among_too_many,
    c33_what_falls_with_its_source_counts_among_too_many,
]);

const HOUR: Duration = Duration::from_secs(3_600);

/// Opens a memory that keeps so many records of each owner.
async fn keeping(bed: &Bed<Stores>, records: u64) -> Result<World, Failure> {
    let retention = Retention::default().with_records(records);
    World::with(bed, |_, builder| builder.retention(Retained::Everything, retention)).await
}

/// Tends the memory until nothing lapses. Returns how many records did.
async fn lapsed(world: &World) -> Result<u64, Failure> {
    let mut lapsed = 0;
    for _ in 0..100 {
        let report = world.memory.upkeep_once().await?;
        equal(report.failures, [""; 0])?;
        if report.lapsed == 0 {
            return Ok(lapsed);
        }
        lapsed += report.lapsed;
        // The next step.
        world.ground.clock.advance(Duration::from_secs(10));
    }
    Err(Failure::new("there is always more to forget"))
}

/// Returns the records of an owner, by their words.
async fn left(owner: &Scoped) -> Result<Vec<String>, Failure> {
    let rows = owner.records(&Filter::All, None, 100).await?;
    let mut left: Vec<String> = rows.iter().map(|stored| stored.record.text.clone()).collect();
    left.sort();
    Ok(left)
}

async fn c33_of_too_many_records_those_that_matter_least_are_forgotten(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, 3).await?;
    let (ada, bob) = (world.owner("ada")?, world.owner("bob")?);
    let fact = |text: &str, importance: f32| Remember::fact(text).with_importance(importance);
    let told = [("Ada wore a red hat", 0.1), ("Ada saw a blue bird", 0.3), ("Ada drives a tractor", 0.8)];
    for (text, importance) in told {
        ada.remember(fact(text, importance)).await?;
    }
    ada.remember(fact("Ada is allergic to nuts", 0.0).pinned()).await?;
    ada.remember(fact("Ada is on the train", 0.0).with_ttl(HOUR)).await?;
    bob.remember(fact("Bob wore a hat", 0.0)).await?;
    world.ground.clock.advance(2 * HOUR);
    equal(lapsed(&world).await?, 1)?;
    equal(left(&ada).await?, ["Ada drives a tractor", "Ada is allergic to nuts", "Ada saw a blue bird"])?;
    equal(left(&bob).await?, ["Bob wore a hat"])?;
    // They are counted once an hour.
    ada.remember(fact("Ada likes green tea", 0.9)).await?;
    world.ground.clock.advance(Duration::from_secs(60));
    equal(lapsed(&world).await?, 0)?;
    world.ground.clock.advance(HOUR);
    equal(lapsed(&world).await?, 1)?;
    equal(left(&ada).await?, ["Ada drives a tractor", "Ada is allergic to nuts", "Ada likes green tea"])
}

async fn c33_what_a_pinned_record_was_derived_from_stays_among_too_many(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, 2).await?;
    let ada = world.owner("ada")?;
    let source = ada.remember(Remember::fact("Ada ate a cake with nuts").with_importance(0.0)).await?;
    let derived = Remember::fact("Ada is allergic to nuts").with_source(ItemId::Record(source.id)).pinned();
    ada.remember(derived).await?;
    for (text, importance) in [("Ada drives a tractor", 0.8), ("Ada likes green tea", 0.9)] {
        ada.remember(Remember::fact(text).with_importance(importance)).await?;
    }
    equal(lapsed(&world).await?, 2)?;
    equal(left(&ada).await?, ["Ada ate a cake with nuts", "Ada is allergic to nuts"])
}

async fn c33_what_matters_does_not_fall_with_its_source_among_too_many(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, 3).await?;
    let ada = world.owner("ada")?;
    let source = ada.remember(Remember::fact("Ada works on a farm").with_importance(0.0)).await?;
    for (text, importance) in [("Ada drives a tractor", 0.7), ("Ada milks goats", 0.8), ("Ada sells cheese", 0.9)] {
        let derived = Remember::fact(text).with_source(ItemId::Record(source.id)).with_importance(importance);
        ada.remember(derived).await?;
    }
    equal(lapsed(&world).await?, 1)?;
    equal(left(&ada).await?, ["Ada milks goats", "Ada sells cheese", "Ada works on a farm"])
}

async fn c33_what_falls_with_its_source_counts_among_too_many(bed: Bed<Stores>) -> Scene {
    let world = keeping(&bed, 2).await?;
    let ada = world.owner("ada")?;
    let source = ada.remember(Remember::fact("Ada wore a red hat").with_importance(0.0)).await?;
    let derived = Remember::fact("Ada owns a hat").with_source(ItemId::Record(source.id));
    ada.remember(derived.with_importance(0.1)).await?;
    for (text, importance) in [("Ada saw a blue bird", 0.3), ("Ada drives a tractor", 0.8), ("Ada likes tea", 0.9)] {
        ada.remember(Remember::fact(text).with_importance(importance)).await?;
    }
    equal(lapsed(&world).await?, 3)?;
    equal(left(&ada).await?, ["Ada drives a tractor", "Ada likes tea"])
}
