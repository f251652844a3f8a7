//! A Redis server: conversations, and a cache.

use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_redis::{Redis, RedisCache, RedisChat, RedisConfig};

use super::{Opened, Wanted, url};

pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let (url, prefix) = url::take(url, "prefix");
    let mut config = RedisConfig::new(url);
    if let Some(prefix) = prefix {
        config = config.with_prefix(prefix);
    }
    let redis = Redis::connect(config).await?;
    let mut opened = Opened::default();
    if wanted.truth {
        opened.chat = Some(Truth::chat(Arc::new(RedisChat::new(&redis)?)));
    }
    if wanted.cache {
        opened.cache = Some(Arc::new(RedisCache::new(&redis)));
    }
    Ok(opened)
}
