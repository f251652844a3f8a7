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
use super::Settings;
#[cfg(feature = "sqlite")]
use crate::backend::Backend;

/// Opens the journal in a file, if there is to be one, for the truth at a URL.
#[cfg(feature = "sqlite")]
pub(super) async fn open(path: Option<&Path>, truth: &str) -> Result<Option<Arc<dyn Journal>>> {
    let Some(path) = path else { return Ok(None) };
    let config = memory_sqlite::JournalConfig::new(path).with_truth(name_of(truth));
    let journal = memory_sqlite::SqliteJournal::connect(config).await?;
    Ok(Some(Arc::new(journal)))
}

/// Returns the name by which a journal knows the truth at a URL: a file may be named in several ways, and a password may change.
#[cfg(feature = "sqlite")]
fn name_of(truth: &str) -> String {
    let file = Backend::file(truth).and_then(|file| std::path::absolute(file).ok());
    file.map_or_else(|| without_secrets(truth), |file| file.to_string_lossy().into_owned())
}

#[cfg(feature = "sqlite")]
impl Settings {
    /// Returns the name by which the journal knows the truth, for [`JournalConfig::with_truth`](memory_sqlite::JournalConfig::with_truth);
    /// none if no place is named for the truth.
    pub fn journal_truth(&self) -> Option<String> {
        self.truth().map(name_of)
    }
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
