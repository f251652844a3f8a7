//! A memory whose index of words lies in a server that goes away, or loses it.

use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::Scene;
use memory_testkit::services::{Index, Servers, index_fills_again, index_follows};
use uuid::Uuid;

use super::server::Admin;

pub(crate) async fn follows(servers: Servers) -> Scene {
    let open = async |url: String, patience| {
        let config = ElasticConfig::new(&url)?.with_prefix("follows")?.with_refresh(Duration::from_millis(50));
        let elastic = Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?;
        Ok(Index::Text(Arc::new(ElasticText::open(&elastic, Analysis::english().name()).await?)))
    };
    index_follows(&servers, "elastic", open).await
}

pub(crate) async fn fills_again(servers: Servers) -> Scene {
    let (url, prefix) = (servers.url("elastic")?, format!("refill{}", Uuid::now_v7().simple()));
    let patience = Duration::from_secs(30);
    let config = ElasticConfig::new(&url)?.with_prefix(&prefix)?.with_refresh(Duration::from_millis(50));
    let elastic = Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?;
    let text = Arc::new(ElasticText::open(&elastic, Analysis::english().name()).await?);
    let admin = Admin::of(&url, &prefix);
    index_fills_again(Index::Text(text), async || admin.delete().await).await?;
    admin.delete().await
}
