//! Settings that decide what survives, and servers that are full.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use memory_core::recent::RECENT;
use memory_core::store::cache::Cache as _;
use memory_core::store::chat::{Append, ChatStore};
use memory_core::store::upkeep::{Outcome, Upkeep as _};
use memory_core::store::{Durability, Store};
use memory_core::{Epoch, Error, SessionId, Timestamp};
use memory_redis::redis::Value;
use memory_redis::{Redis, RedisCache, RedisChat};
use memory_testkit::doubles::ManualClock;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};

use super::pair::{Pair, said};
use super::support::{chat, hasty_chat, holds, message, patient, persist, reached, scope, tell};

pub(crate) async fn evicting(servers: Servers) -> Scene {
    for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random"] {
        let server = servers.own("redis")?.with_setting("maxmemory-policy", policy).start().await?;
        let redis = Redis::connect(patient(server.url())).await?;
        let refused = RedisChat::new(&redis).map(drop);
        check!(matches!(refused, Err(Error::Unsupported { .. })), "{policy}: {refused:?}");
        equal(RedisCache::new(&redis).ping().await?.durability, Durability::Volatile)?;
        let allowed = Redis::connect(patient(server.url()).with_allow_lossy(true)).await?;
        equal(RedisChat::new(&allowed)?.ping().await?.durability, Durability::Volatile)?;
        server.remove().await?;
    }
    Ok(())
}

pub(crate) async fn durability(servers: Servers) -> Scene {
    let table = [
        ("appendfsync", "always", Durability::Committed),
        ("appendfsync", "everysec", Durability::Volatile),
        ("appendonly", "no", Durability::Volatile),
        ("no-appendfsync-on-rewrite", "yes", Durability::Volatile),
        ("maxmemory-policy", "volatile-lru", Durability::Committed),
    ];
    for (key, value, promised) in table {
        let server = servers.own("redis")?.with_setting(key, value).start().await?;
        let chat = chat(server.url()).await?;
        equal((key, chat.ping().await?.durability), (key, promised))?;
        let batch = Append::new(vec![message("one".to_owned())]);
        let (scope, session) = (scope("settings")?, SessionId::new("s")?);
        let appended = reached(|| chat.append(&scope, &session, &batch)).await?;
        equal(appended.durability, promised)?;
        server.remove().await?;
    }
    // Services that rent servers out forbid the command.
    let server = servers.own("redis")?.start().await?;
    tell(server.url(), "ACL SETUSER default -config").await?;
    equal(chat(server.url()).await?.ping().await?.durability, Durability::Volatile)?;
    server.remove().await?;
    // What an operator changes later is seen with the next ping, and by appends within a minute.
    let server = servers.own("redis")?.start().await?;
    let clock = Arc::new(ManualClock::default());
    let config = patient(server.url()).with_clock(clock.clone());
    let chat = RedisChat::new(&Redis::connect(config).await?)?;
    tell(server.url(), "CONFIG SET appendfsync no").await?;
    equal(chat.ping().await?.durability, Durability::Volatile)?;
    let (scope, session) = (scope("settings")?, SessionId::new("s")?);
    let append = || async {
        let batch = Append::new(vec![message("one".to_owned())]);
        chat.append(&scope, &session, &batch).await.map(|appended| appended.durability)
    };
    tell(server.url(), "CONFIG SET appendfsync always").await?;
    clock.advance(RECENT);
    equal(append().await?, Durability::Committed)?;
    tell(server.url(), "CONFIG SET maxmemory-policy allkeys-lru").await?;
    clock.advance(RECENT);
    let refused = append().await;
    check!(matches!(refused, Err(Error::Unsupported { .. })), "it evicts what it takes: {refused:?}");
    equal(chat.ping().await?.durability, Durability::Volatile)?;
    server.remove().await?;
    Ok(())
}

/// Appends long messages until the server refuses one; then lets `mend` make room, and goes on.
async fn fill(server: &Server, chat: &RedisChat, words: usize, mend: &str) -> Scene {
    let (scope, session) = (scope("full")?, SessionId::new("s")?);
    let mut promised = Vec::new();
    let refused = loop {
        let new = message(format!("{} {}", promised.len(), "words ".repeat(words)));
        let batch = Append::new(vec![new.clone()]);
        match chat.append(&scope, &session, &batch).await {
            Ok(_) => promised.push(new),
            Err(error) => break (new, error),
        }
        check!(promised.len() < 100_000, "the server is never full");
    };
    let (last, error) = refused;
    check!(error.is_retryable(), "a full server is final: {error}");
    check!(!promised.is_empty(), "nothing was stored");
    holds(chat, &scope, &session, &promised).await?;
    tell(server.url(), mend).await?;
    persist(chat, &scope, &session, std::slice::from_ref(&last)).await?;
    promised.push(last);
    holds(chat, &scope, &session, &promised).await
}

pub(crate) async fn full(servers: Servers) -> Scene {
    let server = servers.own("redis")?.with_setting("maxmemory", "8mb").start().await?;
    let chat = chat(server.url()).await?;
    fill(&server, &chat, 500, "CONFIG SET maxmemory 0").await?;
    server.remove().await?;
    Ok(())
}

/// Settles all notes that are due.
async fn settled(pair: &Pair) -> Scene {
    let notes = pair.chat.pending(&pair.index, Timestamp(0), 10).await?;
    let done: Vec<_> = notes.into_iter().map(|note| (note.clone(), Outcome::Done { through: note.upto })).collect();
    pair.chat.settle(&pair.index, &done).await?;
    // Whoever has no notes leaves the list, so that the next change has to put him on it again.
    equal(pair.notes().await?, [])?;
    equal(tell(pair.server.url(), "ZCARD mem:noted").await?, Value::Int(0))
}

/// What makes room is never refused for want of it.
pub(crate) async fn full_and_forgetting(servers: Servers) -> Scene {
    let pair = Pair::open(&servers).await?;
    let [first, second] = ["first", "second"].map(said);
    pair.begin(&[first.clone(), second.clone()]).await?;
    let cache = RedisCache::new(&Redis::connect(patient(pair.server.url())).await?);
    cache.put(&pair.ada, Epoch(0), "key", b"value", Duration::from_secs(600)).await?;
    settled(&pair).await?;
    // Less than an empty server takes.
    tell(pair.server.url(), "CONFIG SET maxmemory 1").await?;
    let late = said("late");
    let refused = pair.chat.append(&pair.ada, &pair.session, &Append::new(vec![late.clone()])).await;
    check!(refused.is_err_and(|error| error.is_retryable()), "the memory is not full");

    pair.forget(&[first.message.id]).await?;
    equal(pair.found(&[first.message.id, second.message.id]).await?, 1)?;
    equal(pair.notes().await?.len(), 1)?;
    settled(&pair).await?;
    pair.delete(&pair.session).await?;
    equal(pair.listed(10).await?, ["keep"])?;
    equal(pair.notes().await?.len(), 1)?;
    settled(&pair).await?;
    equal(cache.erase(&pair.ada, Epoch(1)).await?.removed, 1)?;
    pair.erase().await?;
    tell(pair.server.url(), "CONFIG SET maxmemory 0").await?;
    pair.say(&pair.session, from_ref(&late)).await?;
    holds(&pair.chat, &pair.ada, &pair.session, from_ref(&late)).await?;
    pair.server.remove().await?;
    Ok(())
}

pub(crate) async fn full_disk(servers: Servers) -> Scene {
    // With each write synced, a server that cannot write ends: what it acknowledged is on the disk.
    let server = servers.own("redis")?.with_tmpfs("/data", "size=4m").start().await?;
    // It ends, so that a later call may have nobody to wait for.
    let chat = hasty_chat(server.url()).await?;
    let (scope, session) = (scope("disk")?, SessionId::new("s")?);
    let mut acknowledged = 0;
    let error = loop {
        let new = message(format!("{acknowledged} {}", "words ".repeat(2_000)));
        match chat.append(&scope, &session, &Append::new(vec![new])).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        check!(acknowledged < 10_000, "the disk is never full");
    };
    check!(acknowledged > 0, "nothing was stored");
    check!(error.is_retryable(), "a full disk is final: {error}");
    server.remove().await.map_err(Failure::from)
}
