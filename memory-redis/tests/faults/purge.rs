//! A purge, seen from the files of the server.

use memory_core::SessionId;
use memory_core::store::chat::ChatStore;
use memory_core::store::upkeep::Upkeep;
use memory_core::store::{ErasureLevel, Store};
use memory_redis::redis::Value;
use memory_redis::{Redis, RedisChat};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};

use super::support::{holds, message, moment, patient, persist, scope, tell};

/// What is sought in the files: nothing else has these letters.
const MARK: &str = "f3a91c77b0e24d58";

/// A server that counts the mark in its own files, and tells the count under the key `found`. Nothing is compressed, or the
/// mark would hide.
const SHELL: &str = "redis-server --bind 0.0.0.0 --protected-mode no --save '' --appendonly yes --appendfsync always \
     --rdbcompression no --dir /data & \
     while sleep 0.1; do redis-cli set found $(cat /data/appendonlydir/* | grep -ao $MARK | wc -l) > /dev/null; done";

/// Waits until the server counts as many marks as `is_right` wants; returns the last count.
async fn count(server: &Server, is_right: impl Fn(u64) -> bool) -> Result<u64, Failure> {
    let mut last = 0;
    for _ in 0..500 {
        if let Value::BulkString(bytes) = tell(server.url(), "GET found").await? {
            last = String::from_utf8_lossy(&bytes).parse().unwrap_or(0);
            if is_right(last) {
                break;
            }
        }
        moment().await;
    }
    Ok(last)
}

pub(crate) async fn purge(servers: Servers) -> Scene {
    let own = servers.own("redis")?.with_env("MARK", MARK).with_tmpfs("/data", "");
    let server = own.with_command(["sh", "-c", SHELL]).start().await?;
    let redis = Redis::connect(patient(server.url())).await?;
    let chat = RedisChat::new(&redis)?;
    let (ada, bob, session) = (scope("ada")?, scope("bob")?, SessionId::new("s")?);
    let marked: Vec<_> = (0..200).map(|number| message(format!("{number} {MARK}"))).collect();
    let others: Vec<_> = (0..1_800).map(|number| message(format!("message {number}"))).collect();
    persist(&chat, &ada, &session, &marked).await?;
    persist(&chat, &bob, &session, &others).await?;
    // The control: what is there is found.
    equal(count(&server, |found| found >= 200).await?, 200)?;

    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    let erased = chat.erase(&ada, epoch).await?;
    equal((erased.removed, erased.remaining, erased.level), (200, 0, ErasureLevel::Logical))?;
    equal(count(&server, |_| true).await?, 200)?;
    equal(redis.purge().await?, ErasureLevel::Purged)?;
    let found = count(&server, |found| found == 0).await?;
    check!(found == 0, "{found} marks are left in the files");
    holds(&chat, &bob, &session, &others).await?;
    equal(chat.epoch(&ada).await?, epoch)?;

    // Without the file, a purge does not say that nothing is left elsewhere.
    tell(server.url(), "CONFIG SET appendonly no").await?;
    equal(redis.purge().await?, ErasureLevel::Logical)?;
    let ids: Vec<_> = marked.iter().map(|new| new.message.id).collect();
    equal(chat.get(&ada, &ids).await?.messages.len(), 0)?;
    server.remove().await?;
    Ok(())
}
