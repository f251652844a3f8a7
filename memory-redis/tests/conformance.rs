//! Every promise of the traits, tried on a Redis server.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::store::{Health, Store as _};
use memory_core::{Result, Truth};
use memory_redis::{Redis, RedisBlackboard, RedisCache, RedisChat, RedisConfig};
use memory_testkit::services::Service;
use memory_testkit::{Boards, Caches, Chat, Setting, Suite};

/// How long a server may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens the place of a setting. Opening it again is what a restart or a second process does.
async fn open(setting: &Setting) -> Result<Redis> {
    // A machine may stop for many seconds; how soon calls end is not what is tried here.
    let config = RedisConfig::new(&setting.url).with_timeout(PATIENCE).with_connect_timeout(PATIENCE);
    Redis::connect(config.with_prefix(&setting.name).with_clock(setting.clock.clone())).await
}

async fn chat(setting: Setting) -> Result<Chat> {
    Ok(Truth::chat(Arc::new(RedisChat::new(&open(&setting).await?)?)))
}

async fn cache(setting: Setting) -> Result<Caches> {
    Ok(Arc::new(RedisCache::new(&open(&setting).await?)))
}

async fn blackboard(setting: Setting) -> Result<Boards> {
    Ok(Arc::new(RedisBlackboard::new(&open(&setting).await?, setting.capacity)?.with_keep(setting.keep)))
}

async fn probe(url: String) -> Result<Health> {
    RedisCache::new(&Redis::connect(RedisConfig::new(url)).await?).ping().await
}

fn main() -> ExitCode {
    Suite::new("redis").service(Service::redis(), probe).chat(chat).cache(cache).blackboard(blackboard).run()
}
