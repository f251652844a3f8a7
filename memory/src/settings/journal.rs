//! The journal before conversations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(not(feature = "sqlite"))]
use memory_core::Error;
use memory_core::Result;
#[cfg(feature = "sqlite")]
use memory_core::secrets::without_secrets;
use memory_core::store::journal::Journal;

use super::Settings;
use super::keys::{TEXT, VECTORS};
use super::problem::{Problem, SettingsError};
use crate::backend::Backend;

impl Settings {
    /// Returns `Ok` if there is no journal, or one in a file of its own: in that of the truth or of an index, whichever is opened second
    /// would find it locked. [`Settings::connect`] asks this too. To read settings does not: whoever does without the journal is not stopped.
    ///
    /// # Errors
    /// What is wrong, and a remedy.
    pub fn check_journal(&self) -> std::result::Result<(), SettingsError> {
        let Some(path) = self.journal().map(located) else { return Ok(()) };
        let places = [self.truth(), self.values.text(&TEXT), self.values.text(&VECTORS)];
        if !places.into_iter().flatten().filter_map(Backend::file).any(|file| located(Path::new(file)) == path) {
            return Ok(());
        }
        let what = "the journal would be in the file of the database";
        let remedy = "name a file of its own by SESSION_BUFFER_PATH or journal.path";
        Err(SettingsError::new(vec![Problem::of_file(what, remedy)]))
    }
}

/// Returns where a file stands: without links, if it is there.
fn located(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

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
