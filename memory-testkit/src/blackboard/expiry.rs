//! Expiry: to the moment, by the clock of the board.

use std::time::Duration;

use memory_core::store::blackboard::BlackboardEntry;

use super::EPOCH;
use crate::bad_input::refusal;
use crate::{Bed, Boards, Scene, equal};

scenarios!(TABLE: Boards = [
    s4_7_an_entry_expires_at_the_exact_moment,
    an_entry_without_a_life_span_stays,
    a_put_begins_a_new_life,
    a_sweep_deletes_what_has_expired_and_counts_it,
    an_unlimited_life_is_refused_or_kept,
]);

const TEN: Duration = Duration::from_secs(10);
const INSTANT: Duration = Duration::from_millis(1);

async fn s4_7_an_entry_expires_at_the_exact_moment(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(TEN)).await?;
    bed.clock.advance(TEN - INSTANT);
    equal(bed.store.get(&team, EPOCH, "plan").await?.is_some(), true)?;
    bed.clock.advance(INSTANT);
    equal(bed.store.get(&team, EPOCH, "plan").await?, None)
}

async fn an_entry_without_a_life_span_stays(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v")).await?;
    bed.clock.advance(Duration::from_secs(100 * 365 * 86_400));
    equal(bed.store.get(&team, EPOCH, "plan").await?.is_some(), true)?;
    equal(bed.store.sweep(&team, EPOCH).await?, 0)
}

async fn a_put_begins_a_new_life(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for _ in 0..3 {
        bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(TEN)).await?;
        bed.clock.advance(TEN - INSTANT);
        equal(bed.store.get(&team, EPOCH, "plan").await?.is_some(), true)?;
    }
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(INSTANT)).await?;
    bed.clock.advance(INSTANT);
    equal(bed.store.get(&team, EPOCH, "plan").await?, None)
}

async fn a_sweep_deletes_what_has_expired_and_counts_it(bed: Bed<Boards>) -> Scene {
    let (team, other) = (bed.scope("team")?, bed.scope("other")?);
    for key in ["a", "b", "c"] {
        bed.store.put(&team, EPOCH, &BlackboardEntry::new(key, "v").with_ttl(TEN)).await?;
        bed.store.put(&other, EPOCH, &BlackboardEntry::new(key, "v").with_ttl(TEN)).await?;
    }
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("d", "v").with_ttl(TEN + INSTANT)).await?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("e", "v")).await?;
    equal(bed.store.sweep(&team, EPOCH).await?, 0)?;
    bed.clock.advance(TEN);
    equal(bed.store.stats(&team, EPOCH).await?.expired, 3)?;
    equal(bed.store.sweep(&team, EPOCH).await?, 3)?;
    equal(bed.store.sweep(&team, EPOCH).await?, 0)?;
    let stats = bed.store.stats(&team, EPOCH).await?;
    equal((stats.live, stats.expired), (2, 0))?;
    equal(bed.store.stats(&other, EPOCH).await?.expired, 3)?;
    equal(bed.store.get(&team, EPOCH, "d").await?.is_some(), true)
}

async fn an_unlimited_life_is_refused_or_kept(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for life in
        [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_micros(u64::MAX), Duration::from_secs(1 << 40)]
    {
        let answer = bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(life)).await;
        if refusal("the life", answer)?.is_some() {
            bed.clock.advance(TEN);
            equal(bed.store.get(&team, EPOCH, "plan").await?.is_some(), true)?;
        }
    }
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(TEN)).await?;
    bed.clock.advance(TEN);
    equal(bed.store.get(&team, EPOCH, "plan").await?, None)
}
