//! Servers that are away for a while.

use std::time::Duration;

use memory_core::store::chat::{ChatStore, Page};
use memory_core::{Error, SessionId};
use memory_redis::{Redis, RedisChat, RedisConfig};
use memory_testkit::faults::Proxy;
use memory_testkit::services::Servers;
use memory_testkit::{Failure, RunningWatch, SLACK, Scene, check};

use super::support::{hasty_chat, holds, message, persist, reached, scope};

/// How long a call may take: its timeout, and what the machine adds.
const LONGEST: Duration = Duration::from_millis(500).saturating_add(SLACK);

/// Makes calls while the server is away: each fails, in time, with an error that says to try again.
async fn calls_fail_in_time(chat: &RedisChat, session: &SessionId) -> Scene {
    let scope = scope("outage")?;
    for _ in 0..8 {
        let watch = RunningWatch::start();
        let answer = chat.read(&scope, session, &Page::newest(3)).await;
        let passed = watch.elapsed();
        check!(passed < LONGEST, "a call took {passed:?}");
        match answer {
            Err(error @ Error::Backend { .. }) => check!(error.is_retryable(), "final: {error}"),
            other => return Err(Failure::new(format!("found {other:?}"))),
        }
    }
    Ok(())
}

pub(crate) async fn restart(servers: Servers) -> Scene {
    let mut server = servers.own("redis")?.start().await?;
    let chat = hasty_chat(server.url()).await?;
    let (scope, session, page) = (scope("outage")?, SessionId::new("s")?, Page::newest(1));
    let mut promised = Vec::new();
    for round in 0..5 {
        let batch = [message(format!("before outage {round}"))];
        persist(&chat, &scope, &session, &batch).await?;
        promised.extend(batch);
        if round % 2 == 0 {
            server.kill().await?;
        } else {
            server.shut_down().await?;
        }
        calls_fail_in_time(&chat, &session).await?;
        server.restart().await?;
        reached(|| chat.read(&scope, &session, &page)).await?;
    }
    holds(&chat, &scope, &session, &promised).await?;
    server.remove().await?;
    Ok(())
}

pub(crate) async fn stopped(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let chat = hasty_chat(server.url()).await?;
    let (scope, session) = (scope("outage")?, SessionId::new("s")?);
    let mut promised = Vec::new();
    for round in 0..3 {
        let batch = [message(format!("before pause {round}"))];
        persist(&chat, &scope, &session, &batch).await?;
        promised.extend(batch);
        server.stop().await?;
        // What is asked of a stopped server may be done when it goes on: so it is asked again by its id.
        let unknown = [message(format!("during pause {round}"))];
        let append = memory_core::store::chat::Append::new(unknown.to_vec());
        check!(chat.append(&scope, &session, &append).await.is_err(), "a stopped server answers");
        calls_fail_in_time(&chat, &session).await?;
        server.cont().await?;
        persist(&chat, &scope, &session, &unknown).await?;
        promised.extend(unknown);
    }
    holds(&chat, &scope, &session, &promised).await?;
    server.remove().await?;
    Ok(())
}

pub(crate) async fn silent(servers: Servers) -> Scene {
    let server = servers.own("redis")?.start().await?;
    let address = server.url().trim_start_matches("redis://").to_owned();
    let proxy = Proxy::start(address).await.map_err(|error| Failure::new(error.to_string()))?;
    let config = RedisConfig::new(proxy.in_place_of(server.url())).with_timeout(Duration::from_millis(100));
    // A busy machine may take longer than that to connect.
    let redis = reached(|| Redis::connect(config.clone())).await?;
    let chat = RedisChat::new(&redis)?;
    let (scope, session, page) = (scope("outage")?, SessionId::new("s")?, Page::newest(1));
    let batch = [message("before the silence".to_owned())];
    persist(&chat, &scope, &session, &batch).await?;
    proxy.stall();
    for _ in 0..12 {
        check!(chat.read(&scope, &session, &page).await.is_err(), "a stalled connection answers");
    }
    proxy.heal();
    reached(|| chat.read(&scope, &session, &page)).await?;
    holds(&chat, &scope, &session, &batch).await?;
    server.remove().await?;
    Ok(())
}
