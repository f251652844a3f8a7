//! A Redis server or cluster: conversations, a cache, and boards.

use super::kind::{Holds, Kind, Name};
use super::names::is_of_keys;

const PREFIX: Name = Name {
    parameter: "prefix",
    is_legal: is_of_keys,
    rule: "prefix has 1 to 64 ASCII letters, digits, -, _, . and :",
};

pub(super) const KIND: Kind = Kind {
    name: "redis",
    schemes: &["redis", "rediss", "redis+cluster", "rediss+cluster"],
    holds: Holds { truth: true, cache: true, board: true, ..Holds::NOTHING },
    parameters: &["deadline", "pool", "prefix", "protocol", "db", "user", "pass"],
    names: &[PREFIX],
    is_server: true,
    #[cfg(feature = "redis")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "redis"))]
    open: None,
};

#[cfg(feature = "redis")]
mod server {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::{Result, Stores, Truth};
    use memory_redis::{Redis, RedisBlackboard, RedisCache, RedisChat, RedisConfig};

    use crate::backend::kind::Wanted;
    use crate::backend::tuning::Tuning;
    use crate::backend::url;

    /// How long an answer may take, within the usual deadline.
    const ANSWER: Duration = Duration::from_millis(500);

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (url, tuning) = Tuning::take(url)?;
        let (url, prefix) = url::take(&url, "prefix");
        let mut config = configured(url)?.with_timeout(tuning.share(wanted.policy, ANSWER));
        if let Some(prefix) = prefix {
            config = config.with_prefix(prefix);
        }
        let redis = Redis::connect(config).await?;
        let mut stores = Stores::default();
        if wanted.truth {
            stores.chat = Some(Truth::chat(Arc::new(RedisChat::new(&redis)?)));
        }
        if wanted.cache {
            stores.cache = Some(Arc::new(RedisCache::new(&redis)));
        }
        if let Some((capacity, keep)) = wanted.board {
            stores.blackboard = Some(Arc::new(RedisBlackboard::new(&redis, capacity)?.with_keep(keep)));
        }
        Ok(stores)
    }

    /// Returns how to connect to the server, or to the nodes of a cluster.
    #[cfg(feature = "redis-cluster")]
    fn configured(url: String) -> Result<RedisConfig> {
        Ok(url::nodes(&url).map_or_else(|| RedisConfig::new(url), RedisConfig::cluster))
    }

    /// Returns how to connect to the server.
    #[cfg(not(feature = "redis-cluster"))]
    fn configured(url: String) -> Result<RedisConfig> {
        match url::nodes(&url) {
            None => Ok(RedisConfig::new(url)),
            Some(_) => {
                let what = "be opened as a cluster: the feature redis-cluster is off".to_owned();
                Err(memory_core::Error::Unsupported { backend: "redis", what })
            }
        }
    }
}
