//! Boards of which the server evicts a part, as one under `allkeys-lru` may, and boards of a server that takes no writes.

use std::sync::Arc;
use std::time::Duration;

use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry, BoardQuery};
use memory_core::store::text::Term;
use memory_core::{Epoch, Scope};
use memory_redis::{Redis, RedisBlackboard};
use memory_testkit::doubles::ManualClock;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal, fails};

use super::support::{patient, tell};

const EPOCH: Epoch = Epoch(0);
const CAPACITY: usize = 3;

pub(crate) async fn evicted(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (url, clock) = (server.url(), Arc::new(ManualClock::default()));
    let ten = Duration::from_secs(10);
    for part in ["", ":e", ":n", ":u", ":x"] {
        let config = patient(url).with_prefix("evicted").with_clock(clock.clone());
        let board = RedisBlackboard::new(&Redis::connect(config).await?, CAPACITY)?;
        let team = Scope::new("acme", &format!("team{part}"))?;
        for key in ["a", "b", "c"] {
            board.put(&team, EPOCH, &BlackboardEntry::new(key, "old").with_ttl(ten)).await?;
        }
        tell(url, &format!("DEL evicted:{{{}}}:b{part}", team.key())).await?;
        for number in 0..2 * CAPACITY {
            let key = format!("{number}");
            board.put(&team, EPOCH, &BlackboardEntry::new(&key, "new").with_ttl(2 * ten)).await?;
            equal(board.get(&team, EPOCH, &key).await?.map(|found| found.value), Some("new".to_owned()))?;
            let live = board.stats(&team, EPOCH).await?.live;
            check!(live <= CAPACITY as u64, "{live} entries live without {part:?}");
        }
        board.put(&team, EPOCH, &BlackboardEntry::new("last", "v").with_ttl(ten)).await?;
        tell(url, &format!("DEL evicted:{{{}}}:b{part}", team.key())).await?;
        clock.advance(ten);
        equal(board.get(&team, EPOCH, "last").await?, None)?;
        board.stats(&team, EPOCH).await?;
    }
    server.remove().await?;
    Ok(())
}

/// A board is read and counted while memory is full. Where nothing at all can be written, a search finds what is there.
pub(crate) async fn full(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (url, team) = (server.url(), Scope::new("acme", "team")?);
    let board = RedisBlackboard::new(&Redis::connect(patient(url)).await?, CAPACITY)?;
    let tea = BlackboardEntry { terms: vec![Term::new("tea")?], ..BlackboardEntry::new("a", "tea") };
    board.put(&team, EPOCH, &tea).await?;
    let query = BoardQuery::Terms(tea.terms.clone());
    let search = || async {
        let hits = board.search(&team, EPOCH, &query, 9).await?;
        Ok::<_, Failure>(hits.into_iter().map(|hit| (hit.entry.key, hit.entry.access_count)).collect::<Vec<_>>())
    };
    // Less than an empty server takes.
    tell(url, "CONFIG SET maxmemory 1").await?;
    fails!(tell(url, "SET key value").await, _);
    equal(
        board.get(&team, EPOCH, "a").await?.map(|found| (found.value, found.access_count)),
        Some(("tea".to_owned(), 1)),
    )?;
    equal(board.get(&team, EPOCH, "b").await?, None)?;
    equal(search().await?, [("a".to_owned(), 2)])?;
    let stats = board.stats(&team, EPOCH).await?;
    equal((stats.hits, stats.misses, stats.accesses), (1, 1, 2))?;

    tell(url, "CONFIG SET min-replicas-to-write 1").await?;
    fails!(board.put(&team, EPOCH, &tea).await, error if error.is_retryable());
    equal(search().await?, [("a".to_owned(), 2)])?;
    equal(board.stats(&team, EPOCH).await?.accesses, 2)?;
    tell(url, "CONFIG SET min-replicas-to-write 0").await?;
    equal(search().await?, [("a".to_owned(), 3)])?;
    server.remove().await.map_err(Failure::from)
}
