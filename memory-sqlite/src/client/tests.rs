use memory_core::error::Error;
use memory_core::store::chat::{ChatStore as _, Page};
use memory_core::{CounterId, Message, Role, Scope, SessionId, Timestamp};
use tempfile::TempDir;

use super::*;
use crate::config::Synchronous;

fn place() -> (TempDir, SqliteConfig) {
    let folder = tempfile::tempdir().unwrap();
    let config = SqliteConfig::new(folder.path().join("memory.db"));
    (folder, config)
}

/// Adds one row to the owners; an error afterwards if it is to fail.
async fn insert(file: &Sqlite, key: &'static str, fails: bool) -> Result<()> {
    let work = file.write("insert", move |connection| {
        Box::pin(async move {
            let insert = sqlx::query("INSERT INTO owner (truth, key, epoch) VALUES (0, ?, 0)")
                .bind(key)
                .execute(connection)
                .await;
            insert.map_err(|source| classify(source, "insert"))?;
            if fails { Err(Error::Conflict) } else { Ok(()) }
        })
    });
    work.await
}

async fn owners(file: &Sqlite) -> Vec<String> {
    let work = file.snapshot("count", |connection| {
        Box::pin(async move {
            let keys = sqlx::query_scalar("SELECT key FROM owner ORDER BY key").fetch_all(connection).await;
            keys.map_err(|source| classify(source, "count"))
        })
    });
    work.await.unwrap()
}

#[tokio::test]
async fn durable_settings_are_committed_and_weaker_ones_volatile() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config.clone()).await.unwrap();
    assert_eq!(file.durability(), Durability::Committed);
    let health = file.ping().await.unwrap();
    assert_eq!((health.server.as_str(), health.durability), ("SQLite", Durability::Committed));
    let file = Sqlite::connect(config.with_synchronous(Synchronous::Normal)).await.unwrap();
    assert_eq!(file.durability(), Durability::Volatile);
}

#[tokio::test]
async fn a_failed_work_is_undone_and_its_neighbours_stand() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config).await.unwrap();
    let (a, b, c, d) = tokio::join!(
        insert(&file, "a", false),
        insert(&file, "b", true),
        insert(&file, "a", false), // breaks the uniqueness of the key
        insert(&file, "c", false),
    );
    assert!(a.is_ok() && d.is_ok());
    assert!(matches!(b, Err(Error::Conflict)));
    assert!(matches!(c, Err(Error::Backend { .. })) && !c.unwrap_err().is_retryable());
    assert_eq!(owners(&file).await, ["a", "c"]);
}

#[tokio::test]
async fn a_write_goes_on_when_its_caller_goes_away() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config).await.unwrap();
    let mut dropped = Box::pin(insert(&file, "a", false));
    let first_look =
        std::future::poll_fn(|context| std::task::Poll::Ready(dropped.as_mut().poll(context).is_pending()));
    assert!(first_look.await);
    drop(dropped);
    insert(&file, "b", false).await.unwrap();
    assert_eq!(owners(&file).await, ["a", "b"]);
}

#[tokio::test]
async fn a_panicking_work_leaves_no_open_transaction() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config).await.unwrap();
    let lost = file.write::<(), _>("panic", |_| Box::pin(async { panic!("on purpose") })).await;
    assert!(matches!(lost, Err(Error::Backend { .. })));
    insert(&file, "a", false).await.unwrap();
    assert_eq!(owners(&file).await, ["a"]);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_ended_is_not_what_the_next_one_sees() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config.with_readers(1)).await.unwrap();
    let ended = file.snapshot("end", |connection| {
        Box::pin(async move { connect::run(connection, "ROLLBACK").await.map_err(Error::from) })
    });
    ended.await.unwrap();
    let next = file.snapshot("read", |connection| Box::pin(count(connection))).await;
    assert!(next.unwrap_err().is_retryable());
    insert(&file, "a", false).await.unwrap();
    assert_eq!(file.snapshot("read", |connection| Box::pin(count(connection))).await.unwrap(), 1);
}

/// Returns how many owners a connection sees.
async fn count(connection: &mut SqliteConnection) -> Result<i64> {
    connect::scalar(connection, "SELECT count(*) FROM owner").await.map_err(Error::from)
}

#[tokio::test]
async fn a_lock_of_another_process_is_waited_for_and_then_a_passing_fault() {
    let (_folder, config) = place();
    let patience = std::time::Duration::from_millis(30);
    let file = Sqlite::connect(config.clone().with_patience(patience)).await.unwrap();
    let mut other = connect::locking(&config).await;
    assert!(insert(&file, "a", false).await.unwrap_err().is_retryable());
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    insert(&file, "a", false).await.unwrap();
}

#[tokio::test]
async fn readers_cannot_write() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config).await.unwrap();
    let work = file.read("write", |connection| {
        Box::pin(async move {
            let insert =
                sqlx::query("INSERT INTO owner (truth, key, epoch) VALUES (0, 'a', 0)").execute(connection).await;
            insert.map(|_| ()).map_err(|source| classify(source, "write"))
        })
    });
    assert!(matches!(work.await, Err(Error::ReadOnly { .. })));
}

#[tokio::test]
async fn refuses_files_that_are_not_its_own() {
    let (folder, config) = place();
    std::fs::write(folder.path().join("memory.db"), [7u8; 8192]).unwrap();
    for config in [config.clone(), config.with_read_only(true)] {
        let refused = Sqlite::connect(config).await.unwrap_err();
        assert!(matches!(refused, Error::Corrupt { .. }));
        let (file, told) = (folder.path().join("memory.db"), refused.with_causes());
        assert!(told.starts_with(&format!("sqlite holds damaged data: {}: ", file.display())), "{told}");
    }

    let (_folder, config) = place();
    let mut foreign = connect::writer(&config).await;
    assert!(matches!(foreign, Err(Error::Backend { .. })), "a missing file is not made by a later connection");
    Sqlite::connect(config.clone()).await.unwrap();
    for (sql, what) in [
        ("PRAGMA user_version = 1000", "read a file written by a newer version"),
        ("PRAGMA application_id = 7", "use the database of another application"),
    ] {
        foreign = connect::writer(&config).await;
        sqlx::query(sql).execute(foreign.as_mut().unwrap()).await.unwrap();
        let Err(Error::Unsupported { what: found, .. }) = Sqlite::connect(config.clone()).await else {
            panic!("accepted: {what}");
        };
        assert_eq!(found, what);
    }
}

#[tokio::test]
async fn a_file_of_a_version_that_kept_no_counters_is_opened() {
    let (_folder, config) = place();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&config.path).create_if_missing(true);
    let mut old = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let message = Message::new(Role::User, "old words", Timestamp(0));
    let (scope, session) = (Scope::new("acme", "ada").unwrap(), SessionId::new("s").unwrap());
    for script in [include_str!("../../migrations/0001_truth.sql"), include_str!("../../migrations/0002_index.sql")] {
        sqlx::raw_sql(script).execute(&mut old).await.unwrap();
    }
    sqlx::raw_sql("PRAGMA application_id = 1280140653").execute(&mut old).await.unwrap();
    let sql = "INSERT INTO owner (id, truth, key, epoch) VALUES (1, 0, ?, 0)";
    sqlx::query(sql).bind(scope.key()).execute(&mut old).await.unwrap();
    let sql =
        "INSERT INTO session (id, owner, key, name, head, active_messages, active_tokens) VALUES (1, 1, ?, ?, 1, 1, 9)";
    sqlx::query(sql).bind(session.key()).bind(session.name()).execute(&mut old).await.unwrap();
    let sql = "INSERT INTO message (owner, session, seq, layer, id, digest, tokens, role, trust, at, body) \
         VALUES (1, 1, 1, 0, ?, ?, 9, 'user', 3, 0, ?)";
    let row = sqlx::query(sql).bind(message.id.0.as_bytes().to_vec()).bind(message.digest(&session).0.to_vec());
    row.bind(message.encode()).execute(&mut old).await.unwrap();
    sqlx::Connection::close(old).await.unwrap();

    let chat = crate::SqliteChat::new(&Sqlite::connect(config).await.unwrap());
    let slice = chat.read(&scope, &session, &Page::newest(10)).await.unwrap();
    assert_eq!((slice.state.asked, slice.messages.len()), (0, 1));
    assert_eq!((slice.messages[0].tokens, slice.messages[0].counter), (9, CounterId::UNKNOWN));
    assert_eq!(slice.messages[0].message.as_deref(), Some(&message));
}

#[tokio::test]
async fn a_foreign_database_is_left_as_it_is() {
    let (_folder, config) = place();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&config.path).create_if_missing(true);
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("CREATE TABLE theirs (x)").execute(&mut other).await.unwrap();
    sqlx::Connection::close(other).await.unwrap();
    let before = std::fs::read(&config.path).unwrap();
    assert!(matches!(Sqlite::connect(config.clone()).await, Err(Error::Unsupported { .. })));
    assert_eq!(std::fs::read(&config.path).unwrap(), before);
}

#[tokio::test]
async fn a_path_that_cannot_be_opened_is_a_lasting_fault() {
    let (folder, config) = place();
    let nowhere = SqliteConfig::new(folder.path().join("missing").join("memory.db"));
    let table = [
        (nowhere, "its folder does not exist"),
        (config.with_create(false), "unable to open database file"),
        (SqliteConfig::new(folder.path()), "it is a folder"),
        #[cfg(unix)]
        (SqliteConfig::new("/dev/null"), "it is no ordinary file"),
    ];
    for (config, why) in table {
        let error = Sqlite::connect(config).await.unwrap_err();
        assert!(!error.is_retryable(), "{error:?}");
        let Error::Backend { source, .. } = error else { panic!("another kind of error: {error:?}") };
        assert!(source.to_string().ends_with(why), "{source}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_is_told_with_its_path_and_what_the_system_says() {
    let (_folder, config) = place();
    let path = config.path.display().to_string();
    let told = Sqlite::connect(config.with_create(false)).await.unwrap_err().with_causes();
    let system = std::fs::metadata(&path).unwrap_err().to_string();
    assert!(told.contains(&format!("{path}: {system}: ")), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_create_one_file_at_once() {
    let (_folder, config) = place();
    let files: Vec<_> = (0..8).map(|_| tokio::spawn(Sqlite::connect(config.clone()))).collect();
    for file in files {
        assert_eq!(file.await.unwrap().unwrap().durability(), Durability::Committed);
    }
}

#[tokio::test]
async fn the_log_is_emptied_unless_a_reader_is_in_the_midst_of_it() {
    let (_folder, config) = place();
    let file = Sqlite::connect(config.clone().with_patience(std::time::Duration::from_millis(20))).await.unwrap();
    insert(&file, "a", false).await.unwrap();
    let mut reader = connect::reader(&config, super::place::Access::Write).await.unwrap();
    sqlx::query("BEGIN").execute(&mut reader).await.unwrap();
    let _seen: i64 = sqlx::query_scalar("SELECT count(*) FROM owner").fetch_one(&mut reader).await.unwrap();
    insert(&file, "b", false).await.unwrap();
    assert_eq!(file.purge().await.unwrap(), ErasureLevel::Logical);
    sqlx::query("COMMIT").execute(&mut reader).await.unwrap();
    assert_eq!(file.purge().await.unwrap(), ErasureLevel::Purged);
    let log = config.path.with_extension("db-wal");
    assert_eq!(std::fs::metadata(log).unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_to_close_leaves_one_file() {
    let (folder, config) = place();
    let files = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort_unstable();
        names
    };
    let file = Sqlite::connect(config.clone()).await.unwrap();
    let apart = Sqlite::connect(config).await.unwrap();
    let writes = (0..20).map(|number| {
        let file = file.clone();
        let key: &'static str = Box::leak(format!("owner {number:02}").into_boxed_str());
        tokio::spawn(async move { insert(&file, key, false).await })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap().unwrap();
    }
    assert_eq!(owners(&file).await.len(), 20);
    assert_eq!(owners(&apart).await.len(), 20);
    file.close().await.unwrap();
    file.close().await.unwrap();
    assert!(files().len() > 1, "a second opening is at work: {:?}", files());
    apart.close().await.unwrap();
    assert_eq!(files(), ["memory.db"]);
    assert_eq!(owners(&file).await.len(), 20, "a call after the closing opens the file again");
    file.close().await.unwrap();
    assert_eq!(files(), ["memory.db"]);
}

#[tokio::test]
async fn a_backup_is_the_file_as_it_is_and_refuses_what_is_there() {
    let (folder, config) = place();
    let file = Sqlite::connect(config.clone()).await.unwrap();
    insert(&file, "a", false).await.unwrap();
    let copy = folder.path().join("copy.db");
    file.backup(&copy).await.unwrap();
    insert(&file, "b", false).await.unwrap();
    let opened = Sqlite::connect(SqliteConfig::new(&copy).with_create(false)).await.unwrap();
    assert_eq!(owners(&opened).await, ["a"]);
    assert!(file.backup(&copy).await.is_err(), "nothing is overwritten");
    assert_eq!(owners(&opened).await, ["a"]);
    file.close().await.unwrap();
    // Also of a file that may only be read.
    let read_only = Sqlite::connect(config.with_read_only(true)).await.unwrap();
    let other = folder.path().join("other.db");
    read_only.backup(&other).await.unwrap();
    let opened = Sqlite::connect(SqliteConfig::new(&other).with_create(false)).await.unwrap();
    assert_eq!(owners(&opened).await, ["a", "b"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_of_a_private_file_is_for_nobody_else_and_of_a_shared_one_as_it_is_made() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let (folder, config) = place();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().mode() & 0o777;
    let empty = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, b"").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        path
    };
    let private = Sqlite::connect(config.clone()).await.unwrap();
    private.backup(&folder.path().join("new.db")).await.unwrap();
    private.backup(&empty("empty.db")).await.unwrap();
    assert_eq!((mode("new.db"), mode("empty.db")), (0o600, 0o600));
    let shared = Sqlite::connect(config.with_private(false)).await.unwrap();
    shared.backup(&empty("shared.db")).await.unwrap();
    assert_eq!(mode("shared.db"), 0o644);
}

#[tokio::test]
async fn a_copy_of_a_file_that_others_write_to_meanwhile_is_worth_nothing() {
    let (_folder, config) = place();
    Sqlite::connect(config.clone()).await.unwrap().close().await.unwrap();
    let reading = Sqlite::connect(config.clone().with_read_only(true)).await.unwrap();
    // The copy itself is what is written: it stands where the log of a writer would.
    let copied = reading.backup(&config.path.with_extension("db-wal")).await;
    assert!(copied.is_err_and(|error| error.with_causes().contains("open it again")));
}

#[tokio::test]
async fn what_keeps_a_file_from_being_made_is_told_also_where_it_ends_the_transaction() {
    let mut told = 0;
    for at in (10..200).step_by(10) {
        let (_folder, config) = place();
        let options = connect::options(&config, super::place::Access::Write, true).unwrap();
        let mut connection = connect::connect(options).await.map_err(Error::from).unwrap();
        let mut calls = 0;
        // An interrupted statement that writes takes the transaction with it.
        connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
            calls += 1;
            calls != at
        });
        if let Err(error) = migrate::migrate(&mut connection).await.map_err(Error::from) {
            assert!(error.is_retryable(), "{error:?}");
            told += 1;
        }
    }
    assert!(told > 0);
}
