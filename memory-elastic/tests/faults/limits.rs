//! Settings at their ends: a long time between refreshes, and answers that are longer than what is read of one.

use std::time::Duration;

use memory_core::Scope;
use memory_core::store::text::{TextStore as _, Visibility};
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::generate::deletion;
use memory_testkit::services::Servers;
use memory_testkit::{Scene, equal};
use uuid::Uuid;

use super::server::Admin;
use super::{count, entry};

/// The interval is longer than the client waits.
pub(crate) async fn what_is_put_or_deleted_waits_for_no_interval(servers: Servers) -> Scene {
    let (url, prefix) = (servers.url("elastic")?, format!("rare{}", Uuid::now_v7().simple()));
    let config = ElasticConfig::new(&url)?.with_prefix(&prefix)?.with_refresh(Duration::from_secs(60));
    let patience = Duration::from_secs(20);
    let elastic = Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?;
    let (text, scope) = (ElasticText::open(&elastic, "test").await?, Scope::new("f", "ada")?);
    let (first, second) = (entry(1, 0)?, entry(2, 0)?);
    equal(text.put(&scope, &[first.clone(), second], Visibility::OnReturn).await?.len(), 0)?;
    equal(count(&text, &scope).await?, 2)?;
    text.delete(&scope, &deletion([first.item])).await?;
    equal(count(&text, &scope).await?, 1)?;
    Admin::of(&url, &prefix).delete().await
}
