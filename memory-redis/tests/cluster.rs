//! Three masters: every promise holds in a cluster too, and owners are spread over all of them.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::store::chat::{Append, ChatStore as _, NewMessage};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::store::{Health, Store as _};
use memory_core::{Message, Result, Role, Scope, SessionId, Timestamp, Truth};
use memory_redis::redis::{self, Value, cmd};
use memory_redis::{Redis, RedisBlackboard, RedisCache, RedisChat, RedisConfig};
use memory_testkit::services::{Server, Servers, Service};
use memory_testkit::{
    Boards, Caches, Chat, Failure, Opener, Outcome, Scenario, Scene, Setting, Subject, Suite, Verdict, check, equal,
};
use memory_testkit::{blackboard, cache, chat, opener, run_table};
use tokio::runtime::Handle;

/// How long a node may take: a machine may stop for many seconds.
const PATIENCE: Duration = Duration::from_secs(60);

async fn probe(url: String) -> Result<Health> {
    RedisCache::new(&Redis::connect(RedisConfig::new(url)).await?).ping().await
}

/// Sends a bare command to one node.
async fn tell(server: &Server, words: &[&str]) -> std::result::Result<String, Failure> {
    let failed = |error: redis::RedisError| Failure::new(error.to_string());
    let client = redis::Client::open(server.url()).map_err(failed)?;
    let config = redis::AsyncConnectionConfig::new();
    let config = config.set_response_timeout(Some(PATIENCE)).set_connection_timeout(Some(PATIENCE));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await.map_err(failed)?;
    let mut command = cmd(words.first().copied().unwrap_or_default());
    command.arg(words.get(1..).unwrap_or_default());
    match command.query_async(&mut connection).await.map_err(failed)? {
        Value::BulkString(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        other => Ok(format!("{other:?}")),
    }
}

/// Starts three nodes and makes them a cluster; returns them and the URLs at which they reach each other.
async fn start(servers: &Servers) -> std::result::Result<(Vec<Server>, Vec<String>), Failure> {
    let mut nodes = Vec::new();
    let mut addresses = Vec::new();
    for slots in [["0", "5460"], ["5461", "10922"], ["10923", "16383"]] {
        let own = servers.own("redis")?.with_setting("cluster-enabled", "yes");
        // A node that stood still with the whole machine must not count as gone.
        let node = own.with_setting("cluster-node-timeout", "30000").start().await?;
        addresses.push(node.address().await?);
        let number = addresses.len().to_string();
        tell(&node, &["CLUSTER", "SET-CONFIG-EPOCH", &number]).await?;
        let [first, last] = slots;
        tell(&node, &["CLUSTER", "ADDSLOTSRANGE", first, last]).await?;
        nodes.push(node);
    }
    let first = nodes.first().ok_or("no node")?;
    for address in addresses.iter().skip(1) {
        tell(first, &["CLUSTER", "MEET", address, "6379"]).await?;
    }
    for node in &nodes {
        for _ in 0..3_000 {
            let info = tell(node, &["CLUSTER", "INFO"]).await?;
            if info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok((nodes, addresses.iter().map(|address| format!("redis://{address}:6379")).collect()))
}

fn patient(urls: &[String]) -> RedisConfig {
    RedisConfig::cluster(urls.iter().cloned()).with_timeout(PATIENCE).with_connect_timeout(PATIENCE)
}

async fn open(urls: &[String], setting: &Setting) -> Result<Redis> {
    Redis::connect(patient(urls).with_prefix(&setting.name).with_clock(setting.clock.clone())).await
}

/// Plays a table. The future of that cannot change threads, so it stays on this one.
fn play<S: Subject>(table: &[Scenario<S>], open: Opener<S>) -> Vec<Outcome> {
    tokio::task::block_in_place(|| Handle::current().block_on(run_table("cluster", table, &[], open)))
}

fn kept(outcomes: Vec<Outcome>) -> Scene {
    check!(!outcomes.is_empty(), "nothing was played");
    let broken: Vec<String> = outcomes
        .into_iter()
        .filter_map(|Outcome { name, verdict }| match verdict {
            Verdict::Failed(why) => Some(format!("{name}: {why}")),
            Verdict::Passed | Verdict::Ignored(_) => None,
        })
        .collect();
    check!(broken.is_empty(), "{}", broken.join("\n"));
    Ok(())
}

/// Owners of all nodes are found again that a failover took off the lists.
async fn found_again(nodes: &[Server], urls: &[String]) -> Scene {
    let chat = RedisChat::new(&Redis::connect(patient(urls).with_prefix("walk")).await?)?;
    let mut owners = Vec::new();
    for number in 0..30 {
        let owner = Scope::new("walk", &format!("owner-{number}"))?;
        let message = Arc::new(Message::new(Role::User, "one", Timestamp(0)));
        let batch = Append::new(vec![NewMessage::sized(message, 1)]);
        chat.append(&owner, &SessionId::new("s")?, &batch).await?;
        owners.push(owner);
    }
    owners.sort();
    equal(chat.owners(None, 100).await?, owners.clone())?;
    for node in nodes {
        // Only the node that has the list takes it away.
        tell(node, &["DEL", "walk:owners"]).await.unwrap_or_default();
    }
    equal(chat.owners(None, 100).await?, [])?;
    for second in 1..=5 {
        chat.sweep(Timestamp(second * 10_000_000), 100).await?;
    }
    equal(chat.owners(None, 100).await?, owners)
}

async fn three_masters_keep_every_promise(servers: Servers) -> Scene {
    let (nodes, urls) = start(&servers).await?;
    found_again(&nodes, &urls).await?;
    let of_chat = urls.clone();
    let chats: Opener<Chat> = opener(move |setting: Setting| {
        let urls = of_chat.clone();
        async move { Ok(Truth::chat(Arc::new(RedisChat::new(&open(&urls, &setting).await?)?))) }
    });
    kept(play(&chat::table(), chats))?;
    let of_cache = urls.clone();
    let caches: Opener<Caches> = opener(move |setting: Setting| {
        let urls = of_cache.clone();
        async move { Ok(Arc::new(RedisCache::new(&open(&urls, &setting).await?)) as Caches) }
    });
    kept(play(&cache::table(), caches))?;
    let of_board = urls.clone();
    let boards: Opener<Boards> = opener(move |setting: Setting| {
        let urls = of_board.clone();
        async move {
            let redis = open(&urls, &setting).await?;
            Ok(Arc::new(RedisBlackboard::new(&redis, setting.capacity)?.with_keep(setting.keep)) as Boards)
        }
    });
    kept(play(&blackboard::table(), boards))?;
    for node in nodes {
        let keys = tell(&node, &["DBSIZE"]).await?;
        check!(keys != "int(0)" && keys != "0", "a node holds nothing");
        node.remove().await?;
    }
    Ok(())
}

fn main() -> ExitCode {
    Suite::new("redis-cluster")
        .service(Service::redis(), probe)
        .alone("three_masters_keep_every_promise", three_masters_keep_every_promise)
        .run()
}
