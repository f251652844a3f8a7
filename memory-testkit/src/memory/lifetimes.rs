//! Records that expire: never found after their moment, then deleted.

use std::time::Duration;

use memory_core::engine::{Remember, Remembered, Search};
use memory_core::{Error, Filter};

use super::world::{World, found};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    s3_12_what_is_remembered_for_a_while_lasts_an_hour_or_a_day,
    s3_3_s3_14_what_has_expired_is_never_found_and_then_deleted,
    s3_14_what_is_told_for_longer_outlives_its_first_moment,
]);

const MINUTE: Duration = Duration::from_secs(60);

async fn s3_12_what_is_remembered_for_a_while_lasts_an_hour_or_a_day(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    ada.remember(Remember::new("context", "Ada is on the train").short_term()).await?;
    ada.remember(Remember::new("context", "Ada is in Porto").long_term()).await?;
    let long = Remember::new("context", "é".repeat(5_001)).short_term();
    fails!(ada.remember(long).await, Error::Invalid { .. });
    world.tend().await?;
    let (both, porto) = (vec!["Ada is in Porto", "Ada is on the train"], vec!["Ada is in Porto"]);
    for (later, left) in [(3_599, both), (1, porto.clone()), (86_400 - 3_601, porto), (1, Vec::new())] {
        world.ground.clock.advance(Duration::from_secs(later));
        for process in [ada.clone(), world.ground.reader("ada").await?] {
            equal(found(&process, &Search::new("Ada")).await?, left.clone())?;
        }
    }
    equal(world.memory.upkeep_once().await?.expired, 2)?;
    equal(ada.records(&Filter::All, None, 10).await?, [])
}

async fn s3_3_s3_14_what_has_expired_is_never_found_and_then_deleted(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let code = Remember::fact("The door code is 4711.").with_ttl(MINUTE);
    let id = ada.remember(code.clone()).await?.id;
    let stays = ada.remember(Remember::fact("The door is blue.")).await?.id;
    let search = Search::new("door");
    for process in [ada.clone(), world.ground.reader("ada").await?] {
        world.tend().await?;
        equal(found(&process, &search).await?, ["The door code is 4711.", "The door is blue."])?;
    }
    world.ground.clock.advance(MINUTE);
    for process in [ada.clone(), world.ground.reader("ada").await?] {
        equal(found(&process, &search).await?, ["The door is blue."])?;
    }
    let report = world.memory.upkeep_once().await?;
    equal((report.expired, report.failures), (1, vec![]))?;
    let left = ada.records(&Filter::All, None, 10).await?;
    equal(left.iter().map(|row| row.record.id).collect::<Vec<_>>(), [stays])?;
    equal(ada.get(&[id]).await?, [])?;
    // Told again it is a new record.
    equal(ada.remember(code).await?.outcome, Remembered::Stored)
}

async fn s3_14_what_is_told_for_longer_outlives_its_first_moment(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let code = |ttl| Remember::fact("The door code is 4711.").with_ttl(ttl);
    ada.remember(code(MINUTE)).await?;
    ada.remember(code(3 * MINUTE)).await?;
    world.ground.clock.advance(2 * MINUTE);
    equal(world.memory.upkeep_once().await?.expired, 0)?;
    equal(found(&ada, &Search::new("door code")).await?, ["The door code is 4711."])?;
    world.ground.clock.advance(MINUTE);
    equal(found(&ada, &Search::new("door code")).await?, [""; 0])?;
    equal(world.memory.upkeep_once().await?.expired, 1)
}
