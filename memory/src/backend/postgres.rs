//! A Postgres server: everything but a cache.

use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_postgres::{PgChat, PgRecords, PgText, PgVectors, Postgres, PostgresConfig};

use super::{Opened, Wanted, url};

pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let (url, schema) = url::take(url, "schema");
    let mut config = PostgresConfig::new(&url)?;
    if let Some(schema) = schema {
        config = config.with_schema(&schema)?;
    }
    let server = Postgres::connect(config).await?;
    let mut opened = Opened::default();
    if wanted.truth {
        opened.chat = Some(Truth::chat(Arc::new(PgChat::new(&server))));
        opened.records = Some(Truth::records(Arc::new(PgRecords::new(&server))));
    }
    if let Some(analysis) = wanted.analysis {
        opened.text = Some(Arc::new(PgText::new(&server, analysis.name())));
    }
    if let Some(space) = wanted.space {
        opened.vectors = Some(Arc::new(PgVectors::open(&server, space.clone()).await?));
    }
    Ok(opened)
}
