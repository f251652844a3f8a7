//! A Postgres server: everything but a cache.

use super::kind::{Holds, Kind, Name};
use super::names::is_schema;

/// What URLs may say: how the server is used, where the tables are, and what the driver knows.
const PARAMETERS: &[&str] = &[
    "deadline",
    "pool",
    "schema",
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

const SCHEMA: Name = Name {
    parameter: "schema",
    is_legal: is_schema,
    rule: "schema has 1 to 63 lower-case ASCII letters, digits and _, and begins neither with a digit nor with pg_",
};

pub(super) const KIND: Kind = Kind {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    holds: Holds::TRUTH_AND_INDEXES,
    parameters: PARAMETERS,
    names: &[SCHEMA],
    is_server: true,
    #[cfg(feature = "postgres")]
    open: Some(|url, wanted| Box::pin(server::open(url, wanted))),
    #[cfg(not(feature = "postgres"))]
    open: None,
};

/// Returns the place that a URL names, whoever logs in; none for a URL that cannot be read.
#[cfg(all(feature = "postgres", feature = "sqlite"))]
pub(super) fn place(url: &str) -> Option<String> {
    server::config(url).ok().map(|(config, _)| config.place())
}

/// Returns none: nothing reads URLs of servers that cannot be opened.
#[cfg(all(not(feature = "postgres"), feature = "sqlite"))]
pub(super) fn place(_: &str) -> Option<String> {
    None
}

#[cfg(feature = "postgres")]
mod server {
    use std::sync::Arc;
    use std::time::Duration;

    use memory_core::{Result, Stores, Truth};
    use memory_postgres::{PgChat, PgRecords, PgText, PgVectors, Postgres, PostgresConfig};

    use crate::backend::kind::Wanted;
    use crate::backend::tuning::Tuning;
    use crate::backend::url;

    /// How long an attempt may take, within the usual deadline.
    const ATTEMPT: Duration = Duration::from_secs(3);

    /// Returns the configuration that a URL says, and how the server is used.
    pub(super) fn config(url: &str) -> Result<(PostgresConfig, Tuning)> {
        let (url, tuning) = Tuning::take(url)?;
        let (url, schema) = url::take(&url, "schema");
        let mut config = PostgresConfig::new(&url)?;
        if let Some(schema) = schema {
            config = config.with_schema(&schema)?;
        }
        Ok((config, tuning))
    }

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let (config, tuning) = config(url)?;
        let mut config = config.with_deadline(tuning.share(wanted.policy, ATTEMPT));
        if let Some(connections) = tuning.pool.and_then(|pool| u32::try_from(pool).ok()) {
            config = config.with_connections(connections);
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
