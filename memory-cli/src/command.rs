//! The commands, one file each, and what they have in common.

mod chat;
mod context;
mod demo;
mod eval;
mod export;
mod forget;
mod import;
mod indexes;
mod moving;
mod remember;
mod search;
mod sessions;
mod stats;

use memory::{Memory, Scope, Scoped, SessionId};
use tokio::sync::OnceCell;

use crate::cli::{Cli, Command, Global};
use crate::config::{Database, SESSION, owner};
use crate::failure::{Failure, Outcome};
use crate::output::{Output, say};

/// What a command was called with.
#[derive(Debug)]
pub(crate) struct Call {
    global: Global,
    /// The database was named on the command line, not by the environment.
    names_database: bool,
    /// The command stores something, so that it may begin a database.
    stores: bool,
    /// What the command has opened, to be closed at its end however it ends.
    opened: OnceCell<Memory>,
}

impl Call {
    /// Returns the owner.
    pub(crate) fn owner(&self) -> Result<Scope, Failure> {
        owner(self.global.tenant.as_deref(), self.global.subject.as_deref())
    }

    /// Returns the owner if there is one.
    pub(crate) fn owner_if_named(&self) -> Result<Option<Scope>, Failure> {
        match (&self.global.tenant, &self.global.subject) {
            (None, None) => Ok(None),
            _ => self.owner().map(Some),
        }
    }

    /// Returns the database.
    pub(crate) fn database(&self) -> Result<Database, Failure> {
        match &self.global.db {
            Some(place) => Database::at(&place.0),
            None => Database::in_data_folder("memory.sqlite"),
        }
    }

    /// Opens the memory of the owner. Who is meant is asked first, so that a wrong call makes no file.
    pub(crate) async fn open(&self) -> Result<(Memory, Scoped), Failure> {
        self.open_for(None).await
    }

    /// Opens the memory of the owner for a model that reads so many tokens: longer conversations are summarised.
    pub(crate) async fn open_for(&self, tokens: Option<u64>) -> Result<(Memory, Scoped), Failure> {
        let owner = self.owner()?;
        let memory = self.open_database(&self.database()?, tokens).await?;
        let scoped = memory.of(&owner);
        Ok((memory, scoped))
    }

    /// Opens a database, for a model that reads so many tokens if they are given.
    pub(crate) async fn open_database(&self, database: &Database, tokens: Option<u64>) -> Result<Memory, Failure> {
        // A name mistyped would be answered by nothing found.
        if self.global.db.is_some() && !self.stores {
            database.must_be_there()?;
        }
        let open = || async { database.open(tokens, self.global.embedder).await };
        self.opened.get_or_try_init(open).await.cloned()
    }

    /// Keeps a memory that was opened otherwise, to be closed at the end.
    pub(crate) async fn hold(&self, memory: Memory) -> Memory {
        self.opened.get_or_init(|| async { memory }).await.clone()
    }

    /// Closes what was opened, so that the database is one file again.
    async fn close(&self) {
        let Some(memory) = self.opened.get() else { return };
        if let Err(error) = memory.close().await {
            say(&format!("warning: the database was not closed: {}", error.with_causes()));
        }
    }

    /// Returns the session's name.
    pub(crate) fn session_name(&self) -> &str {
        self.global.session.as_deref().unwrap_or(SESSION)
    }

    /// Returns the session.
    pub(crate) fn session(&self) -> Result<SessionId, Failure> {
        Ok(SessionId::new(self.session_name())?)
    }

    /// Returns the session if the caller named one.
    pub(crate) fn named_session(&self) -> Result<Option<SessionId>, Failure> {
        Ok(self.global.session.as_deref().map(SessionId::new).transpose()?)
    }
}

/// Runs what the command line asks for.
pub(crate) async fn run(cli: Cli, names_database: bool, output: &mut Output) -> Result<Outcome, Failure> {
    let stores = cli.command.stores();
    let call = Call { global: cli.global, names_database, stores, opened: OnceCell::new() };
    let outcome = if matches!(cli.command, Command::Import(_) | Command::Chat(_)) {
        // They have their own way of being stopped.
        dispatch(&cli.command, &call, output).await
    } else {
        tokio::select! {
            // The command first: a question on the terminal, asked before anything is awaited, is stopped as usual.
            biased;
            outcome = dispatch(&cli.command, &call, output) => outcome,
            _ = tokio::signal::ctrl_c() => Ok(Outcome::Interrupted),
        }
    };
    call.close().await;
    output.flush()?;
    outcome
}

async fn dispatch(command: &Command, call: &Call, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Demo => demo::run(call, output).await,
        Command::Import(args) => import::run(call, args, output).await,
        Command::Context(args) => context::run(call, args, output).await,
        Command::Search(args) => search::run(call, args, output).await,
        Command::Remember(args) => remember::run(call, args, output).await,
        Command::Forget(args) => forget::run(call, args, output).await,
        Command::Sessions => sessions::run(call, output).await,
        Command::Stats => stats::run(call, output).await,
        Command::Reindex(args) => indexes::reindex(call, args, output).await,
        Command::Retire(args) => indexes::retire(call, args, output).await,
        Command::Export => export::run(call, output).await,
        Command::Move(args) => moving::run(call, args, output).await,
        Command::Eval(args) => eval::run(call, args, output).await,
        Command::Chat(args) => chat::run(call, args, output).await,
    }
}
