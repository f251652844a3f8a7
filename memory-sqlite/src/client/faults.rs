use std::path::Path;
use std::sync::Arc;

use memory_core::store::chat::{Append, Appended, ChatStore, NewMessage, Page, View};
use memory_core::{Error, Message, Result, Role, Scope, Seq, SessionId, Timestamp};

use crate::error::classify;
use crate::{Sqlite, SqliteChat, SqliteConfig};

fn place() -> (Scope, SessionId) {
    (Scope::new("tenant", "subject").unwrap(), SessionId::new("session").unwrap())
}

fn batch(text: &str) -> Append {
    let message = Arc::new(Message::new(Role::User, text, Timestamp(0)));
    Append::new(vec![NewMessage::sized(message, 1)])
}

async fn append(file: &Sqlite, batch: &Append) -> Result<Appended> {
    let (scope, session) = place();
    SqliteChat::new(file).append(&scope, &session, batch).await
}

async fn read(file: &Sqlite) -> Result<Vec<Arc<Message>>> {
    let (scope, session) = place();
    let page = Page::after(Seq(0), usize::MAX, View::Log);
    let slice = SqliteChat::new(file).read(&scope, &session, &page).await?;
    Ok(slice.messages.into_iter().filter_map(|row| row.message).collect())
}

async fn pragma(file: &Sqlite, sql: &'static str) {
    let work = file.write("set", move |connection| {
        Box::pin(async move {
            let set = sqlx::query(sql).execute(connection).await;
            set.map(|_| ()).map_err(|source| classify(source, "set"))
        })
    });
    work.await.unwrap();
}

#[tokio::test]
async fn a_full_disk_is_a_passing_fault_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await.unwrap();
    append(&file, &batch("first")).await.unwrap();
    pragma(&file, "PRAGMA max_page_count = 60").await;
    let large = batch(&"x".repeat(1 << 20));
    let error = append(&file, &large).await.unwrap_err();
    assert!(matches!(error, Error::Backend { .. }) && error.is_retryable(), "{error:?}");
    assert_eq!(read(&file).await.unwrap().len(), 1);
    append(&file, &batch("second")).await.unwrap();
    pragma(&file, "PRAGMA max_page_count = 1000000").await;
    append(&file, &large).await.unwrap();
    assert_eq!(read(&file).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_fault_in_a_shared_transaction_lets_all_its_works_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await.unwrap();
    append(&file, &batch("first")).await.unwrap();
    pragma(&file, "PRAGMA max_page_count = 60").await;
    let (one, large, two) = (batch("one"), batch(&"x".repeat(1 << 20)), batch("two"));
    let answers = tokio::join!(append(&file, &one), append(&file, &large), append(&file, &two));
    assert!(answers.1.unwrap_err().is_retryable());
    for (answer, batch) in [(answers.0, &one), (answers.2, &two)] {
        assert!(answer.is_ok() || answer.is_err_and(|error| error.is_retryable()));
        append(&file, batch).await.unwrap();
    }
    assert_eq!(read(&file).await.unwrap().len(), 3);
}

#[tokio::test]
async fn damaged_files_give_errors_and_never_other_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    for number in 0..400 {
        append(&file, &batch(&format!("the message of number {number}"))).await.unwrap();
    }
    let said = read(&file).await.unwrap();
    file.purge().await.unwrap();
    drop(file);
    let sound = std::fs::read(&path).unwrap();
    let (mut chance, mut errors) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for trial in 0..120 {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        let mut damaged = sound.clone();
        let at = usize::try_from(chance % damaged.len() as u64).unwrap();
        damaged[at] ^= 1 << (trial % 8);
        let path = folder.path().join(format!("damaged-{trial}.db"));
        std::fs::write(&path, damaged).unwrap();
        let found = match Sqlite::connect(SqliteConfig::new(&path)).await {
            Ok(file) => read(&file).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => assert!(found.iter().all(|message| said.contains(message)), "trial {trial}, byte {at}"),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 5, "the damage is never met: {errors}");
}

#[tokio::test]
async fn a_log_whose_file_is_gone_is_kept_until_the_file_is_back() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, moved) = (folder.path().join("memory.db"), elsewhere.path().join("memory.db"));
    let log = |path: &Path| path.with_extension("db-wal");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    append(&file, &batch("first")).await.unwrap();
    // As a process leaves it that is killed, and without the file itself.
    std::fs::copy(log(&path), log(&moved)).unwrap();
    let left = std::fs::read(log(&moved)).unwrap();
    for is_empty in [false, true] {
        for config in [SqliteConfig::new(&moved), SqliteConfig::new(&moved).with_read_only(true)] {
            let refused = Sqlite::connect(config).await.map(drop).unwrap_err();
            assert!(!refused.is_retryable() && refused.with_causes().contains("put the file back"), "{refused:?}");
        }
        assert_eq!((std::fs::read(log(&moved)).unwrap() == left, moved.exists()), (true, is_empty));
        std::fs::write(&moved, b"").unwrap();
    }
    std::fs::copy(&path, &moved).unwrap();
    let again = Sqlite::connect(SqliteConfig::new(&moved)).await.unwrap();
    assert_eq!(read(&again).await.unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn a_log_is_kept_whose_file_is_gone_behind_a_link() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, target) = (folder.path().join("memory.db"), elsewhere.path().join("target.db"));
    for link in [target.clone(), std::path::PathBuf::from("target.db")] {
        let path = if link.is_relative() { elsewhere.path().join("link.db") } else { path.clone() };
        let log = target.with_extension("db-wal");
        std::fs::write(&log, "a log").unwrap();
        std::os::unix::fs::symlink(&link, &path).unwrap();
        let refused = Sqlite::connect(SqliteConfig::new(&path)).await.map(drop).unwrap_err();
        assert!(refused.with_causes().contains("put the file back"), "{refused:?}");
        assert_eq!((std::fs::read_to_string(log).unwrap().as_str(), target.exists()), ("a log", false));
    }
}
