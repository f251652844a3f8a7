//! Owners: one key of two owners is two entries, whatever the names; erasing empties one board.

use std::time::Duration;

use memory_core::store::blackboard::{BlackboardEntry, BlackboardStats, BoardQuery};
use memory_core::{Epoch, Error, Scope};

use super::EPOCH;
use crate::crowd::together;
use crate::dropped::give_up;
use crate::generate::{self, Random};
use crate::text::build::terms;
use crate::{Bed, Boards, Scene, environment, equal};

scenarios!(TABLE: Boards = [
    owners_with_hostile_names_stay_apart,
    erasing_empties_the_board_and_counts,
    an_erasure_takes_the_statistics_too,
    erasing_again_keeps_what_was_put_since,
    the_first_call_of_a_later_epoch_empties_the_board,
    a_call_of_an_earlier_epoch_is_fenced_and_changes_nothing,
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
        bed.store.put(owner, EPOCH, &entry).await?;
    }
    for (number, owner) in owners.iter().enumerate() {
        equal(bed.store.get(owner, EPOCH, "plan").await?.map(|found| found.value), Some(format!("{number}")))?;
        for query in [BoardQuery::Terms(terms(&["river"])?), BoardQuery::Vector(vec![1.0, 0.0])] {
            let found = bed.store.search(owner, EPOCH, &query, 9).await?;
            equal(found.into_iter().map(|hit| hit.entry.value).collect::<Vec<_>>(), [format!("{number}")])?;
        }
        equal(bed.store.stats(owner, EPOCH).await?.live, 1)?;
    }
    Ok(())
}

async fn erasing_empties_the_board_and_counts(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for key in ["a", "b", "c"] {
        let entry = BlackboardEntry { terms: terms(&["river"])?, ..BlackboardEntry::new(key, "v") };
        bed.store.put(&team, EPOCH, &entry).await?;
    }
    for removed in [3, 0] {
        let erased = bed.store.erase(&team, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (removed, 0))?;
    }
    is_empty(&bed, &team, Epoch(1)).await
}

/// Passes if nothing is on a board, and nothing of what was there is counted.
async fn is_empty(bed: &Bed<Boards>, team: &Scope, epoch: Epoch) -> Scene {
    let untouched = BlackboardStats { capacity: bed.setting.capacity as u64, ..BlackboardStats::default() };
    equal(bed.store.stats(team, epoch).await?, untouched)?;
    for query in [BoardQuery::Terms(terms(&["river"])?), BoardQuery::Vector(vec![1.0])] {
        equal(bed.store.search(team, epoch, &query, 9).await?.len(), 0)?;
    }
    equal(bed.store.get(team, epoch, "a").await?, None)?;
    equal(bed.store.delete(team, epoch, "a").await?, false)?;
    equal(bed.store.sweep(team, epoch).await?, 0)
}

async fn an_erasure_takes_the_statistics_too(bed: Bed<Boards>) -> Scene {
    let (team, other) = (bed.scope("team")?, bed.scope("other")?);
    let ten = Duration::from_secs(10);
    for owner in [&team, &other] {
        for number in 0..=bed.setting.capacity {
            bed.store.put(owner, EPOCH, &BlackboardEntry::new(format!("{number}"), "v").with_ttl(ten)).await?;
        }
        bed.store.get(owner, EPOCH, "1").await?;
        bed.store.get(owner, EPOCH, "absent").await?;
    }
    bed.clock.advance(ten);
    let before = bed.store.stats(&other, EPOCH).await?;
    bed.store.erase(&team, Epoch(1)).await?;
    is_empty(&bed, &team, Epoch(1)).await?;
    equal(bed.store.stats(&other, EPOCH).await?, before)?;
    equal((before.evictions, before.hits, before.misses, before.expired > 0), (1, 1, 1, true))
}

async fn erasing_again_keeps_what_was_put_since(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("old", "v")).await?;
    bed.store.erase(&team, Epoch(2)).await?;
    bed.store.put(&team, Epoch(2), &BlackboardEntry::new("new", "v")).await?;
    for again in [Epoch(2), Epoch(1)] {
        let erased = bed.store.erase(&team, again).await?;
        equal((erased.removed, erased.remaining), (0, 0))?;
        equal(bed.store.get(&team, Epoch(2), "new").await?.is_some(), true)?;
    }
    bed.store.erase(&team, Epoch(3)).await?;
    equal(bed.store.get(&team, Epoch(3), "new").await?, None)
}

/// An erasure that never reached the board, because its server was away, holds all the same.
async fn the_first_call_of_a_later_epoch_empties_the_board(bed: Bed<Boards>) -> Scene {
    for call in 0..7 {
        let (team, other) = (bed.scope(&format!("team{call}"))?, bed.scope(&format!("other{call}"))?);
        for owner in [&team, &other] {
            let entry = BlackboardEntry {
                terms: terms(&["river"])?,
                vector: Some(vec![1.0]),
                ..BlackboardEntry::new("a", owner.key()).with_ttl(Duration::from_secs(10))
            };
            bed.store.put(owner, EPOCH, &entry).await?;
        }
        let (store, later) = (&bed.store, Epoch(1));
        match call {
            0 => equal(store.get(&team, later, "a").await?, None)?,
            1 => equal(store.search(&team, later, &BoardQuery::Terms(terms(&["river"])?), 9).await?.len(), 0)?,
            2 => equal(store.search(&team, later, &BoardQuery::Vector(vec![1.0]), 9).await?.len(), 0)?,
            3 => equal(store.delete(&team, later, "a").await?, false)?,
            4 => equal(store.sweep(&team, later).await?, 0)?,
            5 => equal(store.stats(&team, later).await?.live, 0)?,
            _ => equal(store.put(&team, later, &BlackboardEntry::new("b", "v")).await?, Vec::<String>::new())?,
        }
        equal(bed.store.erase(&team, later).await?.removed, 0)?;
        equal(bed.store.stats(&team, later).await?.live, u64::from(call == 6))?;
        equal(bed.store.get(&team, later, "a").await?, None)?;
        equal(bed.store.get(&other, EPOCH, "a").await?.map(|found| found.value), Some(other.key().to_owned()))?;
    }
    Ok(())
}

async fn a_call_of_an_earlier_epoch_is_fenced_and_changes_nothing(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.erase(&team, Epoch(2)).await?;
    bed.store.put(&team, Epoch(2), &BlackboardEntry::new("a", "new")).await?;
    let before = bed.store.stats(&team, Epoch(2)).await?;
    for late in [EPOCH, Epoch(1)] {
        fails!(bed.store.put(&team, late, &BlackboardEntry::new("a", "old")).await, Error::Fenced);
        fails!(bed.store.put(&team, late, &BlackboardEntry::new("b", "old")).await, Error::Fenced);
        fails!(bed.store.get(&team, late, "a").await, Error::Fenced);
        let query = BoardQuery::Terms(terms(&["river"])?);
        fails!(bed.store.search(&team, late, &query, 9).await, Error::Fenced);
        fails!(bed.store.delete(&team, late, "a").await, Error::Fenced);
        fails!(bed.store.sweep(&team, late).await, Error::Fenced);
        fails!(bed.store.stats(&team, late).await, Error::Fenced);
    }
    equal(bed.store.stats(&team, Epoch(2)).await?, before)?;
    equal(bed.store.get(&team, Epoch(2), "a").await?.map(|found| found.value), Some("new".to_owned()))
}

async fn erasing_one_of_fifty_leaves_the_others_as_they_are(bed: Bed<Boards>) -> Scene {
    let owners = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 50)?;
    for owner in &owners {
        bed.store.put(owner, EPOCH, &BlackboardEntry::new("plan", owner.key())).await?;
    }
    let mut gone = Vec::new();
    for erased in [0, 10, 11, 20] {
        let Some(owner) = owners.get(erased) else { continue };
        bed.store.erase(owner, Epoch(1)).await?;
        gone.push(owner);
        for owner in &owners {
            let is_gone = gone.contains(&owner);
            let promised = (!is_gone).then(|| owner.key().to_owned());
            let epoch = if is_gone { Epoch(1) } else { EPOCH };
            equal(bed.store.get(owner, epoch, "plan").await?.map(|found| found.value), promised)?;
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
                    give_up(&mut random, store.put(&owner, EPOCH, &BlackboardEntry::new(&key, value)))
                        .await
                        .transpose()?;
                } else if let Some(answer) = give_up(&mut random, store.get(&owner, EPOCH, &key)).await {
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
