//! The lists of owners lie elsewhere than the owners: a failover may lose what was put on them, and a write may be under way
//! while an index is enlisted.

use std::time::Duration;

use futures_util::StreamExt as _;
use memory_core::store::chat::{Append, ChatStore as _};
use memory_core::store::upkeep::{Enlisted, IndexName, Outcome, Upkeep as _};
use memory_core::{Error, Scope, SessionId, Timestamp};
use memory_redis::redis::Value;
use memory_redis::{Redis, RedisChat, redis};
use memory_testkit::faults::Proxy;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal, fails};

use super::support::{chat, message, patient, scope, tell};

/// How long a piece is held back, so that what follows it can be stopped.
const DELAY: Duration = Duration::from_millis(50);

async fn write(chat: &RedisChat, scope: &Scope) -> memory_core::Result<()> {
    let batch = Append::new(vec![message("one".to_owned())]);
    chat.append(scope, &SessionId::new("s")?, &batch).await.map(drop)
}

/// Returns the owners of notes that are due.
async fn noted(chat: &RedisChat, index: &IndexName) -> memory_core::Result<Vec<Scope>> {
    let mut owners: Vec<Scope> =
        chat.pending(index, Timestamp(0), 100).await?.into_iter().map(|note| note.scope).collect();
    owners.sort();
    Ok(owners)
}

/// Upkeep as often as a walk needs.
async fn walk(chat: &RedisChat) -> memory_core::Result<()> {
    for second in 1..=3 {
        chat.sweep(Timestamp(second * 10_000_000), 100).await?;
    }
    Ok(())
}

pub(crate) async fn lost(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, index) = (chat(server.url()).await?, IndexName::new("text/test-1")?);
    chat.enlist(&index, None, usize::MAX).await?;
    let (ada, bob, eve) = (scope("ada")?, scope("bob")?, scope("eve")?);
    for owner in [&ada, &bob, &eve] {
        write(&chat, owner).await?;
    }
    // As a failover leaves it that lost what was put on the lists last.
    tell(server.url(), &format!("ZREM mem:owners {} {}", ada.key(), bob.key())).await?;
    tell(server.url(), &format!("ZREM mem:noted {}", ada.key())).await?;
    write(&chat, &ada).await?;
    equal(chat.owners(None, 10).await?, [eve.clone()])?;
    equal(noted(&chat, &index).await?, [bob.clone(), eve.clone()])?;
    walk(&chat).await?;
    equal(chat.owners(None, 10).await?, [ada.clone(), bob.clone(), eve.clone()])?;
    equal(noted(&chat, &index).await?, [ada, bob, eve])?;
    server.remove().await?;
    Ok(())
}

/// Keys that no owner has, a name that no index has, and an owner whose truth is something else hold up no others.
pub(crate) async fn strangers(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, index) = (chat(server.url()).await?, IndexName::new("text/test-1")?);
    let (ada, bob, eve) = (scope("ada")?, scope("bob")?, scope("eve")?);
    for owner in [&ada, &bob, &eve] {
        write(&chat, owner).await?;
    }
    tell(server.url(), "ZADD mem:owners 0 ! 0 a 0 zz").await?;
    tell(server.url(), "ZADD mem:noted 1 ! 2 zz").await?;
    tell(server.url(), "HSET mem:indexes \u{e9} x").await?;
    tell(server.url(), &format!("DEL mem:{{{}}}", bob.key())).await?;
    tell(server.url(), &format!("SET mem:{{{}}} x", bob.key())).await?;
    equal(chat.owners(None, 10).await?, [ada.clone(), bob.clone(), eve.clone()])?;
    equal(chat.enlist(&index, None, usize::MAX).await?, true)?;
    equal(chat.indexes().await?.len(), 1)?;
    equal(noted(&chat, &index).await?, [ada, eve])?;
    equal(chat.backlog(&index).await?.pending, 2)?;
    equal(chat.revive(&index).await?, 0)?;
    fails!(write(&chat, &bob).await, Error::Corrupt { .. });
    chat.retire(&index).await?;
    server.remove().await?;
    Ok(())
}

/// What was enlisted and retired while an owner was on no list is told him when he is found.
pub(crate) async fn missed(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let chat = chat(server.url()).await?;
    let [first, second] = ["text/first-1", "text/second-1"].map(IndexName::new);
    let (first, second) = (first?, second?);
    let ada = scope("ada")?;
    chat.enlist(&first, None, usize::MAX).await?;
    write(&chat, &ada).await?;
    tell(server.url(), &format!("ZREM mem:owners {}", ada.key())).await?;
    chat.retire(&first).await?;
    chat.enlist(&second, None, usize::MAX).await?;
    equal(noted(&chat, &second).await?, [])?;
    walk(&chat).await?;
    equal(noted(&chat, &second).await?, [ada.clone()])?;
    let notes = chat.pending(&second, Timestamp(0), 100).await?;
    let done: Vec<_> = notes.into_iter().map(|note| (note.clone(), Outcome::Done { through: note.upto })).collect();
    chat.settle(&second, &done).await?;
    equal(noted(&chat, &second).await?, [])?;
    // Nothing of the retired index keeps him on the list.
    let listed = tell(server.url(), "ZCARD mem:noted").await?;
    equal(listed, Value::Int(0))?;
    server.remove().await?;
    Ok(())
}

/// Lets an owner be written to for the first time. `meanwhile` comes after that write has asked which indexes there are, and
/// before it writes.
async fn first_write_beside(server: &Server, owner: &Scope, meanwhile: impl Future<Output = Scene>) -> Scene {
    let failed = |error: redis::RedisError| Failure::new(error.to_string());
    let address = server.url().trim_start_matches("redis://").to_owned();
    let proxy = Proxy::start(address).await.map_err(|error| Failure::new(error.to_string()))?;
    let writer = RedisChat::new(&Redis::connect(patient(proxy.in_place_of(server.url()))).await?)?;
    let mut monitor = redis::Client::open(server.url()).map_err(failed)?.get_async_monitor().await.map_err(failed)?;
    let mut sent = monitor.on_message::<String>();
    proxy.delay(DELAY);
    let writing = write(&writer, owner);
    let interrupting = async {
        loop {
            let Some(command) = sent.next().await else { return Err(Failure::new("the server said nothing")) };
            if command.contains("HGETALL") {
                break;
            }
        }
        // The answer is under way; what the writer does with it waits.
        proxy.stall();
        meanwhile.await?;
        proxy.heal();
        Ok(())
    };
    let (written, interrupted) = tokio::join!(writing, interrupting);
    written?;
    interrupted
}

/// An index is enlisted after a first write has asked which there are, and before it writes.
pub(crate) async fn first_write(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (keeper, index, ada) = (chat(server.url()).await?, IndexName::new("text/test-1")?, scope("ada")?);
    let enlisting = async {
        check!(keeper.enlist(&index, None, usize::MAX).await?, "not all is noted");
        Ok(())
    };
    first_write_beside(&server, &ada, enlisting).await?;
    equal(noted(&keeper, &index).await?, [ada])?;
    server.remove().await?;
    Ok(())
}

/// Returns which indexes follow an owner.
async fn followers(server: &Server, owner: &Scope) -> std::result::Result<Value, Failure> {
    tell(server.url(), &format!("HGET mem:{{{}}} indexes", owner.key())).await
}

/// An index is retired after a first write has asked which there are, and before it writes.
pub(crate) async fn first_write_beside_retirement(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (keeper, index, ada) = (chat(server.url()).await?, IndexName::new("text/test-1")?, scope("ada")?);
    check!(keeper.enlist(&index, None, usize::MAX).await?, "not all is noted");
    let retiring = async { keeper.retire(&index).await.map_err(Failure::from) };
    first_write_beside(&server, &ada, retiring).await?;
    equal(followers(&server, &ada).await?, Value::BulkString(Vec::new()))?;
    server.remove().await?;
    Ok(())
}

/// A retirement ended before it came to its owners.
pub(crate) async fn half_retired(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, index, ada) = (chat(server.url()).await?, IndexName::new("text/test-1")?, scope("ada")?);
    chat.enlist(&index, None, usize::MAX).await?;
    write(&chat, &ada).await?;
    tell(server.url(), "HDEL mem:indexes text/test-1").await?;
    check!(followers(&server, &ada).await? != Value::BulkString(Vec::new()), "it follows nobody");
    walk(&chat).await?;
    equal(followers(&server, &ada).await?, Value::BulkString(Vec::new()))?;
    equal(tell(server.url(), &format!("KEYS *{}*:n:*", ada.key())).await?, Value::Array(Vec::new()))?;
    server.remove().await?;
    Ok(())
}

/// An index whose state cannot be read holds up neither the list of all nor the walk, and can be retired.
pub(crate) async fn illegible(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let chat = chat(server.url()).await?;
    let (index, odd, ada) = (IndexName::new("text/test-1")?, IndexName::new("text/odd-1")?, scope("ada")?);
    chat.enlist(&index, None, usize::MAX).await?;
    chat.enlist(&odd, None, usize::MAX).await?;
    write(&chat, &ada).await?;
    tell(server.url(), "HSET mem:indexes text/odd-1 x").await?;
    tell(server.url(), &format!("ZREM mem:owners {}", ada.key())).await?;
    let shown = |enlisted: Vec<Enlisted>| enlisted.into_iter().map(|one| (one.name, one.is_noted)).collect::<Vec<_>>();
    equal(shown(chat.indexes().await?), [(odd.clone(), false), (index.clone(), true)])?;
    fails!(chat.enlist(&odd, None, usize::MAX).await, Error::Corrupt { .. });
    walk(&chat).await?;
    equal(chat.owners(None, 10).await?, [ada.clone()])?;
    equal(noted(&chat, &index).await?, [ada])?;
    chat.retire(&odd).await?;
    equal(shown(chat.indexes().await?), [(index, true)])?;
    server.remove().await?;
    Ok(())
}
