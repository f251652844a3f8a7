//! Kills, and answers that do not come through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memory_core::store::chat::NewMessage;
use memory_core::store::{Durability, Store};
use memory_core::{Scope, SessionId};
use memory_redis::{Redis, RedisChat, RedisConfig};
use memory_testkit::faults::Proxy;
use memory_testkit::generate::Random;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal, rounds};

use super::support::{hasty_chat, holds, log, message, moment, persist, scope};

const WRITERS: usize = 4;

/// How often the server is killed.
const KILLS: usize = 100;

/// What one writer was told is stored.
struct Written {
    scope: Scope,
    session: SessionId,
    own: Vec<NewMessage>,
    shared: Vec<NewMessage>,
}

struct Load {
    chat: RedisChat,
    is_over: AtomicBool,
    acknowledged: AtomicU64,
}

/// Appends to a session of its own and to one that all share, until it is over.
async fn write(load: Arc<Load>, number: usize) -> Result<Written, Failure> {
    let scope = scope("kill")?;
    let session = SessionId::new(&format!("writer {number}"))?;
    let together = SessionId::new("together")?;
    let mut written = Written { scope, session, own: Vec::new(), shared: Vec::new() };
    while !load.is_over.load(Ordering::SeqCst) {
        let count = written.own.len();
        let batch: Vec<_> = (0..1 + count % 3).map(|place| message(format!("{number} {count} {place}"))).collect();
        persist(&load.chat, &written.scope, &written.session, &batch).await?;
        written.own.extend(batch);
        let one = message(format!("{number} {count}"));
        persist(&load.chat, &written.scope, &together, std::slice::from_ref(&one)).await?;
        written.shared.push(one);
        load.acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    Ok(written)
}

pub(crate) async fn kills(servers: Servers) -> Scene {
    let mut server = servers.own("redis")?.start().await?;
    let chat = hasty_chat(server.url()).await?;
    equal(chat.ping().await?.durability, Durability::Committed)?;
    let load = Arc::new(Load { chat, is_over: AtomicBool::new(false), acknowledged: AtomicU64::new(0) });
    let writers: Vec<_> = (0..WRITERS).map(|number| tokio::spawn(write(load.clone(), number))).collect();
    for kill in 0..rounds(KILLS) as u64 {
        // In the middle of the load: some writes later than the last time.
        let before = load.acknowledged.load(Ordering::SeqCst);
        while load.acknowledged.load(Ordering::SeqCst) < before + 5 + kill % 7 {
            check!(writers.iter().all(|writer| !writer.is_finished()), "a writer gave up");
            tokio::task::yield_now().await;
        }
        server.kill().await?;
        server.restart().await?;
    }
    load.is_over.store(true, Ordering::SeqCst);
    let (mut shared, mut failures) = (Vec::new(), String::new());
    for writer in writers {
        let written = writer.await.map_err(|error| Failure::new(error.to_string()))??;
        if let Err(failure) = holds(&load.chat, &written.scope, &written.session, &written.own).await {
            failures += &format!("{failure}; ");
        }
        shared.push(written.shared);
    }
    // Of all writers, so that one sees whether a moment was lost or a single call.
    check!(failures.is_empty(), "{failures}");
    // Of the common session, each writer's messages stand in his order, and nobody else's.
    let found = log(&load.chat, &scope("kill")?, &SessionId::new("together")?).await?;
    equal(found.len(), shared.iter().map(Vec::len).sum::<usize>())?;
    for (number, promised) in shared.iter().enumerate() {
        let prefix = format!("{number} ");
        let of_writer: Vec<_> = found.iter().filter(|(_, text)| text.starts_with(&prefix)).map(|(id, _)| *id).collect();
        equal(of_writer, promised.iter().map(|new| new.message.id).collect::<Vec<_>>())?;
    }
    server.remove().await?;
    Ok(())
}

pub(crate) async fn cut_answers(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let address = server.url().trim_start_matches("redis://").to_owned();
    let proxy = Proxy::start(address).await.map_err(|error| Failure::new(error.to_string()))?;
    let redis = Redis::connect(RedisConfig::new(proxy.in_place_of(server.url()))).await?;
    let chat = RedisChat::new(&redis)?;
    let (scope, session) = (scope("cut")?, SessionId::new("s")?);
    let (mut random, mut promised) = (Random::new(7), Vec::new());
    for round in 0..60 {
        let batch: Vec<_> = (0..1 + round % 4).map(|place| message(format!("{round} {place}"))).collect();
        proxy.cut_after(random.below(90) as u64);
        let call = persist(&chat, &scope, &session, &batch);
        // The way is mended while the writer tries again and again.
        let mend = async {
            moment().await;
            proxy.heal();
        };
        let (stored, ()) = tokio::join!(call, mend);
        stored?;
        promised.extend(batch);
    }
    holds(&chat, &scope, &session, &promised).await?;
    server.remove().await?;
    Ok(())
}
