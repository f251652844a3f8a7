//! An erasure, seen from the keys of the server.

use memory_core::SessionId;
use memory_core::store::Store;
use memory_core::store::chat::{ChatStore, Page};
use memory_core::store::upkeep::Upkeep;
use memory_redis::redis;
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};

use super::support::{chat, message, persist, scope, tell};

/// More than one step of an erasure takes away.
const SESSIONS: usize = 300;

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
