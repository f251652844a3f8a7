//! The figures of a board and the statistics of its entries.

use std::time::Duration;

use memory_core::Clock as _;
use memory_core::store::blackboard::{BlackboardEntry, BlackboardStats, BoardQuery};

use super::EPOCH;
use crate::text::build::terms;
use crate::{Bed, Boards, Scene, equal};

scenarios!(TABLE: Boards = [
    an_untouched_board_counts_nothing,
    figures_count_hits_misses_and_entries_returned,
    an_expired_entry_is_a_miss,
    each_return_of_an_entry_counts_once,
]);

async fn an_untouched_board_counts_nothing(bed: Bed<Boards>) -> Scene {
    let capacity = bed.setting.capacity as u64;
    let untouched = BlackboardStats { capacity, ..BlackboardStats::default() };
    equal(bed.store.stats(&bed.scope("team")?, EPOCH).await?, untouched)?;
    bed.store.put(&bed.scope("other")?, EPOCH, &BlackboardEntry::new("plan", "v")).await?;
    equal(bed.store.stats(&bed.scope("team")?, EPOCH).await?, untouched)
}

async fn figures_count_hits_misses_and_entries_returned(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    for key in ["a", "b", "c"] {
        let entry = BlackboardEntry { terms: terms(&["river"])?, ..BlackboardEntry::new(key, "v") };
        bed.store.put(&team, EPOCH, &entry).await?;
    }
    for key in ["a", "a", "absent", "b", "absent"] {
        bed.store.get(&team, EPOCH, key).await?;
    }
    bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["river"])?), 2).await?;
    bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["absent"])?), 2).await?;
    let capacity = bed.setting.capacity as u64;
    let promised = BlackboardStats { live: 3, expired: 0, capacity, accesses: 5, evictions: 0, hits: 3, misses: 2 };
    equal(bed.store.stats(&team, EPOCH).await?, promised)
}

async fn an_expired_entry_is_a_miss(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let ten = Duration::from_secs(10);
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("plan", "v").with_ttl(ten)).await?;
    bed.clock.advance(ten);
    bed.store.get(&team, EPOCH, "plan").await?;
    let stats = bed.store.stats(&team, EPOCH).await?;
    equal((stats.live, stats.hits, stats.misses, stats.accesses), (0, 0, 1, 0))
}

async fn each_return_of_an_entry_counts_once(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let entry = BlackboardEntry { terms: terms(&["river"])?, ..BlackboardEntry::new("plan", "v") };
    bed.store.put(&team, EPOCH, &entry).await?;
    let mut counts = Vec::new();
    for _ in 0..2 {
        bed.clock.advance(Duration::from_secs(1));
        counts.extend(bed.store.get(&team, EPOCH, "plan").await?.map(|found| found.access_count));
        bed.clock.advance(Duration::from_secs(1));
        let found = bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["river"])?), 9).await?;
        counts.extend(found.into_iter().map(|hit| hit.entry.access_count));
    }
    let first = counts.first().copied().unwrap_or(9);
    check!(first <= 1, "the first return counts {first}");
    equal(counts, (first..first + 4).collect::<Vec<_>>())?;
    let last = bed.store.get(&team, EPOCH, "plan").await?.and_then(|found| found.last_accessed);
    equal(last, Some(bed.clock.now()))
}
