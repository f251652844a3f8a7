//! A Redis Cluster by its URL.

use std::time::Duration;

use memory::redis::redis::{AsyncConnectionConfig, Client, Value, cmd};
use memory::store::chat::{Page, View};
use memory::{Message, Role, Scope, Seq, SessionId, Settings};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, check, equal};
use tokio::time::{Instant, sleep};

use crate::places::fresh_name;

/// How long a node may take to be a cluster, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a bare command to the node.
async fn tell(node: &Server, words: &[&str]) -> Result<String, Failure> {
    let failed = |error: memory::redis::redis::RedisError| Failure::new(error.to_string());
    let client = Client::open(node.url()).map_err(failed)?;
    let config = AsyncConnectionConfig::new();
    let config = config.set_response_timeout(Some(PATIENCE)).set_connection_timeout(Some(PATIENCE));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)?;
    let mut command = cmd(words.first().copied().unwrap_or_default());
    command.arg(words.get(1..).unwrap_or_default());
    match command.query_async(&mut connection).await.map_err(failed)? {
        Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        other => Ok(format!("{other:?}")),
    }
}

/// Starts a cluster of one node, and returns it with the address at which it answers.
async fn start(servers: &Servers) -> Result<(Server, String), Failure> {
    let node = servers.own("redis")?.with_setting("cluster-enabled", "yes").start().await?;
    let address = node.address().await?;
    tell(&node, &["CONFIG", "SET", "cluster-announce-ip", &address]).await?;
    tell(&node, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]).await?;
    let until = Instant::now() + PATIENCE;
    while !tell(&node, &["CLUSTER", "INFO"]).await?.contains("cluster_state:ok") {
        check!(Instant::now() < until, "the node is no cluster");
        sleep(Duration::from_millis(20)).await;
    }
    Ok((node, format!("{address}:6379")))
}

pub(crate) async fn opened(servers: Servers) -> Scene {
    let (node, address) = start(&servers).await?;
    // Some of the nodes are named, here the only one twice; the URL of a single server would be refused by its slots.
    let url = format!("redis+cluster://{address},{address}?prefix={}", fresh_name());
    let stores = Settings::new(&url).with_cache(&url).connect().await?;
    check!(stores.records.is_none() && stores.cache.is_some(), "conversations and a cache, no records");
    let memory = memory::over(stores).build().await?;
    for number in 0..8 {
        // Owners lie in slots of their own.
        let session = memory.of(&Scope::new("acme", &format!("ada{number}"))?).session(&SessionId::new("talk")?);
        let said = |text: &str| Message::new(Role::User, text, memory.now());
        session.append(vec![said("My parcel never arrived."), said("It was a kite.")]).await?;
        let rows = session.read(&Page::after(Seq(0), 10, View::Log)).await?.messages;
        equal(rows.iter().map(|row| row.seq.0).collect::<Vec<_>>(), [1, 2])?;
    }
    let state = tell(&node, &["DBSIZE"]).await?;
    check!(!state.contains("(0)"), "the node holds nothing: {state}");
    memory.close().await?;
    Ok(node.remove().await?)
}
