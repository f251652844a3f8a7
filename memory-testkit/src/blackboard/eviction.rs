//! Making room: expired entries first, then the least recently used, and never more than needed.

use std::time::Duration;

use memory_core::store::blackboard::{BlackboardEntry, BoardQuery, Keep};
use memory_core::{Clock as _, Scope};

use super::EPOCH;
use crate::crowd::together;
use crate::text::build::terms;
use crate::{Bed, Boards, Failure, Scene, equal};

scenarios!(TABLE: Boards = [
    s4_16_the_least_recently_used_entry_makes_room,
    a_get_counts_as_use,
    a_search_counts_as_use_of_what_it_returns,
    a_put_counts_as_use,
    looking_at_the_figures_is_no_use,
    s4_8_where_only_a_put_keeps_an_entry_gets_and_searches_do_not,
    expired_entries_make_room_before_any_live_one,
    replacing_an_entry_of_a_full_board_evicts_nothing,
    the_capacity_holds_among_tasks_at_once,
    one_full_board_evicts_nothing_from_another,
]);

/// Fills the board with `k00`, `k01` and so on, and returns the keys.
async fn fill(bed: &Bed<Boards>, team: &Scope) -> Result<Vec<String>, Failure> {
    let keys: Vec<String> = (0..bed.setting.capacity).map(|number| format!("k{number:02}")).collect();
    for key in &keys {
        let entry = BlackboardEntry { terms: terms(&["every", key])?, ..BlackboardEntry::new(key, "v") };
        equal(bed.store.put(team, EPOCH, &entry).await?, Vec::<String>::new())?;
    }
    Ok(keys)
}

/// Puts fresh entries until the board has evicted `count`, and passes if they are `promised`, in this order.
async fn evicts(bed: &Bed<Boards>, team: &Scope, promised: &[&str]) -> Scene {
    for (number, key) in promised.iter().enumerate() {
        let evicted = bed.store.put(team, EPOCH, &BlackboardEntry::new(format!("fresh{number}"), "v")).await?;
        equal(evicted, [*key])?;
        equal(bed.store.get(team, EPOCH, key).await?, None)?;
    }
    equal(bed.store.stats(team, EPOCH).await?.live, bed.setting.capacity as u64)
}

async fn s4_16_the_least_recently_used_entry_makes_room(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    evicts(&bed, &team, &["k00", "k01", "k02", "k03"]).await
}

async fn a_get_counts_as_use(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    for key in ["k02", "k00"] {
        bed.clock.advance(Duration::from_secs(1));
        bed.store.get(&team, EPOCH, key).await?;
    }
    evicts(&bed, &team, &["k01", "k03", "k04"]).await
}

async fn a_search_counts_as_use_of_what_it_returns(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    bed.clock.advance(Duration::from_secs(1));
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["k01", "every"])?), 2).await?;
    equal(found.into_iter().map(|hit| hit.entry.key).collect::<Vec<_>>(), ["k01", "k00"])?;
    evicts(&bed, &team, &["k02", "k03", "k04"]).await
}

async fn a_put_counts_as_use(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    bed.clock.advance(Duration::from_secs(1));
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("k00", "again")).await?;
    evicts(&bed, &team, &["k01", "k02"]).await
}

async fn s4_8_where_only_a_put_keeps_an_entry_gets_and_searches_do_not(bed: Bed<Boards>) -> Scene {
    let bed = bed.another(|setting| setting.keep = Keep::Put).await?;
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    bed.clock.advance(Duration::from_secs(1));
    let got = bed.store.get(&team, EPOCH, "k00").await?.ok_or("nothing is under the key")?;
    equal((got.access_count, got.last_accessed), (1, Some(bed.clock.now())))?;
    let found = bed.store.search(&team, EPOCH, &BoardQuery::Terms(terms(&["k01", "every"])?), 2).await?;
    equal(found.into_iter().map(|hit| hit.entry.key).collect::<Vec<_>>(), ["k01", "k00"])?;
    bed.store.put(&team, EPOCH, &BlackboardEntry::new("k02", "again")).await?;
    let stats = bed.store.stats(&team, EPOCH).await?;
    equal((stats.accesses, stats.hits), (3, 1))?;
    evicts(&bed, &team, &["k00", "k01", "k03"]).await
}

async fn looking_at_the_figures_is_no_use(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    fill(&bed, &team).await?;
    bed.clock.advance(Duration::from_secs(1));
    let before = bed.store.stats(&team, EPOCH).await?;
    bed.store.sweep(&team, EPOCH).await?;
    equal(bed.store.stats(&team, EPOCH).await?, before)?;
    bed.store.get(&team, EPOCH, "absent").await?;
    evicts(&bed, &team, &["k00", "k01"]).await
}

async fn expired_entries_make_room_before_any_live_one(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let keys = fill(&bed, &team).await?;
    let ten = Duration::from_secs(10);
    for key in keys.iter().rev().take(2) {
        bed.store.put(&team, EPOCH, &BlackboardEntry::new(key, "v").with_ttl(ten)).await?;
    }
    bed.clock.advance(ten);
    for number in 0..2 {
        let evicted = bed.store.put(&team, EPOCH, &BlackboardEntry::new(format!("new{number}"), "v")).await?;
        let live = evicted.iter().find(|key| !keys.iter().rev().take(2).any(|expired| expired == *key));
        equal(live, None)?;
    }
    equal(bed.store.stats(&team, EPOCH).await?.live, bed.setting.capacity as u64)?;
    evicts(&bed, &team, &["k00", "k01"]).await
}

async fn replacing_an_entry_of_a_full_board_evicts_nothing(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    let keys = fill(&bed, &team).await?;
    for key in &keys {
        equal(bed.store.put(&team, EPOCH, &BlackboardEntry::new(key, "again")).await?, Vec::<String>::new())?;
    }
    let stats = bed.store.stats(&team, EPOCH).await?;
    equal((stats.live, stats.evictions), (keys.len() as u64, 0))
}

async fn the_capacity_holds_among_tasks_at_once(bed: Bed<Boards>) -> Scene {
    let team = bed.scope("team")?;
    together((0..8).map(|task| {
        let (store, team, capacity) = (bed.store.clone(), team.clone(), bed.setting.capacity as u64);
        async move {
            for step in 0..20 {
                store.put(&team, EPOCH, &BlackboardEntry::new(format!("{task}-{step}"), "v")).await?;
                let live = store.stats(&team, EPOCH).await?.live;
                check!(live <= capacity, "{live} live entries of {capacity}");
            }
            Ok(())
        }
    }))
    .await?;
    let (stats, capacity) = (bed.store.stats(&team, EPOCH).await?, bed.setting.capacity as u64);
    equal((stats.live, stats.evictions), (capacity, 160 - capacity))
}

async fn one_full_board_evicts_nothing_from_another(bed: Bed<Boards>) -> Scene {
    let (team, other) = (bed.scope("team")?, bed.scope("team2")?);
    let keys = fill(&bed, &team).await?;
    fill(&bed, &other).await?;
    evicts(&bed, &other, &["k00", "k01"]).await?;
    for key in keys {
        equal(bed.store.get(&team, EPOCH, &key).await?.is_some(), true)?;
    }
    equal(bed.store.stats(&team, EPOCH).await?.evictions, 0)
}
