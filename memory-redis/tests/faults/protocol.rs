//! The newer protocol, RESP3, in which some answers have other shapes.

use std::time::Duration;

use memory_core::store::Store as _;
use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry};
use memory_core::store::cache::Cache as _;
use memory_core::store::chat::{Append, ChatStore as _, Page};
use memory_core::store::upkeep::{Backlog, IndexName, Note, Outcome, Upkeep as _};
use memory_core::{Epoch, Error, SessionId, Timestamp};
use memory_redis::redis::Value;
use memory_redis::{Redis, RedisBlackboard, RedisCache, RedisChat};
use memory_testkit::services::Servers;
use memory_testkit::{Scene, equal, fails};

use super::support::{message, patient, scope, tell};

const NOW: Epoch = Epoch(0);
const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) async fn newer(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let redis = Redis::connect(patient(format!("{}/?protocol=resp3", server.url()))).await?;
    let (chat, index) = (RedisChat::new(&redis)?, IndexName::new("text/test-1")?);
    let (ada, bob, session) = (scope("ada")?, scope("bob")?, SessionId::new("s")?);
    chat.enlist(&index, None, usize::MAX).await?;
    for owner in [&ada, &bob] {
        chat.append(owner, &session, &Append::new(vec![message("one".to_owned())])).await?;
        equal(chat.read(owner, &session, &Page::newest(9)).await?.messages.len(), 1)?;
    }
    let notes = chat.pending(&index, Timestamp(0), 10).await?;
    equal(notes.iter().map(|note| note.scope.clone()).collect::<Vec<_>>(), [ada.clone(), bob.clone()])?;
    equal(chat.backlog(&index).await?, Backlog { pending: 2, dead: 0 })?;
    equal(chat.revive(&index).await?, 0)?;
    let done = |note: &Note| (note.clone(), Outcome::Done { through: note.upto });
    chat.settle(&index, &notes.iter().map(done).collect::<Vec<_>>()).await?;
    // Those who have no notes any more leave the list, by the score that was read.
    equal(chat.pending(&index, Timestamp(0), 10).await?, [])?;
    equal(tell(server.url(), "ZCARD mem:noted").await?, Value::Int(0))?;
    chat.sweep(Timestamp(10_000_000), 100).await?;
    equal(chat.owners(None, 10).await?, [ada.clone(), bob])?;

    let cache = RedisCache::new(&redis);
    cache.put(&ada, NOW, "key", b"value", HOUR).await?;
    equal(cache.get(&ada, NOW, "key").await?, Some(b"value".to_vec()))?;
    cache.push(&ada, NOW, "list", b"event", 9, HOUR).await?;
    equal(cache.tail(&ada, NOW, "list", 9).await?, [b"event".to_vec()])?;
    equal(cache.get(&ada, NOW, "other").await?, None)?;

    let board = RedisBlackboard::new(&redis, 3)?;
    fails!(RedisBlackboard::new(&redis, 0), Error::Invalid { .. });
    board.put(&ada, NOW, &BlackboardEntry::new("a", "value")).await?;
    equal(board.get(&ada, NOW, "a").await?.map(|found| found.value), Some("value".to_owned()))?;
    equal(board.stats(&ada, NOW).await?.live, 1)?;

    let epoch = chat.bury(&ada, chat.epoch(&ada).await?).await?;
    equal(chat.erase(&ada, epoch).await?.remaining, 0)?;
    server.remove().await?;
    Ok(())
}
