//! A board of which the server evicts a part, as one under `allkeys-lru` may.

use std::sync::Arc;
use std::time::Duration;

use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry};
use memory_core::{Epoch, Scope};
use memory_redis::{Redis, RedisBlackboard};
use memory_testkit::doubles::ManualClock;
use memory_testkit::services::Servers;
use memory_testkit::{Scene, check, equal};

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
