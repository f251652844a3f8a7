//! Notes that were damaged.

use memory_core::store::chat::{Append, ChatStore as _};
use memory_core::store::upkeep::{IndexName, Outcome, Target, Upkeep as _};
use memory_core::{Error, SessionId, Timestamp};
use memory_redis::redis;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};

use super::support::{chat, message, scope, tell};

pub(crate) async fn damaged(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, index) = (chat(server.url()).await?, IndexName::new("text/test-1")?);
    chat.enlist(&index, None, usize::MAX).await?;
    for subject in ["ada", "bob"] {
        let batch = Append::new(vec![message("one".to_owned())]);
        chat.append(&scope(subject)?, &SessionId::new("s")?, &batch).await?;
    }
    let keys = tell(server.url(), &format!("KEYS *{}*:n:*", scope("ada")?.key())).await?;
    let keys: Vec<String> = redis::from_redis_value(keys).map_err(|error| Failure::new(error.to_string()))?;
    for key in &keys {
        tell(server.url(), &format!("HSET {key} ss damaged")).await?;
    }
    let pending = || chat.pending(&index, Timestamp(0), 10);
    let notes = pending().await?;
    equal(notes.iter().map(|note| note.scope.clone()).collect::<Vec<_>>(), [scope("bob")?])?;
    let done = |note: &memory_core::store::upkeep::Note| (note.clone(), Outcome::Done { through: note.upto });
    chat.settle(&index, &notes.iter().map(done).collect::<Vec<_>>()).await?;
    let left = pending().await;
    check!(matches!(left, Err(Error::Corrupt { .. })), "{left:?}");
    server.remove().await?;
    Ok(())
}

/// Some of an owner's notes cannot be read: they take no room from his others.
pub(crate) async fn damaged_in_part(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let (chat, index) = (chat(server.url()).await?, IndexName::new("text/test-1")?);
    chat.enlist(&index, None, usize::MAX).await?;
    let ada = scope("ada")?;
    for session in ["a", "b", "c", "d", "e"] {
        let batch = Append::new(vec![message("one".to_owned())]);
        chat.append(&ada, &SessionId::new(session)?, &batch).await?;
    }
    let keys = tell(server.url(), &format!("KEYS *{}*:n:*", ada.key())).await?;
    let keys: Vec<String> = redis::from_redis_value(keys).map_err(|error| Failure::new(error.to_string()))?;
    for key in &keys {
        tell(server.url(), &format!("HSET {key} sa damaged sb damaged sd \u{e9}")).await?;
    }
    for (limit, readable) in [(1, 1), (2, 2), (9, 2), (usize::MAX, 2)] {
        let notes = chat.pending(&index, Timestamp(0), limit).await?;
        let targets: Vec<Target> = notes.into_iter().map(|note| note.target).collect();
        let promised = [SessionId::new("c")?, SessionId::new("e")?].map(Target::Messages);
        equal(targets, promised.into_iter().take(readable).collect::<Vec<_>>())?;
    }
    server.remove().await?;
    Ok(())
}
