//! One SQLite file: everything but a cache.

use super::kind::{Holds, Kind};

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    schemes: &["sqlite"],
    holds: Holds::TRUTH_AND_INDEXES,
    is_server: false,
    #[cfg(feature = "sqlite")]
    open: Some(|url, wanted| Box::pin(file::open(url, wanted))),
    #[cfg(not(feature = "sqlite"))]
    open: None,
};

#[cfg(feature = "sqlite")]
mod file {
    use std::sync::Arc;

    use memory_core::{Result, Stores, Truth};
    use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};

    use crate::backend::kind::Wanted;
    use crate::backend::url;

    /// How a path ends whose file is to be read alone.
    const READ_ONLY: &str = "?mode=ro";

    pub(super) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        let path = url::file(url)?;
        let (path, is_read_only) = path.strip_suffix(READ_ONLY).map_or((path, false), |path| (path, true));
        let sqlite = Sqlite::connect(SqliteConfig::new(path).with_read_only(is_read_only)).await?;
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
