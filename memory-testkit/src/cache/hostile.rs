//! Bad input: a typed error or an exact round trip, and a store that works afterwards.

use memory_core::Epoch;

use super::HOUR;
use crate::bad_input::{PROBES, refusal};
use crate::generate::HOSTILE_NAMES;
use crate::{Bed, Caches, Scene, equal};

scenarios!(TABLE: Caches = [bad_keys_are_refused_or_kept_apart, counts_beyond_every_list_give_all_of_it]);

const NOW: Epoch = Epoch(0);

async fn bad_keys_are_refused_or_kept_apart(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    let long = ["k".repeat(1 << 20), "é".repeat(40_000)];
    let mut keys: Vec<&str> =
        HOSTILE_NAMES.iter().chain(PROBES).copied().chain(long.iter().map(String::as_str)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut kept = Vec::new();
    for (number, key) in keys.into_iter().enumerate() {
        let value = format!("value {number}");
        let answer = bed.store.put(&ada, NOW, key, value.as_bytes(), HOUR).await;
        if refusal("the key", answer)?.is_some() {
            kept.push((key, value));
        }
    }
    check!(kept.len() > HOSTILE_NAMES.len(), "only {} keys are kept", kept.len());
    for (key, value) in &kept {
        equal(bed.store.get(&ada, NOW, key).await?.as_deref(), Some(value.as_bytes()))?;
    }
    let first: Vec<&str> = kept.iter().map(|(key, _)| *key).take(10).collect();
    bed.store.delete(&ada, NOW, &first).await?;
    for (place, (key, _)) in kept.iter().enumerate() {
        equal(bed.store.get(&ada, NOW, key).await?.is_some(), place >= 10)?;
    }
    Ok(())
}

async fn counts_beyond_every_list_give_all_of_it(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for value in 0..3u8 {
        refusal("the cap", bed.store.push(&ada, NOW, "huge", &[value], usize::MAX, HOUR).await)?;
        bed.store.push(&ada, NOW, "list", &[value], 100, HOUR).await?;
    }
    for count in [usize::MAX, usize::MAX - 1, 1 << 40, 1 << 31] {
        if let Some(found) = refusal("the count", bed.store.tail(&ada, NOW, "list", count).await)? {
            equal(found, [[0], [1], [2]])?;
        }
    }
    equal(bed.store.tail(&ada, NOW, "list", 3).await?.len(), 3)
}
