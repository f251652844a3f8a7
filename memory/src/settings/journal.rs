//! The journal before conversations.

use std::path::Path;
use std::sync::Arc;

#[cfg(not(feature = "sqlite"))]
use memory_core::Error;
use memory_core::Result;
#[cfg(feature = "sqlite")]
use memory_core::secrets::without_secrets;
use memory_core::store::journal::Journal;

#[cfg(feature = "sqlite")]
use crate::backend::Backend;

/// Opens the journal in a file, if there is to be one, for the truth at a URL.
#[cfg(feature = "sqlite")]
pub(super) async fn open(path: Option<&Path>, truth: &str) -> Result<Option<Arc<dyn Journal>>> {
    let Some(path) = path else { return Ok(None) };
    // A file may be named in several ways; a password may change.
    let file = Backend::file(truth).and_then(|file| std::path::absolute(file).ok());
    let name = file.map_or_else(|| without_secrets(truth), |file| file.to_string_lossy().into_owned());
    let config = memory_sqlite::JournalConfig::new(path).with_truth(name);
    let journal = memory_sqlite::SqliteJournal::connect(config).await?;
    Ok(Some(Arc::new(journal)))
}

#[cfg(not(feature = "sqlite"))]
pub(super) async fn open(path: Option<&Path>, _: &str) -> Result<Option<Arc<dyn Journal>>> {
    match path {
        Some(_) => {
            Err(Error::Unsupported { backend: "memory", what: "keep a journal: the feature sqlite is off".to_owned() })
        }
        None => Ok(None),
    }
}
