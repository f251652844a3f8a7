//! Epochs and erasure: nothing of an earlier epoch is ever returned.

use memory_core::Epoch;

use super::HOUR;
use crate::{Bed, Caches, Scene, equal};

scenarios!(TABLE: Caches = [
    a_later_epoch_hides_what_an_earlier_one_wrote,
    a_fill_that_lost_the_race_with_an_erasure_is_never_returned,
    a_list_begins_anew_in_a_later_epoch,
    erasing_removes_everything_and_counts_it,
    a_late_put_after_an_erasure_changes_nothing,
    erasing_keeps_what_is_not_older,
    a_lower_bound_never_replaces_a_higher_one,
]);

async fn a_later_epoch_hides_what_an_earlier_one_wrote(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, Epoch(3), "key", b"old", HOUR).await?;
    for later in [4, 5, 30, u64::MAX] {
        equal(bed.store.get(&ada, Epoch(later), "key").await?, None)?;
    }
    bed.store.put(&ada, Epoch(4), "key", b"new", HOUR).await?;
    equal(bed.store.get(&ada, Epoch(4), "key").await?.as_deref(), Some(&b"new"[..]))
}

async fn a_fill_that_lost_the_race_with_an_erasure_is_never_returned(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    equal(bed.store.get(&ada, Epoch(0), "key").await?, None)?;
    bed.store.erase(&ada, Epoch(1)).await?;
    bed.store.put(&ada, Epoch(0), "key", b"read before the erasure", HOUR).await?;
    for epoch in [0, 1, 2] {
        equal(bed.store.get(&ada, Epoch(epoch), "key").await?, None)?;
    }
    Ok(())
}

async fn a_list_begins_anew_in_a_later_epoch(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.push(&ada, Epoch(0), "list", b"old", 9, HOUR).await?;
    equal(bed.store.tail(&ada, Epoch(1), "list", 9).await?.len(), 0)?;
    bed.store.push(&ada, Epoch(1), "list", b"new", 9, HOUR).await?;
    equal(bed.store.tail(&ada, Epoch(1), "list", 9).await?, [b"new"])
}

async fn erasing_removes_everything_and_counts_it(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, Epoch(0), "a", b"v", HOUR).await?;
    bed.store.put(&ada, Epoch(0), "b", b"v", HOUR).await?;
    bed.store.push(&ada, Epoch(0), "list", b"v", 9, HOUR).await?;
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (3, 0))?;
    for epoch in [0, 1] {
        equal(bed.store.get(&ada, Epoch(epoch), "a").await?, None)?;
        equal(bed.store.tail(&ada, Epoch(epoch), "list", 9).await?.len(), 0)?;
    }
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (0, 0))
}

async fn a_late_put_after_an_erasure_changes_nothing(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.erase(&ada, Epoch(2)).await?;
    bed.store.put(&ada, Epoch(2), "key", b"new", HOUR).await?;
    bed.store.push(&ada, Epoch(2), "list", b"new", 9, HOUR).await?;
    bed.store.put(&ada, Epoch(1), "key", b"late", HOUR).await?;
    bed.store.push(&ada, Epoch(1), "list", b"late", 1, HOUR).await?;
    bed.store.put(&ada, Epoch(0), "other", b"late", HOUR).await?;
    equal(bed.store.get(&ada, Epoch(2), "key").await?.as_deref(), Some(&b"new"[..]))?;
    equal(bed.store.tail(&ada, Epoch(2), "list", 9).await?, [b"new"])?;
    for epoch in [0, 1, 2] {
        equal(bed.store.get(&ada, Epoch(epoch), "other").await?, None)?;
    }
    Ok(())
}

async fn erasing_keeps_what_is_not_older(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, Epoch(0), "old", b"v", HOUR).await?;
    bed.store.put(&ada, Epoch(1), "new", b"v", HOUR).await?;
    for removed in [1, 0] {
        let erased = bed.store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (removed, 0))?;
        equal(bed.store.get(&ada, Epoch(1), "new").await?.as_deref(), Some(&b"v"[..]))?;
    }
    Ok(())
}

async fn a_lower_bound_never_replaces_a_higher_one(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.erase(&ada, Epoch(5)).await?;
    bed.store.erase(&ada, Epoch(2)).await?;
    bed.store.put(&ada, Epoch(3), "key", b"late", HOUR).await?;
    for epoch in [3, 5] {
        equal(bed.store.get(&ada, Epoch(epoch), "key").await?, None)?;
    }
    Ok(())
}
