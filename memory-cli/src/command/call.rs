//! What a command was called with, and what it has opened.

use memory::window::CounterKind;
use memory::{Memory, Scope, Scoped, SessionId, Settings};
use tokio::sync::OnceCell;

use crate::cli::{DatabaseUrl, Global, Named};
use crate::config::{COUNTER, Database, Finding, Reader, SESSION, owner};
use crate::embedding::Embedding;
use crate::failure::Failure;
use crate::output::say;

/// The subject that means every one, in tokens.
pub(super) const EVERY: &str = "*";

/// What a command was called with.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) global: Global,
    /// What was named on the command line, not by the environment.
    pub(super) named: Named,
    /// What the file of settings says, if there is one.
    pub(super) settings: Settings,
    /// The command stores something, so that it may begin a database.
    stores: bool,
    /// What the command has opened, to be closed at its end however it ends.
    opened: OnceCell<Memory>,
}

/// Returns what the file of settings says, if there is one.
pub(super) fn settings(global: &Global) -> Result<Settings, Failure> {
    let Some(file) = &global.config else { return Ok(Settings::default()) };
    Settings::from_file(file).map_err(|error| {
        let more = format!("all of it: memory config check {}", file.display());
        Failure::Usage(format!("{}; {more}", memory::Error::from(error)))
    })
}

impl Call {
    /// Returns the call, with what the settings say where the command line says nothing.
    pub(super) fn new(mut global: Global, named: Named, settings: Settings, stores: bool) -> Self {
        if let Some(truth) = settings.truth().filter(|_| !named.database) {
            global.db = Some(DatabaseUrl(truth.to_owned()));
        }
        if settings.names_embedder() && !named.embedder {
            global.embedder = None;
        }
        Self { global, named, settings, stores, opened: OnceCell::new() }
    }

    /// Returns the file of the journal.
    pub(super) fn journal(&self) -> Option<std::path::PathBuf> {
        self.settings.clone().or_env().journal().map(std::path::Path::to_owned)
    }

    /// Returns the configuration of a journal in a file that is meant for the database.
    #[cfg(feature = "sqlite")]
    pub(super) fn journal_config(
        &self,
        path: &std::path::Path,
    ) -> Result<Option<memory::sqlite::JournalConfig>, Failure> {
        Ok(self.database()?.settings().journal_config(path))
    }

    /// Returns the owner.
    pub(super) fn owner(&self) -> Result<Scope, Failure> {
        owner(self.global.tenant.as_deref(), self.global.subject.as_deref())
    }

    /// Returns the owner if there is one.
    pub(super) fn owner_if_named(&self) -> Result<Option<Scope>, Failure> {
        match (&self.global.tenant, &self.global.subject) {
            (None, None) => Ok(None),
            _ => self.owner().map(Some),
        }
    }

    /// Returns the database.
    pub(super) fn database(&self) -> Result<Database, Failure> {
        Ok(match &self.global.db {
            // Not the file in the data folder: what is meant for a server would be written to it.
            Some(place) if place.0.trim().is_empty() && !self.named.database => {
                Err(Failure::Usage("MEMORY_URL is set to nothing: name a database, or unset it".to_owned()))
            }
            Some(place) => Database::at(&place.0),
            None => Database::in_data_folder("memory.sqlite"),
        }?
        .by(&self.settings))
    }

    /// Refuses a database that is named and is not there, unless the command may begin one: a name mistyped would be answered by nothing
    /// found.
    pub(super) fn must_be_there(&self, database: &Database) -> Result<(), Failure> {
        if self.global.db.is_some() && !self.stores { database.must_be_there() } else { Ok(()) }
    }

    /// Opens the memory of the owner. Who is meant is asked first, so that a wrong call makes no file.
    pub(super) async fn open(&self) -> Result<(Memory, Scoped), Failure> {
        self.open_for(None).await
    }

    /// Opens the memory of the owner for a model, if one is given: longer conversations are summarised.
    pub(super) async fn open_for(&self, reader: Option<Reader>) -> Result<(Memory, Scoped), Failure> {
        self.open_counted(reader, COUNTER).await
    }

    /// Opens the memory of the owner with a counter of the caller's choice.
    pub(super) async fn open_counted(
        &self,
        reader: Option<Reader>,
        counter: CounterKind,
    ) -> Result<(Memory, Scoped), Failure> {
        let owner = self.owner()?;
        if self.stores && owner.subject() == EVERY {
            let what =
                "no owner is called *: it means every subject in `memory token new`, so no token could name this one";
            return Err(Failure::Usage(what.to_owned()));
        }
        let memory = self.open_database(&self.database()?.counted_by(counter), reader).await?;
        let scoped = memory.of(&owner);
        Ok((memory, scoped))
    }

    /// Opens a database, for a model if one is given.
    pub(super) async fn open_database(&self, database: &Database, reader: Option<Reader>) -> Result<Memory, Failure> {
        self.open_embedded(database, reader, self.global.embedder.as_ref()).await
    }

    /// Opens a database with the embedder wished.
    pub(super) async fn open_embedded(
        &self,
        database: &Database,
        reader: Option<Reader>,
        wished: Option<&Embedding>,
    ) -> Result<Memory, Failure> {
        self.must_be_there(database)?;
        let open = || async { database.open(reader, wished).await };
        self.opened.get_or_try_init(open).await.cloned()
    }

    /// Opens the database, and finds facts or not.
    pub(super) async fn open_finding(&self, finding: Finding) -> Result<Memory, Failure> {
        let database = self.database()?;
        self.must_be_there(&database)?;
        let open = || async { database.open_finding(finding).await };
        self.opened.get_or_try_init(open).await.cloned()
    }

    /// Keeps a memory that was opened otherwise, to be closed at the end.
    pub(super) async fn hold(&self, memory: Memory) -> Memory {
        self.opened.get_or_init(|| async { memory }).await.clone()
    }

    /// Closes what was opened, so that the database is one file again.
    pub(super) async fn close(&self) {
        let Some(memory) = self.opened.get() else { return };
        if let Err(error) = memory.close().await {
            say(&format!("warning: the database was not closed: {}", error.with_causes()));
        }
    }

    /// Returns the session's name.
    pub(super) fn session_name(&self) -> &str {
        self.global.session.as_deref().unwrap_or(SESSION)
    }

    /// Returns the session.
    pub(super) fn session(&self) -> Result<SessionId, Failure> {
        Ok(SessionId::new(self.session_name())?)
    }

    /// Returns the session if the caller named one.
    pub(super) fn named_session(&self) -> Result<Option<SessionId>, Failure> {
        Ok(self.global.session.as_deref().map(SessionId::new).transpose()?)
    }
}
