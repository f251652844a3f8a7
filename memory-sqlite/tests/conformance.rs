//! Every promise of the traits, tried on a SQLite file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use memory_core::{Error, Result, Truth};
use memory_sqlite::{
    JournalConfig, Sqlite, SqliteChat, SqliteConfig, SqliteJournal, SqliteRecords, SqliteText, SqliteVectors,
};
use memory_testkit::{Chat, Journals, Records, Setting, Suite, Texts, Vectors};

/// Opens the file of a setting. Opening it again is what a restart or a second process does.
async fn open(folder: &Path, setting: &Setting) -> Result<Sqlite> {
    Sqlite::connect(SqliteConfig::new(folder.join(&setting.name).with_extension("db"))).await
}

async fn chat(folder: PathBuf, setting: Setting) -> Result<Chat> {
    Ok(Truth::chat(Arc::new(SqliteChat::new(&open(&folder, &setting).await?))))
}

async fn records(folder: PathBuf, setting: Setting) -> Result<Records> {
    Ok(Truth::records(Arc::new(SqliteRecords::new(&open(&folder, &setting).await?))))
}

async fn text(folder: PathBuf, setting: Setting) -> Result<Texts> {
    Ok(Arc::new(SqliteText::new(&open(&folder, &setting).await?, &setting.analysis)))
}

async fn vectors(folder: PathBuf, setting: Setting) -> Result<Vectors> {
    Ok(Arc::new(SqliteVectors::new(&open(&folder, &setting).await?, setting.space)))
}

/// Opens a journal. The task that had it before closes it when the last handle is dropped, which takes a moment.
async fn journal(folder: PathBuf, setting: Setting) -> Result<Journals> {
    let path = folder.join(&setting.name).with_extension("journal");
    loop {
        match SqliteJournal::connect(JournalConfig::new(&path).with_messages(setting.capacity)).await {
            Err(Error::Unsupported { what, .. }) if what.contains("another process") => tokio::task::yield_now().await,
            opened => return Ok(Arc::new(opened?)),
        }
    }
}

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else { return ExitCode::FAILURE };
    let at = |folder: &Path| folder.to_owned();
    let [first, second, third, fourth, fifth] = [(); 5].map(|()| at(folder.path()));
    Suite::new("sqlite")
        .chat(move |setting| chat(first.clone(), setting))
        .records(move |setting| records(second.clone(), setting))
        .text(move |setting| text(third.clone(), setting))
        .vectors(move |setting| vectors(fourth.clone(), setting))
        .journal(move |setting| journal(fifth.clone(), setting))
        .run()
}
