//! Bad input: a typed error or an exact round trip, and a board that works afterwards.

use memory_core::store::blackboard::{BlackboardEntry, BoardQuery};

use super::EPOCH;
use crate::bad_input::{self, PROBES, refusal};
use crate::generate::HOSTILE_NAMES;
use crate::text::build::terms;
use crate::{Bed, Boards, Scene, equal};

scenarios!(TABLE: Boards = [
    bad_keys_are_refused_or_kept_apart,
    bad_values_are_refused_or_come_back_as_they_were,
    bad_queries_are_refused_or_answered,
]);

async fn bad_keys_are_refused_or_kept_apart(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let mut keys: Vec<&str> = HOSTILE_NAMES.iter().chain(PROBES).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    for part in keys.chunks(bed.setting.capacity) {
        let mut kept = Vec::new();
        for key in part {
            let answer = bed.store.put(&team, EPOCH, &BlackboardEntry::new(*key, format!("value of {key}"))).await;
            if refusal("the key", answer)?.is_some() {
                kept.push(*key);
            }
        }
        for key in &kept {
            let found = bed.store.get(&team, EPOCH, key).await?.map(|found| (found.key, found.value));
            equal(found, Some(((*key).to_owned(), format!("value of {key}"))))?;
        }
        for key in kept {
            equal(bed.store.delete(&team, EPOCH, key).await?, true)?;
        }
        equal(bed.store.stats(&team, EPOCH).await?.live, 0)?;
    }
    Ok(())
}

async fn bad_values_are_refused_or_come_back_as_they_were(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for (what, value) in bad_input::contents() {
        let answer = bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", &value)).await;
        if refusal(&what, answer)?.is_some() {
            let found = bed.store.get(&team, EPOCH, "plan").await?;
            check!(found.is_some_and(|found| found.value == value), "{what} comes back otherwise");
        }
    }
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v")).await?;
    equal(bed.store.get(&team, EPOCH, "plan").await?.map(|found| found.value), Some("v".to_owned()))
}

async fn bad_queries_are_refused_or_answered(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let entry =
        BlackboardEntry { terms: terms(&["river"])?, vector: Some(vec![1.0]), ..BlackboardEntry::new("plan", "v") };
    bed.store.put(&team, EPOCH, &entry).await?;
    let vectors = [
        vec![],
        vec![f32::NAN],
        vec![f32::INFINITY],
        vec![0.0],
        vec![f32::MAX],
        vec![f32::from_bits(1)],
        vec![1.0; 100_000],
    ];
    for vector in vectors {
        refusal("the vector", bed.store.search(&team, EPOCH, &BoardQuery::Vector(vector), 9).await)?;
    }
    for limit in [0, usize::MAX, 1 << 40] {
        let answer = bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["river"])?), limit).await;
        let found = refusal("the limit", answer)?;
        check!(found.is_none_or(|found| found.len() == limit.min(1)), "a limit of {limit} changes the answer");
    }
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Vector(vec![1.0]), 9).await?;
    equal(found.len(), 1)
}
