//! Entries: put, got, replaced, deleted.

use std::time::Duration;

use memory_core::store::blackboard::BlackboardEntry;
use memory_core::{Clock as _, Error};

use super::EPOCH;
use crate::{Bed, Boards, Scene, equal};

scenarios!(TABLE: Boards = [
    an_entry_put_is_got_back,
    a_key_never_put_gives_none,
    a_put_replaces_what_was_under_its_key,
    a_deletion_tells_whether_there_was_an_entry,
    entries_that_cannot_be_kept_are_invalid,
    an_invalid_put_leaves_the_old_entry,
]);

async fn an_entry_put_is_got_back(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let put_at = bed.clock.now();
    equal(bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "a\0b")).await?, Vec::<String>::new())?;
    let hour = Duration::from_secs(3_600);
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("goal", "").with_ttl(hour)).await?;
    bed.clock.advance(Duration::from_secs(60));
    for (key, value, expires_at) in [("plan", "a\0b", None), ("goal", "", Some(put_at.checked_add(hour)?))] {
        let found = bed.store.get(&team, EPOCH, key).await?.ok_or("nothing is under the key")?;
        equal((found.key.as_str(), found.value.as_str()), (key, value))?;
        equal((found.at, found.expires_at), (put_at, expires_at))?;
    }
    Ok(())
}

async fn a_key_never_put_gives_none(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    equal(bed.store.get(&team, EPOCH, "plan").await?, None)?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v")).await?;
    for other in ["pla", "plans", "Plan", "plan ", "*", "p%"] {
        equal(bed.store.get(&team, EPOCH, other).await?, None)?;
    }
    Ok(())
}

async fn a_put_replaces_what_was_under_its_key(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "first").with_ttl(Duration::from_secs(10))).await?;
    bed.clock.advance(Duration::from_secs(5));
    for _ in 0..3 {
        equal(bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "second")).await?, Vec::<String>::new())?;
    }
    bed.clock.advance(Duration::from_secs(60));
    let found = bed.store.get(&team, EPOCH, "plan").await?.ok_or("the second entry has the life of the first")?;
    equal((found.value.as_str(), found.expires_at), ("second", None))?;
    equal(bed.store.stats(&team, EPOCH).await?.live, 1)
}

async fn a_deletion_tells_whether_there_was_an_entry(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v")).await?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan*", "v")).await?;
    equal(bed.store.delete(&team, EPOCH, "plan*").await?, true)?;
    equal(bed.store.delete(&team, EPOCH, "plan*").await?, false)?;
    equal(bed.store.delete(&team, EPOCH, "absent").await?, false)?;
    equal(bed.store.get(&team, EPOCH, "plan*").await?, None)?;
    equal(bed.store.get(&team, EPOCH, "plan").await?.is_some(), true)
}

fn bad_entries() -> Vec<BlackboardEntry> {
    let with_vector =
        |vector: Vec<f32>| BlackboardEntry { vector: Some(vector), ..BlackboardEntry::new("plan", "new") };
    vec![
        BlackboardEntry::new("", "new"),
        BlackboardEntry::new("k".repeat(256), "new"),
        BlackboardEntry::new("é".repeat(128), "new"),
        BlackboardEntry::new("plan", "new").with_ttl(Duration::ZERO),
        with_vector(vec![0.0; 4]),
        with_vector(vec![-0.0; 4]),
        with_vector(vec![1.0, f32::NAN]),
        with_vector(vec![1.0, f32::INFINITY]),
        with_vector(vec![f32::NEG_INFINITY]),
        with_vector(Vec::new()),
    ]
}

async fn entries_that_cannot_be_kept_are_invalid(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for entry in bad_entries() {
        fails!(bed.store.put(&team, EPOCH, &entry).await, Error::Invalid { .. });
    }
    equal(bed.store.stats(&team, EPOCH).await?.live, 0)?;
    for key in ["k".repeat(255), "é".repeat(127)] {
        bed.store.put(&team, EPOCH, &BlackboardEntry::new(&key, "v")).await?;
        equal(bed.store.get(&team, EPOCH, &key).await?.map(|found| found.key), Some(key))?;
    }
    Ok(())
}

async fn an_invalid_put_leaves_the_old_entry(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "old")).await?;
    for entry in bad_entries() {
        fails!(bed.store.put(&team, EPOCH, &entry).await, Error::Invalid { .. });
        equal(bed.store.get(&team, EPOCH, "plan").await?.map(|found| found.value), Some("old".to_owned()))?;
    }
    Ok(())
}
