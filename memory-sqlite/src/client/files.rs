//! Files whose rights or place others change, and files that may not be written.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use memory_core::analysis::{Analysis, Language};
use memory_core::engine::{Memory, Remember, Search};
use memory_core::store::Store as _;
use memory_core::{Error, Message, Result, Role, Scope, SessionId, Timestamp, Truth};
use tempfile::TempDir;

use crate::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText};

/// A folder with a database, and how to open it.
fn place() -> (TempDir, SqliteConfig) {
    let folder = tempfile::tempdir().unwrap();
    let config = SqliteConfig::new(folder.path().join("memory.db"));
    (folder, config)
}

async fn memory(config: &SqliteConfig, language: Language) -> Result<Memory> {
    let (file, analysis) = (Sqlite::connect(config.clone()).await?, Analysis::of(language));
    let truth = (Truth::chat(Arc::new(SqliteChat::new(&file))), Truth::records(Arc::new(SqliteRecords::new(&file))));
    let text = Arc::new(SqliteText::new(&file, analysis.name()));
    Memory::builder(truth.0, truth.1).text(text).analysis(analysis).build().await
}

async fn open(config: &SqliteConfig) -> Memory {
    memory(config, Language::English).await.unwrap()
}

async fn say(memory: &Memory, text: &str) -> Result<()> {
    let session = memory.of(&Scope::new("acme", "ada")?).session(&SessionId::new("s")?);
    session.append(vec![Message::new(Role::User, text, Timestamp(0))]).await?;
    Ok(())
}

/// Returns how many messages are found by a word.
async fn found(memory: &Memory, word: &str) -> Result<usize> {
    let found = memory.of(&Scope::new("acme", "ada")?).search(&Search::new(word)).await?;
    match found.receipt.degraded.first() {
        Some(degraded) => Err(Error::invalid(degraded.why.clone())),
        None => Ok(found.hits.len()),
    }
}

/// Makes a database in which somebody drinks tea, and closes it.
async fn tea(config: &SqliteConfig) {
    let memory = open(config).await;
    say(&memory, "I drink tea").await.unwrap();
    memory.upkeep_once().await.unwrap();
    memory.close().await.unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[cfg(unix)]
fn modes(folder: &Path) -> Vec<(String, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = |name: &String| fs::metadata(folder.join(name)).unwrap().mode() & 0o777;
    names(folder).into_iter().map(|name| (name.clone(), mode(&name))).collect()
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn what_others_could_read_is_closed_to_them_unless_it_is_shared_on_purpose() {
    let (folder, config) = place();
    let all = |mode: u32| ["memory.db", "memory.db-shm", "memory.db-wal"].map(|name| (name.to_owned(), mode)).to_vec();
    tea(&config).await;
    set_mode(&config.path, 0o664);
    let shared = open(&config.clone().with_private(false)).await;
    say(&shared, "more tea").await.unwrap();
    assert_eq!(modes(folder.path()), all(0o664));
    let private = open(&config).await;
    assert_eq!(modes(folder.path()), all(0o600));
    say(&private, "still more").await.unwrap();
    say(&shared, "and more").await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_of_another_application_keeps_its_rights() {
    let (folder, config) = place();
    fs::write(&config.path, [7; 8_192]).unwrap();
    set_mode(&config.path, 0o644);
    assert!(Sqlite::connect(config).await.is_err());
    assert_eq!(modes(folder.path()), [("memory.db".to_owned(), 0o644)]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_leads_nowhere_leads_to_a_private_file_afterwards() {
    let (folder, config) = place();
    let real = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(real.path().join("real.db"), &config.path).unwrap();
    let memory = open(&config).await;
    say(&memory, "tea").await.unwrap();
    assert!(modes(real.path()).iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes(real.path()));
    assert_eq!((names(folder.path()).len(), names(real.path()).len()), (1, 3));
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_acknowledged_once_another_file_stands_in_its_place_or_none() {
    for is_replaced in [true, false] {
        let (_folder, config) = place();
        let (_elsewhere, other) = place();
        tea(&other).await;
        let memory = open(&config).await;
        say(&memory, "I drink coffee").await.unwrap();
        memory.upkeep_once().await.unwrap();
        assert_eq!(found(&memory, "coffee").await.unwrap(), 1);
        match is_replaced {
            true => fs::rename(&other.path, &config.path).unwrap(),
            false => fs::remove_file(&config.path).unwrap(),
        }
        let refused = [say(&memory, "lost").await.unwrap_err(), found(&memory, "coffee").await.unwrap_err()];
        for error in &refused {
            assert!(!error.is_retryable() && error.with_causes().contains("open it again"), "{error:?}");
        }
        memory.close().await.unwrap_or_default();
        assert!(say(&memory, "lost").await.is_err(), "what was closed is opened again only by another call of connect");
        if is_replaced {
            fs::remove_file(config.path.with_extension("db-wal")).unwrap_or_default();
            let again = open(&config).await;
            assert_eq!((found(&again, "tea").await.unwrap(), found(&again, "coffee").await.unwrap()), (1, 0));
        }
    }
}

#[tokio::test]
async fn a_file_opened_for_reading_alone_is_searched_and_takes_no_write() {
    let (folder, config) = place();
    tea(&config).await;
    let before = fs::read(&config.path).unwrap();
    let reading = config.clone().with_read_only(true);
    let memory = open(&reading).await;
    assert_eq!(found(&memory, "tea").await.unwrap(), 1);
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let refused = [
        say(&memory, "no").await.unwrap_err(),
        ada.remember(Remember::fact("no")).await.map(drop).unwrap_err(),
        memory.upkeep_once().await.map(drop).unwrap_err(),
        Sqlite::connect(reading.clone()).await.unwrap().purge().await.map(drop).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| matches!(error, Error::ReadOnly { .. })), "{refused:?}");
    let file = Sqlite::connect(reading).await.unwrap();
    assert!(SqliteChat::new(&file).ping().await.unwrap().is_read_only);
    memory.close().await.unwrap();
    assert_eq!((names(folder.path()), fs::read(&config.path).unwrap()), (vec!["memory.db".to_owned()], before));
    assert!(Sqlite::connect(SqliteConfig::new(folder.path().join("none.db")).with_read_only(true)).await.is_err());
}

#[tokio::test]
async fn an_index_that_a_file_opened_for_reading_alone_lacks_is_told() {
    let (_folder, config) = place();
    tea(&config).await;
    let memory = memory(&config.with_read_only(true), Language::German).await.unwrap();
    let error = found(&memory, "tea").await.unwrap_err();
    assert!(error.to_string().contains("opened for reading alone"), "{error}");
    assert!(memory.status().await.indexes.iter().all(|index| index.backlog.is_err()));
}

#[tokio::test]
async fn who_reads_beside_a_writer_reads_its_log_too() {
    let (_folder, config) = place();
    let writer = open(&config).await;
    say(&writer, "I drink tea").await.unwrap();
    writer.upkeep_once().await.unwrap();
    let reader = open(&config.with_read_only(true)).await;
    assert_eq!(found(&reader, "tea").await.unwrap(), 1);
    say(&writer, "More tea, please").await.unwrap();
    writer.upkeep_once().await.unwrap();
    assert_eq!(found(&reader, "tea").await.unwrap(), 2);
}

/// Copies a file with its log to where no index of the log can be made: SQLite follows no link there.
#[cfg(unix)]
async fn without_index(keeps_log: bool) -> (TempDir, SqliteConfig) {
    let (_origin, config) = place();
    let (folder, copy) = place();
    let memory = open(&config).await;
    say(&memory, "I drink tea").await.unwrap();
    memory.upkeep_once().await.unwrap();
    let log = |config: &SqliteConfig| config.path.with_extension("db-wal");
    if keeps_log {
        fs::copy(log(&config), log(&copy)).unwrap();
    } else {
        memory.close().await.unwrap();
        fs::write(log(&copy), b"").unwrap();
    }
    fs::copy(&config.path, &copy.path).unwrap();
    std::os::unix::fs::symlink("nowhere", copy.path.with_extension("db-shm")).unwrap();
    (folder, copy.with_read_only(true))
}

#[cfg(unix)]
#[tokio::test]
async fn a_log_that_holds_something_is_never_passed_over() {
    let (_folder, config) = without_index(true).await;
    let refused = Sqlite::connect(config).await.map(drop);
    assert!(matches!(&refused, Err(Error::Unsupported { .. })), "{refused:?}");
    let (_folder, config) = without_index(false).await;
    assert_eq!(found(&open(&config).await, "tea").await.unwrap(), 1);
}

#[tokio::test]
async fn a_write_of_somebody_else_is_noticed_by_who_reads_without_a_log() {
    let (_folder, config) = place();
    tea(&config).await;
    let reading = config.clone().with_read_only(true);
    let (reader, writer) = (open(&reading).await, open(&config).await);
    assert_eq!(found(&reader, "tea").await.unwrap(), 1);
    say(&writer, "More tea, please").await.unwrap();
    let error = found(&reader, "tea").await.unwrap_err();
    assert!(error.with_causes().contains("open it again"), "{error:?}");
    writer.upkeep_once().await.unwrap();
    assert_eq!(found(&open(&reading).await, "tea").await.unwrap(), 2);
}

#[tokio::test]
async fn tables_of_an_older_version_are_not_read_where_they_cannot_be_brought_up_to_date() {
    let (_folder, config) = place();
    tea(&config).await;
    let mut connection = super::connect::writer(&config).await.unwrap();
    sqlx::query("PRAGMA user_version = 1").execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let refused = Sqlite::connect(config.with_read_only(true)).await.map(drop);
    assert!(matches!(&refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

/// Copies a file with its log and the index of that, which others may read and nobody may write: as a process leaves them that read
/// the file while it might not be written.
#[cfg(unix)]
async fn left_behind() -> (TempDir, SqliteConfig) {
    let (origin, config) = place();
    let (folder, copy) = place();
    let memory = open(&config).await;
    say(&memory, "I drink tea").await.unwrap();
    memory.upkeep_once().await.unwrap();
    for name in names(origin.path()) {
        let to = folder.path().join(&name);
        fs::copy(origin.path().join(&name), &to).unwrap();
        set_mode(&to, if name == "memory.db" { 0o600 } else { 0o444 });
    }
    assert_eq!(names(folder.path()), ["memory.db", "memory.db-shm", "memory.db-wal"]);
    (folder, copy)
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_be_written_again_is_written_whatever_was_left_beside_it() {
    let (folder, config) = left_behind().await;
    let memory = open(&config).await;
    say(&memory, "More tea, please").await.unwrap();
    memory.upkeep_once().await.unwrap();
    assert_eq!(found(&memory, "tea").await.unwrap(), 2);
    let private = ["memory.db", "memory.db-shm", "memory.db-wal"].map(|name| (name.to_owned(), 0o600));
    assert_eq!(modes(folder.path()), private);
}

#[cfg(unix)]
#[tokio::test]
async fn what_stands_beside_a_file_of_another_application_keeps_its_rights() {
    let (folder, config) = left_behind().await;
    let beside = ["memory.db-shm", "memory.db-wal"].map(|name| folder.path().join(name));
    beside.iter().for_each(|file| set_mode(file, 0o600));
    let mut connection = super::connect::writer(&config).await.unwrap();
    sqlx::query("PRAGMA application_id = 7").execute(&mut connection).await.unwrap();
    beside.iter().for_each(|file| set_mode(file, 0o444));
    let refused = Sqlite::connect(config).await.map(drop);
    assert!(matches!(&refused, Err(Error::Unsupported { .. })), "{refused:?}");
    let kept: Vec<u32> = modes(folder.path()).into_iter().map(|(_, mode)| mode).collect();
    assert_eq!(kept, [0o600, 0o444, 0o444]);
}

/// Whoever may write everything (root) opens such a file for writing: then there is nothing to be seen.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_not_be_written_is_read() {
    let (folder, config) = place();
    tea(&config).await;
    set_mode(&config.path, 0o400);
    set_mode(folder.path(), 0o500);
    let memory = open(&config).await;
    assert_eq!(found(&memory, "tea").await.unwrap(), 1);
    if !fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        assert!(matches!(say(&memory, "no").await, Err(Error::ReadOnly { .. })));
        assert_eq!(names(folder.path()), ["memory.db"]);
    }
    set_mode(folder.path(), 0o700);
}
