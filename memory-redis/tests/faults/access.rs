//! A user with no more rights than the README names.

use std::collections::BTreeSet;
use std::path::Path;
use std::slice::from_ref;
use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry, BoardQuery};
use memory_core::store::cache::Cache as _;
use memory_core::store::chat::ChatStore as _;
use memory_core::store::text::Term;
use memory_core::store::upkeep::{IndexName, Outcome, Upkeep as _};
use memory_core::store::{Durability, ErasureLevel};
use memory_core::{Epoch, SessionId, Timestamp};
use memory_redis::{Redis, RedisBlackboard, RedisCache, RedisChat, redis};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};

use super::pair::said;
use super::support::{holds, patient, persist, scope, tell};

const EPOCH: Epoch = Epoch(0);

/// Returns the command of the README that makes the user.
fn order() -> Result<&'static str, Failure> {
    let mut lines = include_str!("../../README.md").lines();
    Ok(lines.find(|line| line.starts_with("ACL SETUSER")).ok_or("the README makes no user")?)
}

/// Returns the commands that an order allows: those named, and those of the kinds named.
async fn allowed(url: &str, order: &str) -> Result<BTreeSet<String>, Failure> {
    let mut allowed = BTreeSet::new();
    for right in order.split(' ').filter_map(|word| word.strip_prefix('+')) {
        let Some(kind) = right.strip_prefix('@') else {
            allowed.insert(right.to_owned());
            continue;
        };
        let commands = tell(url, &format!("ACL CAT {kind}")).await?;
        let commands: Vec<String> =
            redis::from_redis_value(commands).map_err(|error| Failure::new(error.to_string()))?;
        allowed.extend(commands);
    }
    Ok(allowed)
}

/// Returns the commands that stand in the scripts.
fn called() -> Result<BTreeSet<String>, Failure> {
    let failed = |error: std::io::Error| Failure::new(error.to_string());
    let mut called = BTreeSet::new();
    for file in Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scripts").read_dir().map_err(failed)? {
        let text = std::fs::read_to_string(file.map_err(failed)?.path()).map_err(failed)?;
        let calls = text.split("redis.call('").skip(1).filter_map(|rest| rest.split('\'').next());
        called.extend(calls.map(str::to_lowercase));
    }
    Ok(called)
}

pub(crate) async fn rights(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let order = order()?;
    let (allowed, called) = (allowed(server.url(), order).await?, called()?);
    let lacking: Vec<_> = called.difference(&allowed).collect();
    check!(called.len() > 20 && lacking.is_empty(), "scripts call {lacking:?} besides, of {called:?}");

    tell(server.url(), &order.replace("PASSWORD", "canary")).await?;
    let redis = Redis::connect(patient(server.url().replace("redis://", "redis://memory:canary@"))).await?;
    conversations(&redis).await?;
    shared(&redis).await?;
    equal(redis.purge().await?, ErasureLevel::Purged)?;
    server.remove().await.map_err(Failure::from)
}

/// An append, its note, a sweep, and all that takes messages away.
async fn conversations(redis: &Redis) -> Scene {
    let (chat, ada, session) = (RedisChat::new(redis)?, scope("ada")?, SessionId::new("s")?);
    equal(chat.ping().await?.durability, Durability::Committed)?;
    let (index, [first, second]) = (IndexName::new("text/test-1")?, ["first", "second"].map(said));
    chat.enlist(&index, None, usize::MAX).await?;
    persist(&chat, &ada, &session, &[first.clone(), second.clone()]).await?;
    holds(&chat, &ada, &session, &[first.clone(), second.clone()]).await?;
    let notes = chat.pending(&index, Timestamp(0), 10).await?;
    let done: Vec<_> = notes.iter().map(|note| (note.clone(), Outcome::Done { through: note.upto })).collect();
    equal(done.len(), 1)?;
    chat.settle(&index, &done).await?;
    chat.sweep(Timestamp(0), 10).await?;
    equal(chat.owners(None, 10).await?, from_ref(&ada))?;
    chat.redact(&ada, &[first.message.id]).await?;
    let seen = chat.sessions(&ada, None, 1).await?;
    chat.delete(&ada, seen.first().ok_or("no session")?).await?;
    chat.retire(&index).await?;
    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)
}

/// A board and a cache.
async fn shared(redis: &Redis) -> Scene {
    let (board, cache, ada) = (RedisBlackboard::new(redis, 3)?, RedisCache::new(redis), scope("ada")?);
    let tea = BlackboardEntry { terms: vec![Term::new("tea")?], ..BlackboardEntry::new("a", "tea") };
    board.put(&ada, EPOCH, &tea).await?;
    equal(board.get(&ada, EPOCH, "a").await?.is_some(), true)?;
    equal(board.search(&ada, EPOCH, &BoardQuery::Terms(tea.terms), 1).await?.len(), 1)?;
    equal(board.sweep(&ada, EPOCH).await?, 0)?;
    equal(board.stats(&ada, EPOCH).await?.live, 1)?;
    equal(board.delete(&ada, EPOCH, "a").await?, true)?;
    board.erase(&ada, Epoch(1)).await?;
    cache.put(&ada, EPOCH, "key", b"value", Duration::from_secs(600)).await?;
    equal(cache.get(&ada, EPOCH, "key").await?, Some(b"value".to_vec()))?;
    equal(cache.erase(&ada, Epoch(1)).await?.removed, 1)
}
