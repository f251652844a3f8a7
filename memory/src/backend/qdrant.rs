//! A Qdrant server: an index of meaning.

use std::sync::Arc;

use memory_core::{Error, Result};
use memory_qdrant::{Qdrant, QdrantConfig, QdrantVectors};

use super::{Opened, Wanted, url};

pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
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
    let mut opened = Opened::default();
    if let Some(space) = wanted.space {
        opened.vectors = Some(Arc::new(QdrantVectors::open(&server, space.clone()).await?));
    }
    Ok(opened)
}
