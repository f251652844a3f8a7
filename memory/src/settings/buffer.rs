//! The settings of a journal before conversations.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::layer::WriteBehindPolicy;
#[cfg(feature = "sqlite")]
use memory_core::secrets::without_secrets;
use memory_core::store::journal::Journal;
use memory_core::{Error, Result};

#[cfg(feature = "sqlite")]
use crate::backend::Backend;

/// The variables that are read.
pub(super) const PATH: &str = "SESSION_BUFFER_PATH";
pub(super) const BATCH: &str = "SESSION_FLUSH_BATCH";
pub(super) const SIZE: &str = "SESSION_BUFFER_SIZE";
pub(super) const SECONDS: &str = "SESSION_FLUSH_SECONDS";

/// Where a journal is, and when what waits in it goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    pub(super) path: Option<PathBuf>,
    pub(super) batch: Option<usize>,
    pub(super) age: Option<Duration>,
    /// What was wrong with the environment, told when the stores are opened.
    wrong: Option<String>,
}

impl Buffer {
    /// Takes from the environment what was not said.
    pub(super) fn or_values(mut self, value: impl Fn(&str) -> Option<String>) -> Self {
        self.path = self.path.or_else(|| value(PATH).map(PathBuf::from));
        match (self.batch, value(BATCH), value(SIZE)) {
            (None, Some(batch), Some(size)) if batch.trim() != size.trim() => {
                self.wrong = Some(format!("{SIZE} is another name of {BATCH}, and they differ"));
            }
            (None, Some(text), _) => self.batch = self.number(BATCH, &text),
            (None, None, Some(text)) => self.batch = self.number(SIZE, &text),
            _ => {}
        }
        if let (None, Some(text)) = (self.age, value(SECONDS)) {
            let seconds = text.trim().parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            self.age = seconds;
            if seconds.is_none() {
                self.wrong = Some(format!("{SECONDS} must be a number of seconds"));
            }
        }
        self
    }

    fn number(&mut self, name: &str, text: &str) -> Option<usize> {
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        if number.is_none() {
            self.wrong = Some(format!("{name} must be a number of messages, at least 1"));
        }
        number
    }

    /// Returns when what waits goes on.
    ///
    /// # Errors
    /// `Invalid` for a variable that is none of what it may be.
    pub(super) fn policy(&self) -> Result<WriteBehindPolicy> {
        if let Some(wrong) = &self.wrong {
            return Err(Error::invalid(wrong.as_str()));
        }
        let policy = WriteBehindPolicy::default();
        let policy = self.batch.map_or(policy, |batch| policy.with_batch(batch));
        Ok(self.age.map_or(policy, |age| policy.with_age(age)))
    }

    /// Opens the journal, if there is to be one, for the truth at a URL.
    #[cfg(feature = "sqlite")]
    pub(super) async fn open(&self, truth: &str) -> Result<Option<Arc<dyn Journal>>> {
        let Some(path) = &self.path else { return Ok(None) };
        // A file may be named in several ways; a password may change.
        let file = Backend::file(truth).and_then(|file| std::path::absolute(file).ok());
        let name = file.map_or_else(|| without_secrets(truth), |file| file.to_string_lossy().into_owned());
        let config = memory_sqlite::JournalConfig::new(path).with_truth(name);
        let journal = memory_sqlite::SqliteJournal::connect(config).await?;
        Ok(Some(Arc::new(journal)))
    }

    #[cfg(not(feature = "sqlite"))]
    pub(super) async fn open(&self, _: &str) -> Result<Option<Arc<dyn Journal>>> {
        match self.path {
            Some(_) => Err(Error::Unsupported {
                backend: "memory",
                what: "keep a journal: the feature sqlite is off".to_owned(),
            }),
            None => Ok(None),
        }
    }
}
