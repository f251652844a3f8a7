//! A journal before servers that stand still, go away under load, or are all away for longer than it has room.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory::sqlite::{JournalConfig, SqliteJournal};
use memory::store::Durability;
use memory::store::chat::Page;
use memory::{Error, Memory, Session, Settings};
use memory_testkit::services::Servers;
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check, equal, fails, rounds};
use tokio::time::sleep;

use super::{DEADLINE, DRAINED, RETURNED, TALKS, drains, failed, in_order, in_time, is_shown, message, open, talk};

/// How often the server stands still, and for how long.
const PAUSES: usize = 3;
const PAUSE: Duration = Duration::from_secs(5);

/// How many messages each conversation hears while it stands still.
const SAID: usize = 10;

/// How long a shutdown may send what waits, and how much longer it may take: as long as a store may take to close.
const GRACE: Duration = Duration::from_secs(2);
const CLOSED: Duration = Duration::from_secs(20);

/// How many messages the journal holds that is filled.
const BOUND: usize = 500;

/// Opens a memory behind a journal that holds so many messages.
pub(super) async fn bounded(settings: Settings, journal: PathBuf, bound: usize) -> memory::Result<Memory> {
    let stores = settings.without_embedder().connect().await?;
    let journal = SqliteJournal::connect(JournalConfig::new(journal).with_messages(bound)).await?;
    memory::over(stores).journal(Arc::new(journal)).build().await
}

/// Speaks while the server stands still: in a conversation that is known, and in a new one.
async fn speak_meanwhile(memory: Memory, session: Session, number: usize, next: usize, new: usize) -> Scene {
    let watch = RunningWatch::start();
    for next in next..next + SAID {
        let receipt = session.append(vec![message(number, next)]).await?;
        equal(receipt.durability, Durability::Queued)?;
    }
    // All of them together take less time than a single call to the server may.
    check!(watch.elapsed() < DEADLINE, "{SAID} appends took {:?}", watch.elapsed());
    is_shown(&session, &format!("{number} {}", next + SAID - 1)).await?;
    let other = talk(&memory, new)?;
    let receipt = in_time("an append", other.append(vec![message(new, 0)])).await?;
    equal(receipt.durability, Durability::Queued)
}

/// The server stands still again and again: appends go on, no call is stuck, and all is there in order.
pub(crate) async fn stands_still(servers: Servers) -> Scene {
    let server = servers.own("postgres")?.start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let memory = open(server.url(), &folder.path().join("journal.db")).await?;
    let mut sessions = Vec::new();
    for number in 0..TALKS {
        let session = talk(&memory, number)?;
        session.append(vec![message(number, 0)]).await?;
        sessions.push(session);
    }
    equal(memory.flush(DRAINED).await, 0)?;
    let pauses = rounds(PAUSES);
    for pause in 0..pauses {
        server.stop().await?;
        let next = 1 + pause * SAID;
        let speak = |(number, session): (usize, &Session)| {
            let new = TALKS * (1 + pause) + number;
            tokio::spawn(speak_meanwhile(memory.clone(), session.clone(), number, next, new))
        };
        let speakers: Vec<_> = sessions.iter().enumerate().map(speak).collect();
        sleep(PAUSE).await;
        // It stands still until all has been said: what is asserted of that must not depend on how long a machine takes over it.
        for speaker in speakers {
            speaker.await.map_err(failed)??;
        }
        server.cont().await?;
    }
    drains(&memory, RETURNED).await?;
    for number in 0..TALKS {
        in_order(&memory, number, 1 + pauses * SAID, 0).await?;
    }
    for number in TALKS..TALKS * (1 + pauses) {
        in_order(&memory, number, 1, 0).await?;
    }
    memory.close().await?;
    Ok(())
}

/// Speaks until the memory is closed. Returns how many messages were acknowledged.
async fn speak_to_the_end(memory: Memory, number: usize) -> Result<usize, Failure> {
    let session = talk(&memory, number)?;
    for next in 0.. {
        match session.append(vec![message(number, next)]).await {
            Ok(_) => sleep(Duration::from_millis(5)).await,
            Err(error) if error.with_causes().contains("closed") => return Ok(next),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(0)
}

/// A memory is shut down under load while its server is away: what it acknowledged is stored, or in the journal and counted.
pub(crate) async fn is_shut_down(servers: Servers) -> Scene {
    let mut server = servers.own("postgres")?.start().await?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let (url, journal) = (server.url().to_owned(), folder.path().join("journal.db"));
    let memory = open(&url, &journal).await?;
    let speakers: Vec<_> = (0..TALKS).map(|number| tokio::spawn(speak_to_the_end(memory.clone(), number))).collect();
    sleep(Duration::from_secs(1)).await;
    server.kill().await?;
    sleep(Duration::from_secs(1)).await;
    let watch = RunningWatch::start();
    let left = memory.shutdown(GRACE).await?;
    check!(watch.elapsed() < GRACE + CLOSED + SLACK, "a shutdown took {:?}", watch.elapsed());
    let mut counts = Vec::new();
    for speaker in speakers {
        counts.push(speaker.await.map_err(failed)??);
    }
    server.restart().await?;
    let direct = Settings::new(&url).without_embedder().open().await?.build().await?;
    let mut stored: u64 = 0;
    for number in 0..TALKS {
        stored += talk(&direct, number)?.read(&Page::newest(0)).await?.state.head.0;
    }
    direct.close().await?;
    let said: usize = counts.iter().sum();
    check!(left > 0 && left <= said, "{left} are left of {said}");
    check!(stored + left as u64 >= said as u64, "{stored} are stored and {left} are left of {said}");
    let memory = open(&url, &journal).await?;
    drains(&memory, RETURNED).await?;
    for (number, count) in counts.into_iter().enumerate() {
        in_order(&memory, number, count, 0).await?;
    }
    memory.close().await?;
    Ok(())
}

/// Every server is away: messages are queued up to the bound of the journal, and refused beyond it; contexts hold them.
pub(crate) async fn fills_the_journal(servers: Servers) -> Scene {
    let (truth, cache) = (servers.own("postgres")?, servers.own("redis")?);
    let (mut truth, mut cache) = tokio::try_join!(truth.start(), cache.start())?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let settings = Settings::new(truth.url()).with_cache(cache.url());
    let memory = bounded(settings, folder.path().join("journal.db"), BOUND).await?;
    let session = talk(&memory, 0)?;
    session.append(vec![message(0, 0)]).await?;
    equal(memory.flush(DRAINED).await, 0)?;
    truth.kill().await?;
    cache.kill().await?;
    for next in 1..=BOUND {
        equal(session.append(vec![message(0, next)]).await?.durability, Durability::Queued)?;
    }
    for _ in 0..3 {
        fails!(session.append(vec![message(0, BOUND + 1)]).await, Error::QueueFull);
    }
    let receipt = is_shown(&session, &format!("0 {BOUND}")).await?;
    check!(!receipt.search.degraded.is_empty(), "{receipt:?}");
    truth.restart().await?;
    cache.restart().await?;
    drains(&memory, RETURNED).await?;
    session.append(vec![message(0, BOUND + 1)]).await?;
    equal(memory.flush(DRAINED).await, 0)?;
    in_order(&memory, 0, BOUND + 2, 0).await?;
    memory.close().await?;
    Ok(())
}
