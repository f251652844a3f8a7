//! Owners: one key of two owners is two entries, whatever the names; erasing empties one board.

use memory_core::Epoch;
use memory_core::store::blackboard::{BlackboardEntry, BoardQuery};

use crate::crowd::together;
use crate::dropped::give_up;
use crate::generate::{self, Random};
use crate::text::build::terms;
use crate::{Bed, Boards, Scene, environment, equal};

scenarios!(TABLE: Boards = [
    owners_with_hostile_names_stay_apart,
    erasing_empties_the_board_and_counts,
    erasing_again_keeps_what_was_put_since,
    erasing_one_of_fifty_leaves_the_others_as_they_are,
    calls_given_up_halfway_leave_no_answer_for_another_call,
]);

const TASKS: usize = 16;

async fn owners_with_hostile_names_stay_apart(bed: Bed<Boards>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 64)?;
    for (number, owner) in owners.iter().enumerate() {
        let entry = BlackboardEntry {
            terms: terms(&["river"])?,
            vector: Some(vec![1.0, number as f32]),
            ..BlackboardEntry::new("plan", format!("{number}"))
        };
        bed.store.put(owner, &entry).await?;
    }
    for (number, owner) in owners.iter().enumerate() {
        equal(bed.store.get(owner, "plan").await?.map(|found| found.value), Some(format!("{number}")))?;
        for query in [BoardQuery::Terms(terms(&["river"])?), BoardQuery::Vector(vec![1.0, 0.0])] {
            let found = bed.store.search(owner, &query, 9).await?;
            equal(found.into_iter().map(|hit| hit.entry.value).collect::<Vec<_>>(), [format!("{number}")])?;
        }
        equal(bed.store.stats(owner).await?.live, 1)?;
    }
    Ok(())
}

async fn erasing_empties_the_board_and_counts(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for key in ["a", "b", "c"] {
        let entry = BlackboardEntry { terms: terms(&["river"])?, ..BlackboardEntry::new(key, "v") };
        bed.store.put(&team, &entry).await?;
    }
    for removed in [3, 0] {
        let erased = bed.store.erase(&team, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (removed, 0))?;
    }
    equal(bed.store.get(&team, "a").await?, None)?;
    equal(bed.store.search(&team, &BoardQuery::Terms(terms(&["river"])?), 9).await?.len(), 0)?;
    equal(bed.store.stats(&team).await?.live, 0)
}

async fn erasing_again_keeps_what_was_put_since(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, &BlackboardEntry::new("old", "v")).await?;
    bed.store.erase(&team, Epoch(1)).await?;
    bed.store.put(&team, &BlackboardEntry::new("new", "v")).await?;
    let erased = bed.store.erase(&team, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (0, 0))?;
    equal(bed.store.get(&team, "new").await?.is_some(), true)?;
    bed.store.erase(&team, Epoch(2)).await?;
    equal(bed.store.get(&team, "new").await?, None)
}

async fn erasing_one_of_fifty_leaves_the_others_as_they_are(bed: Bed<Boards>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 50)?;
    for owner in &owners {
        bed.store.put(owner, &BlackboardEntry::new("plan", owner.key())).await?;
    }
    let mut gone = Vec::new();
    for erased in [0, 10, 11, 20] {
        let Some(owner) = owners.get(erased) else { continue };
        bed.store.erase(owner, Epoch(1)).await?;
        gone.push(owner);
        for owner in &owners {
            let promised = (!gone.contains(&owner)).then(|| owner.key().to_owned());
            equal(bed.store.get(owner, "plan").await?.map(|found| found.value), promised)?;
        }
    }
    Ok(())
}

/// A call that was given up must not leave its answer to the next one on the same connection.
async fn calls_given_up_halfway_leave_no_answer_for_another_call(bed: Bed<Boards>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, TASKS)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let (store, mut random) = (bed.store.clone(), Random::new(bed.seed ^ number as u64));
        async move {
            let keys: Vec<String> = (0..5).map(|key| format!("key{key}")).collect();
            for _ in 0..environment::storm(20_000) / TASKS {
                let key = random.pick(&keys);
                let value = format!("{number} {key}");
                if random.chance(1, 4) {
                    give_up(&mut random, store.put(&owner, &BlackboardEntry::new(&key, value))).await.transpose()?;
                } else if let Some(answer) = give_up(&mut random, store.get(&owner, &key)).await {
                    let answer = answer?;
                    let own = answer.as_ref().is_none_or(|found| found.value == value && found.key == key);
                    check!(own, "the answer to another call: {answer:?}");
                }
            }
            Ok(())
        }
    }))
    .await
}
