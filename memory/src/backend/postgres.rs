//! A Postgres server: everything but a cache.

use super::kind::{Holds, Kind};

pub(super) const KIND: Kind = Kind {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    holds: Holds::TRUTH_AND_INDEXES,
    is_server: true,
    #[cfg(feature = "postgres")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "postgres"))]
    open: None,
};

#[cfg(feature = "postgres")]
mod server {
    use std::sync::Arc;

    use memory_core::{Result, Stores, Truth};
    use memory_postgres::{PgChat, PgRecords, PgText, PgVectors, Postgres, PostgresConfig};

    use crate::backend::kind::Wanted;
    use crate::backend::url;

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (url, schema) = url::take(url, "schema");
        let mut config = PostgresConfig::new(&url)?;
        if let Some(schema) = schema {
            config = config.with_schema(&schema)?;
        }
        let server = Postgres::connect(config).await?;
        let mut stores = Stores::default();
        if wanted.truth {
            stores.chat = Some(Truth::chat(Arc::new(PgChat::new(&server))));
            stores.records = Some(Truth::records(Arc::new(PgRecords::new(&server))));
        }
        if let Some(analysis) = wanted.analysis {
            stores.text = Some(Arc::new(PgText::new(&server, analysis.name())));
        }
        for embedder in wanted.embedders {
            let store = PgVectors::open(&server, embedder.space().clone()).await?;
            stores.vectors.push((Arc::new(store), Arc::clone(embedder)));
        }
        Ok(stores)
    }
}
