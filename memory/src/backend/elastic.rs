//! An Elasticsearch server: indexes of words and of meaning.

use std::sync::Arc;

use memory_core::Result;
use memory_elastic::{Configured, Elastic, ElasticConfig, ElasticText, ElasticVectors};

use super::{Opened, Wanted, url};

pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let (url, prefix) = url::take(url, "prefix");
    let mut config = match url::http(&url) {
        Some(url) => ElasticConfig::new(&url)?,
        None => Configured::from_environment()?.enabled()?,
    };
    if let Some(prefix) = prefix {
        config = config.with_prefix(&prefix)?;
    }
    let server = Elastic::connect(config).await?;
    let mut opened = Opened::default();
    if let Some(analysis) = wanted.analysis {
        opened.text = Some(Arc::new(ElasticText::open(&server, analysis.name()).await?));
    }
    if let Some(space) = wanted.space {
        opened.vectors = Some(Arc::new(ElasticVectors::open(&server, space.clone()).await?));
    }
    Ok(opened)
}
