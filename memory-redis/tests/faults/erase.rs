//! An erasure, seen from the keys of the server.

use std::time::Duration;

use futures_util::StreamExt as _;
use memory_core::SessionId;
use memory_core::store::Store;
use memory_core::store::chat::{ChatStore, Page};
use memory_core::store::upkeep::{IndexName, Upkeep};
use memory_redis::{Redis, RedisChat, redis};
use memory_testkit::faults::Proxy;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};

use super::support::{chat, message, patient, persist, scope, tell};

/// More than one step of an erasure takes away.
const SESSIONS: usize = 300;
/// How long a piece is held back, so that what follows it can be stopped.
const DELAY: Duration = Duration::from_millis(50);

/// Returns the keys that hold what an owner stored; the hash that remembers his epoch is none of them.
async fn keys(server: &Server, owner: &str) -> Result<Vec<String>, Failure> {
    let found = tell(server.url(), &format!("KEYS *{{{owner}}}:*")).await?;
    redis::from_redis_value(found).map_err(|error| Failure::new(error.to_string()))
}

pub(crate) async fn begun_anew(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, ada) = (chat(server.url()).await?, scope("ada")?);
    for number in 0..SESSIONS {
        let session = SessionId::new(&format!("session-{number:03}"))?;
        persist(&chat, &ada, &session, &[message(format!("first {number}"))]).await?;
    }
    // The last ones in the order of an erasure: one is begun anew, one is not.
    for (number, again) in [(SESSIONS - 1, true), (SESSIONS - 2, false)] {
        let session = SessionId::new(&format!("session-{number:03}"))?;
        let seen = chat.read(&ada, &session, &Page::newest(0)).await?.state;
        equal(chat.delete(&ada, &seen).await?, 1)?;
        if again {
            persist(&chat, &ada, &session, &[message("second".to_owned())]).await?;
        }
    }
    // The control: what is there is found.
    check!(keys(&server, ada.key()).await?.len() >= SESSIONS, "the keys are not found");

    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)?;
    equal(keys(&server, ada.key()).await?, Vec::<String>::new())?;
    server.remove().await?;
    Ok(())
}

/// Returns how far the index has come.
async fn walk(server: &Server) -> Result<String, Failure> {
    let told = tell(server.url(), "HGET mem:indexes text/test-1").await?;
    redis::from_redis_value(told).map_err(|error| Failure::new(error.to_string()))
}

pub(crate) async fn half_enlisted(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, ada, index) = (chat(server.url()).await?, scope("ada")?, IndexName::new("text/test-1")?);
    for name in ["canary", "z"] {
        persist(&chat, &ada, &SessionId::new(name)?, &[message("one".to_owned())]).await?;
    }
    equal(chat.enlist(&index, None, 1).await?, false)?;
    // The control: what is there is found.
    check!(walk(&server).await?.contains("canary"), "the walk names no session");

    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)?;
    let left = walk(&server).await?;
    check!(!left.contains("canary"), "{left}");
    equal(chat.enlist(&index, None, usize::MAX).await?, true)?;
    server.remove().await?;
    Ok(())
}

/// The owner is erased after an index has come to his first session, and before it says so.
pub(crate) async fn enlisted_meanwhile(servers: Servers) -> Scene {
    let failed = |error: redis::RedisError| Failure::new(error.to_string());
    let server = servers.own("redis")?.start().await?;
    let address = server.url().trim_start_matches("redis://").to_owned();
    let proxy = Proxy::start(address).await.map_err(|error| Failure::new(error.to_string()))?;
    let config = patient(proxy.in_place_of(server.url()));
    let (keeper, eraser) = (RedisChat::new(&Redis::connect(config).await?)?, chat(server.url()).await?);
    let (ada, index) = (scope("ada")?, IndexName::new("text/test-1")?);
    for name in ["canary", "z"] {
        persist(&eraser, &ada, &SessionId::new(name)?, &[message("one".to_owned())]).await?;
    }
    let mut monitor = redis::Client::open(server.url()).map_err(failed)?.get_async_monitor().await.map_err(failed)?;
    let mut sent = monitor.on_message::<String>();
    proxy.delay(DELAY);
    let enlisting = keeper.enlist(&index, None, 1);
    let erasing = async {
        loop {
            let Some(command) = sent.next().await else { return Err(Failure::new("the server said nothing")) };
            // In quotes stands what a script does, not what it says.
            if command.contains(":sessions") && command.contains("\"ZRANGEBYLEX\"") {
                break;
            }
        }
        // The answer that names the session is under way; what the keeper does with it waits.
        proxy.stall();
        let epoch = eraser.bury(&ada, eraser.epoch(&ada).await?).await?;
        equal(eraser.erase(&ada, epoch).await?.remaining, 0)?;
        proxy.heal();
        Ok(())
    };
    let (enlisted, erased) = tokio::join!(enlisting, erasing);
    erased?;
    equal(enlisted?, false)?;
    let left = walk(&server).await?;
    check!(!left.contains("canary"), "{left}");
    server.remove().await?;
    Ok(())
}
