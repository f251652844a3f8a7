//! Every promise of the traits, tried on a SQLite file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};
use memory_testkit::{Chat, Records, Setting, Suite, Texts, Vectors};

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

fn main() -> ExitCode {
    let Ok(folder) = tempfile::tempdir() else { return ExitCode::FAILURE };
    let at = |folder: &Path| folder.to_owned();
    let [first, second, third, fourth] = [(); 4].map(|()| at(folder.path()));
    Suite::new("sqlite")
        .chat(move |setting| chat(first.clone(), setting))
        .records(move |setting| records(second.clone(), setting))
        .text(move |setting| text(third.clone(), setting))
        .vectors(move |setting| vectors(fourth.clone(), setting))
        .run()
}
