//! A memory whose index of words lies in a server that goes away.

use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::Scene;
use memory_testkit::services::{Index, Servers, index_follows};

pub(crate) async fn follows(servers: Servers) -> Scene {
    let open = async |url: String, patience| {
        let config = ElasticConfig::new(&url)?.with_prefix("follows")?.with_refresh(Duration::from_millis(50));
        let elastic = Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?;
        Ok(Index::Text(Arc::new(ElasticText::open(&elastic, Analysis::english().name()).await?)))
    };
    index_follows(&servers, "elastic", open).await
}
