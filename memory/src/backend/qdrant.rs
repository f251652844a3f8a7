//! A Qdrant server: an index of meaning.

use super::kind::{Holds, Kind};

pub(super) const KIND: Kind = Kind {
    name: "qdrant",
    schemes: &["qdrant", "qdrant+http", "qdrant+https"],
    holds: Holds { vectors: true, ..Holds::NOTHING },
    is_server: true,
    #[cfg(feature = "qdrant")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "qdrant"))]
    open: None,
};

#[cfg(feature = "qdrant")]
mod server {
    use std::sync::Arc;

    use memory_core::{Error, Result, Stores};
    use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};

    use crate::backend::kind::Wanted;
    use crate::backend::url;

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (url, prefix) = url::take(url, "prefix");
        let missing = || Error::Unsupported { backend: "qdrant", what: "be used: QDRANT_URL is not set".to_owned() };
        let mut config = match url::http(&url) {
            Some(url) => QdrantConfig::new(url),
            None => QdrantConfig::from_env()?.ok_or_else(missing)?,
        };
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
}
