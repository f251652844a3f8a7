//! One SQLite file: everything but a cache.

use super::kind::{Holds, Kind, Name};

/// What is wrong with another mode.
const MODE: &str = "mode is ro: the file is only read";

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    schemes: &["sqlite"],
    holds: Holds::TRUTH_AND_INDEXES,
    parameters: &["deadline", "mode", "pool"],
    names: &[Name { parameter: "mode", is_legal: |mode| mode == "ro", rule: MODE }],
    is_server: false,
    #[cfg(feature = "sqlite")]
    open: Some(|url, wanted| Box::pin(file::open(url, wanted))),
    #[cfg(not(feature = "sqlite"))]
    open: None,
};

#[cfg(feature = "sqlite")]
mod file {
    use std::sync::Arc;

    use memory_core::{Error, Result, Stores, Truth};
    use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};

    use crate::backend::kind::Wanted;
    use crate::backend::tuning::Tuning;
    use crate::backend::url;

    /// Returns how the file is used.
    fn configured(url: &str) -> Result<SqliteConfig> {
        let parameters = url::query(url).map_or_else(String::new, |(_, query)| format!("?{query}"));
        let (parameters, tuning) = Tuning::take(&parameters)?;
        let (_, mode) = url::take(&parameters, "mode");
        let is_read_only = match mode.as_deref() {
            None => false,
            Some("ro") => true,
            Some(_) => return Err(Error::invalid(super::MODE)),
        };
        let config = SqliteConfig::new(url::file(url)?).with_read_only(is_read_only);
        let config = if let Some(pool) = tuning.pool { config.with_readers(pool) } else { config };
        Ok(if let Some(deadline) = tuning.deadline { config.with_patience(deadline) } else { config })
    }

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let sqlite = Sqlite::connect(configured(url)?).await?;
        let mut stores = Stores::default();
        if wanted.truth {
            stores.chat = Some(Truth::chat(Arc::new(SqliteChat::new(&sqlite))));
            stores.records = Some(Truth::records(Arc::new(SqliteRecords::new(&sqlite))));
        }
        if let Some(analysis) = wanted.analysis {
            stores.text = Some(Arc::new(SqliteText::new(&sqlite, analysis.name())));
        }
        for embedder in wanted.embedders {
            stores
                .vectors
                .push((Arc::new(SqliteVectors::new(&sqlite, embedder.space().clone())), Arc::clone(embedder)));
        }
        Ok(stores)
    }
}
