//! Conversations in one SQLite file behind a journal in another.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory_core::{Error, Result, Truth};
use memory_sqlite::{JournalConfig, Sqlite, SqliteChat, SqliteConfig, SqliteJournal};
use memory_testkit::{Chat, Journals, Setting, Suite};

async fn chat(folder: PathBuf, setting: Setting) -> Result<Chat> {
    let file = Sqlite::connect(SqliteConfig::new(folder.join(&setting.name).with_extension("db"))).await?;
    Ok(Truth::chat(Arc::new(SqliteChat::new(&file))))
}

/// How often a journal is tried that an earlier process may be about to let go of.
const TRIES: usize = 200;

/// Opens the journal of a process: the one that an earlier process has let go of, or one of its own.
async fn journal(folder: PathBuf, setting: Setting) -> Result<Journals> {
    for attempt in 0.. {
        let path = folder.join(format!("{}-{}.journal", setting.name, attempt / TRIES));
        match SqliteJournal::connect(JournalConfig::new(path)).await {
            Err(Error::Unsupported { .. }) => tokio::time::sleep(Duration::from_millis(1)).await,
            opened => return Ok(Arc::new(opened?)),
        }
    }
    Err(Error::QueueFull)
}

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else { return ExitCode::FAILURE };
    let [first, second] = [(); 2].map(|()| folder.path().to_owned());
    let chat = move |setting| chat(first.clone(), setting);
    let queued = "an append answers Queued: the primary numbers it later";
    Suite::new("sqlite-behind")
        .behind(chat, move |setting| journal(second.clone(), setting))
        .gap("chat::a_restart_keeps_conversations", queued)
        .gap("chat::a_restart_keeps_forgotten_ids_taken", queued)
        .run()
}
