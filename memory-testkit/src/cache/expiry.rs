//! Expiry: to the moment, by the clock of the store.

use std::time::Duration;

use memory_core::{Epoch, Error};

use super::HOUR;
use crate::{Bed, Caches, Scene, equal};

scenarios!(TABLE: Caches = [
    a_value_expires_at_the_exact_moment,
    a_put_begins_a_new_life,
    a_put_can_shorten_a_life,
    a_push_lets_the_whole_list_live_on,
    a_list_that_expired_begins_empty,
    a_life_of_zero_is_invalid,
    an_unlimited_life_is_refused_or_kept,
]);

const NOW: Epoch = Epoch(0);
const TEN: Duration = Duration::from_secs(10);
const INSTANT: Duration = Duration::from_millis(1);

async fn a_value_expires_at_the_exact_moment(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"v", TEN).await?;
    bed.clock.advance(TEN - INSTANT);
    equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    bed.clock.advance(INSTANT);
    equal(bed.store.get(&ada, NOW, "key").await?, None)?;
    bed.clock.advance(HOUR);
    equal(bed.store.get(&ada, NOW, "key").await?, None)
}

async fn a_put_begins_a_new_life(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for _ in 0..3 {
        bed.store.put(&ada, NOW, "key", b"v", TEN).await?;
        bed.clock.advance(TEN - INSTANT);
        equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    }
    bed.clock.advance(INSTANT);
    equal(bed.store.get(&ada, NOW, "key").await?, None)
}

async fn a_put_can_shorten_a_life(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"long", HOUR).await?;
    bed.store.put(&ada, NOW, "key", b"short", TEN).await?;
    bed.clock.advance(TEN);
    equal(bed.store.get(&ada, NOW, "key").await?, None)
}

async fn a_push_lets_the_whole_list_live_on(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.push(&ada, NOW, "list", b"first", 9, TEN).await?;
    bed.clock.advance(TEN - INSTANT);
    bed.store.push(&ada, NOW, "list", b"second", 9, TEN).await?;
    bed.clock.advance(TEN - INSTANT);
    equal(bed.store.tail(&ada, NOW, "list", 9).await?, [&b"first"[..], b"second"])?;
    bed.clock.advance(INSTANT);
    equal(bed.store.tail(&ada, NOW, "list", 9).await?.len(), 0)
}

async fn a_list_that_expired_begins_empty(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.push(&ada, NOW, "list", b"old", 9, TEN).await?;
    bed.clock.advance(TEN);
    bed.store.push(&ada, NOW, "list", b"new", 9, TEN).await?;
    equal(bed.store.tail(&ada, NOW, "list", 9).await?, [b"new"])
}

async fn a_life_of_zero_is_invalid(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, NOW, "key", b"v", TEN).await?;
    fails!(bed.store.put(&ada, NOW, "key", b"w", Duration::ZERO).await, Error::Invalid { .. });
    fails!(bed.store.push(&ada, NOW, "list", b"w", 9, Duration::ZERO).await, Error::Invalid { .. });
    equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
    equal(bed.store.tail(&ada, NOW, "list", 9).await?.len(), 0)
}

async fn an_unlimited_life_is_refused_or_kept(bed: Bed<Caches>) -> Scene {
    let ada = bed.scope("ada")?;
    for life in
        [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_micros(u64::MAX), Duration::from_secs(1 << 40)]
    {
        for result in
            [bed.store.put(&ada, NOW, "key", b"v", life).await, bed.store.push(&ada, NOW, "list", b"v", 1, life).await]
        {
            check!(matches!(result, Ok(()) | Err(Error::Invalid { .. })), "a life of {life:?}: {result:?}");
        }
        if bed.store.put(&ada, NOW, "key", b"v", life).await.is_ok() {
            bed.clock.advance(HOUR);
            equal(bed.store.get(&ada, NOW, "key").await?.as_deref(), Some(&b"v"[..]))?;
        }
    }
    bed.store.put(&ada, NOW, "key", b"v", TEN).await?;
    bed.clock.advance(TEN);
    equal(bed.store.get(&ada, NOW, "key").await?, None)
}
