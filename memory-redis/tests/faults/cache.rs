//! Caches that forget: a miss or an error, never a wrong value.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::cache::Cache;
use memory_core::{Epoch, Scope};
use memory_redis::{Redis, RedisCache, RedisConfig};
use memory_testkit::generate::Random;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::support::{patient, scope, tell};

const HOUR: Duration = Duration::from_secs(3_600);
const NOW: Epoch = Epoch(0);

async fn cache(url: &str) -> memory_core::Result<RedisCache> {
    Ok(RedisCache::new(&Redis::connect(patient(url)).await?))
}

/// The value that belongs to a key of an owner.
fn value(scope: &Scope, key: u64) -> Vec<u8> {
    format!("{} {key} {}", scope.key(), "x".repeat(1_000)).into_bytes()
}

pub(crate) async fn evicting(servers: Servers) -> Scene {
    let own = servers.own("redis")?.with_setting("maxmemory", "8mb").with_setting("maxmemory-policy", "allkeys-lru");
    let server = own.with_setting("appendonly", "no").start().await?;
    let cache = cache(server.url()).await?;
    let (even, odd) = (scope("a")?, scope("b")?);
    let mut hits = 0;
    for number in 0..20_000_u64 {
        let owner = if number % 2 == 0 { &even } else { &odd };
        cache.put(owner, NOW, &number.to_string(), &value(owner, number), HOUR).await?;
        let back = number.saturating_sub(number % 97 * 2);
        if let Some(found) = cache.get(owner, NOW, &back.to_string()).await? {
            equal(found, value(owner, back))?;
            hits += 1;
        }
    }
    check!(hits > 1_000, "only {hits} hits");
    check!(cache.get(&even, NOW, "0").await?.is_none(), "nothing was evicted");
    server.remove().await?;
    Ok(())
}

pub(crate) async fn flushed(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let cache = cache(server.url()).await?;
    let ada = scope("ada")?;
    for round in 0..5_u64 {
        cache.put(&ada, NOW, "key", &value(&ada, round), HOUR).await?;
        cache.push(&ada, NOW, "list", b"event", 9, HOUR).await?;
        equal(cache.get(&ada, NOW, "key").await?, Some(value(&ada, round)))?;
        tell(server.url(), "FLUSHALL").await?;
        // The scripts are gone as well after a restart or by hand.
        tell(server.url(), "SCRIPT FLUSH").await?;
        equal(cache.get(&ada, NOW, "key").await?, None)?;
        equal(cache.tail(&ada, NOW, "list", 9).await?.len(), 0)?;
    }
    server.remove().await?;
    Ok(())
}

/// Puts and reads the keys of one owner until it is over: what is found is right, and what fails may be tried again.
async fn ask(task: u64, cache: Arc<RedisCache>, hits: Arc<AtomicU64>, is_over: Arc<AtomicBool>) -> Scene {
    let owner = scope(&format!("task {task}"))?;
    let mut random = Random::new(task);
    while !is_over.load(Ordering::SeqCst) {
        let key = random.below(50) as u64;
        let answer = if random.chance(1, 2) {
            cache.put(&owner, NOW, &key.to_string(), &value(&owner, key), HOUR).await.map(|()| None)
        } else {
            cache.get(&owner, NOW, &key.to_string()).await
        };
        match answer {
            Ok(Some(found)) => {
                equal(found, value(&owner, key))?;
                hits.fetch_add(1, Ordering::SeqCst);
            }
            Ok(None) => {}
            Err(error) => check!(error.is_retryable(), "final: {error}"),
        }
    }
    Ok(())
}

pub(crate) async fn killed(servers: Servers) -> Scene {
    let mut server = servers.own("redis")?.with_setting("appendonly", "no").start().await?;
    // Calls that fail are made again: they wait for a server that is away no longer than a loaded machine needs.
    let config = RedisConfig::new(server.url()).with_timeout(Duration::from_secs(5));
    let cache = Arc::new(RedisCache::new(&Redis::connect(config).await?));
    let (hits, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let reader = |task| tokio::spawn(ask(task, Arc::clone(&cache), Arc::clone(&hits), Arc::clone(&is_over)));
    let readers: Vec<_> = (0..8).map(reader).collect();
    for _ in 0..10 {
        server.kill().await?;
        server.restart().await?;
        // A reader ends early only if it has seen what is wrong.
        let enough = hits.load(Ordering::SeqCst) + 50;
        while hits.load(Ordering::SeqCst) < enough && !readers.iter().any(JoinHandle::is_finished) {
            sleep(Duration::from_millis(10)).await;
        }
    }
    is_over.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    server.remove().await?;
    Ok(())
}

/// The order in which entries expire: some that are kept and deleted meanwhile, those to be erased, and more that are kept.
const ENTRIES: [(Epoch, std::ops::Range<u32>, u32); 3] =
    [(Epoch(1), 0..1_000, 1), (Epoch(0), 1_000..1_010, 2), (Epoch(1), 1_010..2_100, 3)];

pub(crate) async fn erased(servers: Servers) -> Scene {
    let server = servers.own("redis")?.with_setting("appendonly", "no").start().await?;
    let cache = cache(server.url()).await?;
    let keys: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    for round in 0..3 {
        let ada = scope(&format!("ada {round}"))?;
        for (epoch, numbers, hours) in ENTRIES {
            for number in numbers {
                cache.put(&ada, epoch, &number.to_string(), b"value", HOUR * hours).await?;
            }
        }
        let (erased, deleted) = tokio::join!(cache.erase(&ada, Epoch(1)), cache.delete(&ada, Epoch(1), &keys));
        deleted?;
        let erased = erased?;
        equal((erased.removed, erased.remaining), (10, 0))?;
        equal(cache.erase(&ada, Epoch(1)).await?.removed, 0)?;
    }
    server.remove().await?;
    Ok(())
}
