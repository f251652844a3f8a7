//! The journal before conversations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(not(feature = "sqlite"))]
use memory_core::Error;
use memory_core::Result;
#[cfg(feature = "sqlite")]
use memory_core::secrets::without_secrets;
use memory_core::store::journal::Journal;
#[cfg(feature = "sqlite")]
use memory_sqlite::{JournalConfig, SqliteJournal};

use super::Settings;
use super::key::Key;
use super::keys::{self, CACHE, ELASTIC_HOST, JOURNAL, QDRANT_URL, TEXT, VECTOR_SEARCH, VECTORS};
#[cfg(feature = "sqlite")]
use super::keys::{JOURNAL_BYTES, JOURNAL_MESSAGES};
use super::problem::{Problem, SettingsError};
use super::values::Values;
use crate::backend::Backend;

impl Settings {
    /// Refuses what is said of a journal, a cache or a server of indexes that no place names, and a journal in the file of the truth or
    /// of an index: whichever is opened second would find it locked. [`Settings::connect`] asks this too. To read settings does not:
    /// whoever does without the journal is not stopped, nor is anybody by a variable that is left over ([`Settings::idle_variable`]).
    ///
    /// # Errors
    /// What is wrong, and a remedy.
    pub fn check_places(&self) -> std::result::Result<(), SettingsError> {
        let said = |key: &&Key| self.values.has(key) && !self.values.is_ambient(key);
        if let Some((key, why, remedy)) = self.idle().find(|(key, ..)| said(key)) {
            let (what, remedy) =
                (format!("`{}` changes nothing: {why}", key.path), format!("{remedy}, or leave this out"));
            return Err(SettingsError::new(vec![Problem::of_file(what, remedy)]));
        }
        let Some(path) = self.journal().map(located) else { return Ok(()) };
        let places = [self.truth(), self.values.text(&TEXT), self.values.text(&VECTORS)];
        if !places.into_iter().flatten().filter_map(Backend::file).any(|file| located(Path::new(file)) == path) {
            return Ok(());
        }
        let what = "the journal would be in the file of the database";
        let remedy = "name a file of its own by SESSION_BUFFER_PATH or journal.path";
        Err(SettingsError::new(vec![Problem::of_file(what, remedy)]))
    }

    /// Returns the variable of the environment that says when a journal is emptied, where there is no journal: it changes nothing.
    pub fn idle_variable(&self) -> Option<&'static str> {
        let of_journal = self.idle().map(|(key, ..)| key).filter(|key| key.section() == JOURNAL.section());
        of_journal.filter(|key| self.values.is_ambient(key)).find_map(|key| key.variables.first().copied())
    }

    /// Returns what is said of a part that no place names, and how it is named. No journal was begun in a file of some default name:
    /// that would lie in whatever folder the program was started in, and what waits there is not found from another one.
    fn idle(&self) -> impl Iterator<Item = (&'static Key, &'static str, &'static str)> {
        let indexes = [&TEXT, &VECTORS].into_iter().filter_map(|key| Backend::of_no_place(self.values.text(key)?));
        // A memory without search by meaning may keep the section of its index.
        let is_off = self.values.flag(&VECTOR_SEARCH) == Some(false);
        let is_read = |section| is_off || indexes.clone().any(|index| index.name() == section);
        let has_journal = self.journal().is_some() || self.is_direct;
        let parts = [
            (&JOURNAL, has_journal, "there is no journal", "name its file by SESSION_BUFFER_PATH or journal.path"),
            (&CACHE, self.values.has(&CACHE), "there is no cache", "name it by MEMORY_CACHE_URL or cache.url"),
            (
                &ELASTIC_HOST,
                is_read("elastic"),
                "no index is `elastic:`",
                "say so by search.text_url or search.vectors_url",
            ),
            (&QDRANT_URL, is_read("qdrant"), "no index is `qdrant:`", "say so by search.vectors_url"),
        ];
        parts.into_iter().filter(|(_, is_used, ..)| !is_used).flat_map(|(part, _, why, remedy)| {
            let said = keys::all().filter(|key| key.section() == part.section() && self.values.has(key));
            said.map(move |key| (key, why, remedy))
        })
    }
}

/// Returns where a file stands: without links, if it is there.
fn located(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// Opens the journal in a file, if there is to be one, for the truth at a URL.
#[cfg(feature = "sqlite")]
pub(super) async fn open(path: Option<&Path>, truth: &str, values: &Values) -> Result<Option<Arc<dyn Journal>>> {
    let Some(path) = path else { return Ok(None) };
    let journal = SqliteJournal::connect(bounded(meant_for(path, truth), values)).await?;
    Ok(Some(Arc::new(journal)))
}

/// Returns the configuration of a journal in a file for the truth at a URL.
#[cfg(feature = "sqlite")]
fn meant_for(path: &Path, truth: &str) -> JournalConfig {
    let (config, name) = (JournalConfig::new(path), name_of(truth));
    match Backend::place(truth) {
        // Journals of earlier versions know it by its URL, which may be that of several, and one may have several.
        Some(place) => config.with_truth(place).with_former_truth(name),
        None => config.with_truth(name),
    }
}

/// Returns the configuration with the bounds that settings say.
#[cfg(feature = "sqlite")]
pub(super) fn bounded(config: JournalConfig, values: &Values) -> JournalConfig {
    let config = values.count(&JOURNAL_MESSAGES).into_iter().fold(config, JournalConfig::with_messages);
    values.whole(&JOURNAL_BYTES).into_iter().fold(config, JournalConfig::with_bytes)
}

/// Returns the name by which a journal knows the truth at a URL: a file may be named in several ways, and a password may change.
#[cfg(feature = "sqlite")]
fn name_of(truth: &str) -> String {
    let file = Backend::file(truth).and_then(|file| std::path::absolute(file).ok());
    file.map_or_else(|| without_secrets(truth), |file| file.to_string_lossy().into_owned())
}

#[cfg(feature = "sqlite")]
impl Settings {
    /// Returns the configuration of a journal in the file at `path` that is meant for the truth; none if no place is named for the
    /// truth.
    pub fn journal_config(&self, path: &Path) -> Option<JournalConfig> {
        self.truth().map(|truth| bounded(meant_for(path, truth), &self.values))
    }
}

#[cfg(not(feature = "sqlite"))]
pub(super) async fn open(path: Option<&Path>, _: &str, _: &Values) -> Result<Option<Arc<dyn Journal>>> {
    match path {
        Some(_) => {
            Err(Error::Unsupported { backend: "memory", what: "keep a journal: the feature sqlite is off".to_owned() })
        }
        None => Ok(None),
    }
}

#[cfg(test)]
#[cfg(all(feature = "postgres", feature = "sqlite"))]
mod tests {
    use memory_core::store::chat::{Append, NewMessage};
    use memory_core::{Message, Role, Scope, SessionId, Timestamp};

    use super::*;

    /// Opens the journal for a truth, and returns how many messages are in it.
    async fn count(path: &Path, truth: &str) -> Result<usize> {
        let journal = SqliteJournal::connect(Settings::new(truth).journal_config(path).unwrap()).await?;
        let count = journal.queued(None, None, usize::MAX).await?.len();
        journal.close().await.map(|()| count)
    }

    async fn fill(config: JournalConfig) {
        let (scope, session) = (Scope::new("acme", "ada").unwrap(), SessionId::new("monday").unwrap());
        let journal = SqliteJournal::connect(config).await.unwrap();
        let message = NewMessage::sized(Message::new(Role::User, "waits", Timestamp(0)), 1);
        journal.push(&scope, &session, &Append::new(vec![message])).await.unwrap();
        journal.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_journal_follows_its_database_and_not_its_url() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        fill(Settings::new("postgres://ada:secret@db:5432/memory?pool=4").journal_config(&path).unwrap()).await;
        for same in [
            "postgresql://bob@DB:5432/memory?sslmode=require",
            "postgres://db:5432/memory?schema=memory&deadline=9s",
            "postgres://elsewhere:5432/other?host=db&dbname=memory",
        ] {
            assert_eq!(count(&path, same).await.unwrap(), 1, "{same}");
        }
        for other in ["postgres://db:5432/other", "postgres://db:5432/memory?schema=x", "postgres://db:5433/memory"] {
            assert!(count(&path, other).await.is_err(), "{other}");
        }
    }

    #[tokio::test]
    async fn a_journal_of_an_earlier_version_is_opened_by_the_url_that_it_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.sqlite");
        fill(JournalConfig::new(&path).with_truth("postgres://db:5432/memory?schema=memory")).await;
        assert!(count(&path, "postgres://db:5432/memory").await.is_err());
        assert_eq!(count(&path, "postgres://ada@db:5432/memory?schema=memory").await.unwrap(), 1);
        assert_eq!(count(&path, "postgres://db:5432/memory").await.unwrap(), 1);
    }
}
