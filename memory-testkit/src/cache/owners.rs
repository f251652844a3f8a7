//! Owners: one key of two owners is two entries, whatever the names.

use memory_core::Epoch;

use super::HOUR;
use crate::crowd::together;
use crate::dropped::give_up;
use crate::generate::{self, HOSTILE_NAMES, Random};
use crate::{Bed, Caches, Scene, environment, equal};

scenarios!(TABLE: Caches = [
    owners_with_hostile_names_stay_apart,
    deleting_spares_other_owners,
    erasing_one_of_fifty_leaves_the_others_as_they_are,
    calls_given_up_halfway_leave_no_answer_for_another_call,
]);

const NOW: Epoch = Epoch(0);
const TASKS: usize = 16;

async fn owners_with_hostile_names_stay_apart(bed: Bed<Caches>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 64)?;
    let keys = ["key", "a", "b:c", "c", ":c", "}"];
    for (number, owner) in owners.iter().enumerate() {
        for key in keys {
            bed.store.put(owner, NOW, key, format!("{number} {key}").as_bytes(), HOUR).await?;
        }
        bed.store.push(owner, NOW, "list", format!("{number}").as_bytes(), 9, HOUR).await?;
    }
    for (number, owner) in owners.iter().enumerate() {
        for key in keys {
            let promised = format!("{number} {key}");
            equal(bed.store.get(owner, NOW, key).await?.as_deref(), Some(promised.as_bytes()))?;
        }
        equal(bed.store.tail(owner, NOW, "list", 9).await?, [format!("{number}").as_bytes()])?;
    }
    Ok(())
}

async fn deleting_spares_other_owners(bed: Bed<Caches>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    for owner in [&ada, &bob] {
        bed.store.put(owner, NOW, "key", b"v", HOUR).await?;
        bed.store.push(owner, NOW, "list", b"v", 9, HOUR).await?;
    }
    bed.store.delete(&ada, NOW, &["key", "list"]).await?;
    equal(bed.store.get(&ada, NOW, "key").await?, None)?;
    equal(bed.store.get(&bob, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    equal(bed.store.tail(&bob, NOW, "list", 9).await?.len(), 1)
}

async fn erasing_one_of_fifty_leaves_the_others_as_they_are(bed: Bed<Caches>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 50)?;
    for owner in &owners {
        for key in HOSTILE_NAMES.iter().take(8) {
            bed.store.put(owner, NOW, key, key.as_bytes(), HOUR).await?;
        }
        bed.store.push(owner, NOW, "list", b"v", 9, HOUR).await?;
    }
    let mut gone = Vec::new();
    for erased in [0, 10, 11, 20] {
        let Some(owner) = owners.get(erased) else { continue };
        bed.store.erase(owner, Epoch(1)).await?;
        gone.push(owner);
        for owner in &owners {
            let is_gone = gone.contains(&owner);
            for key in HOSTILE_NAMES.iter().take(8) {
                equal(bed.store.get(owner, NOW, key).await?.is_none(), is_gone)?;
            }
            equal(bed.store.tail(owner, NOW, "list", 9).await?.is_empty(), is_gone)?;
        }
    }
    Ok(())
}

/// A call that was given up must not leave its answer to the next one on the same connection.
async fn calls_given_up_halfway_leave_no_answer_for_another_call(bed: Bed<Caches>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, TASKS)?;
    together(owners.into_iter().enumerate().map(|(number, owner)| {
        let (store, mut random) = (bed.store.clone(), Random::new(bed.seed ^ number as u64));
        async move {
            let keys: Vec<String> = (0..5).map(|key| format!("key{key}")).collect();
            for _ in 0..environment::storm(20_000) / TASKS {
                let key = random.pick(&keys);
                let value = format!("{number} {key}");
                if random.chance(1, 4) {
                    give_up(&mut random, store.put(&owner, NOW, &key, value.as_bytes(), HOUR)).await.transpose()?;
                } else if let Some(answer) = give_up(&mut random, store.get(&owner, NOW, &key)).await {
                    let answer = answer?;
                    check!(
                        answer.is_none() || answer == Some(value.into_bytes()),
                        "the answer to another call: {answer:?}"
                    );
                }
            }
            Ok(())
        }
    }))
    .await
}
