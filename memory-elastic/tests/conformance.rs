//! Every promise of the traits, tried on a real server.

mod probe;

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memory_core::Result;
use memory_elastic::{Elastic, ElasticConfig, ElasticText, ElasticVectors};
use memory_testkit::services::Service;
use memory_testkit::{Setting, Suite, Texts, Vectors};
use uuid::Uuid;

use probe::probe;

/// The indexes of this run. Scenarios share them: their tenants are fresh, and so all of them try isolation too.
static PREFIX: LazyLock<String> = LazyLock::new(|| format!("t{}", Uuid::now_v7().simple()));

async fn open(setting: &Setting) -> Result<Elastic> {
    let config = ElasticConfig::new(&setting.url)?.with_prefix(&PREFIX)?.with_refresh(Duration::from_millis(50));
    // The machine of a test may be busy with something else, or stop for many seconds.
    let patience = Duration::from_secs(60);
    Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await
}

async fn text(setting: Setting) -> Result<Texts> {
    Ok(Arc::new(ElasticText::open(&open(&setting).await?, &setting.analysis).await?))
}

async fn vectors(setting: Setting) -> Result<Vectors> {
    Ok(Arc::new(ElasticVectors::open(&open(&setting).await?, setting.space).await?))
}

fn main() -> ExitCode {
    Suite::new("elastic").service(Service::elastic(), probe).text(text).vectors(vectors).run()
}
