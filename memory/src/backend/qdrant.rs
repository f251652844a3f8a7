//! A Qdrant server: an index of meaning.

use super::kind::{Holds, Kind, Name};
use super::names::is_collection;

const PREFIX: Name =
    Name { parameter: "prefix", is_legal: is_collection, rule: "prefix has 1 to 200 ASCII letters, digits, - and _" };

pub(super) const KIND: Kind = Kind {
    name: "qdrant",
    schemes: &["qdrant", "qdrant+http", "qdrant+https"],
    holds: Holds { vectors: true, ..Holds::NOTHING },
    parameters: &["deadline", "pool", "prefix"],
    names: &[PREFIX],
    is_server: true,
    #[cfg(feature = "qdrant")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "qdrant"))]
    open: None,
};

#[cfg(feature = "qdrant")]
mod server {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::{Disabled, Error, Result, Stores};
    use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};

    use crate::backend::kind::Wanted;
    use crate::backend::tuning::Tuning;
    use crate::backend::url;

    /// How long a read and a write of one chunk may take, within the usual deadline.
    const READ: Duration = Duration::from_secs(2);
    const WRITE: Duration = Duration::from_secs(10);

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (url, tuning) = Tuning::take(url)?;
        let (url, prefix) = url::take(&url, "prefix");
        let mut config = match url::http(&url) {
            Some(url) => QdrantConfig::new(url),
            None => match named(wanted) {
                Some(config) => config,
                None => return Ok(disabled()),
            },
        };
        config = config
            .with_timeout(tuning.share(wanted.policy, READ))
            .with_write_timeout(tuning.share(wanted.policy, WRITE));
        if let Some(prefix) = prefix {
            config = config.with_prefix(prefix);
        }
        let server = Qdrant::connect(config).await?;
        let mut stores = Stores::default();
        for embedder in wanted.embedders {
            let store = QdrantVectors::open(&server, embedder.space().clone()).await?;
            stores.vectors.push((Arc::new(store), Arc::clone(embedder)));
        }
        Ok(stores)
    }

    /// Returns what `QDRANT_URL`, `QDRANT_API_KEY` and `QDRANT_PREFIX` name.
    fn named(wanted: &Wanted<'_>) -> Option<QdrantConfig> {
        let config = QdrantConfig::new(wanted.named.get("QDRANT_URL")?);
        let key = wanted.named.get("QDRANT_API_KEY");
        let config = key.into_iter().fold(config, QdrantConfig::with_api_key);
        let prefix = wanted.named.get("QDRANT_PREFIX");
        Some(prefix.into_iter().fold(config, QdrantConfig::with_prefix))
    }

    /// Returns what is told of an unset URL.
    fn disabled() -> Stores {
        let why = Error::Unsupported { backend: "qdrant", what: "be used: QDRANT_URL is not set".to_owned() };
        Stores { disabled: vec![Disabled { part: "vectors", backend: "qdrant", why }], ..Stores::default() }
    }
}
