//! What is special to the journal in a file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::layer::{WriteBehind, WriteBehindPolicy};
use memory_core::reference::MemChat;
use memory_core::store::chat::{Append, Fence, NewMessage, Page};
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, Error, Message, Role, Scope, SessionId, Timestamp, Truth};

use super::{JournalConfig, SqliteJournal};

pub(super) fn place() -> (Scope, SessionId) {
    (Scope::new("tenant", "subject").unwrap(), SessionId::new("session").unwrap())
}

pub(super) fn batch(texts: impl IntoIterator<Item = String>) -> Append {
    let new = |text| NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1);
    Append::new(texts.into_iter().map(new).collect())
}

pub(super) async fn push(journal: &SqliteJournal, text: &str) -> memory_core::Result<u64> {
    let (scope, session) = place();
    journal.push(&scope, &session, &batch([text.to_owned()])).await
}

pub(super) async fn texts(journal: &SqliteJournal) -> Vec<String> {
    let queued = journal.queued(None, None, usize::MAX).await.unwrap();
    queued.into_iter().map(|queued| queued.new.message.text()).collect()
}

/// Returns how often `marker` stands in the files of a journal.
pub(super) fn traces(folder: &Path, marker: &str) -> usize {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(marker.len()).filter(|part| *part == marker.as_bytes()).count()).sum()
}

#[tokio::test]
async fn s3_5_a_second_opener_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db"));
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    push(&journal, "first").await.unwrap();
    let second = SqliteJournal::connect(config.clone()).await;
    assert!(matches!(second, Err(Error::Unsupported { .. })), "{second:?}");
    let second = SqliteJournal::recover(config.clone()).await;
    assert!(matches!(second, Err(Error::Unsupported { .. })), "{second:?}");
    push(&journal, "second").await.unwrap();
    journal.close().await.unwrap();
    journal.close().await.unwrap();
    assert!(matches!(push(&journal, "late").await, Err(Error::Backend { .. })));
    let journal = SqliteJournal::connect(config).await.unwrap();
    assert_eq!(texts(&journal).await, ["first", "second"]);
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    push(&journal, "first").await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
    }
}

#[tokio::test]
async fn o8_what_was_erased_or_forgotten_leaves_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let (scope, session) = place();
    for round in 0..3 {
        let secret = batch((0..50).map(|number| format!("a secret {number}")));
        journal.push(&scope, &session, &secret).await.unwrap();
        assert!(traces(folder.path(), "a secret") > 0);
        let below = Fence { epoch: Epoch(1), generation: 0 };
        let erased = match round {
            0 => journal.erase(&scope, None, below).await,
            1 => journal.erase(&scope, Some(&session), below).await,
            _ => {
                let ids: Vec<_> = secret.messages.iter().map(|new| new.message.id).collect();
                journal.forget(&scope, &ids).await
            }
        };
        assert_eq!(erased.unwrap(), 50);
        assert_eq!(traces(folder.path(), "a secret"), 0, "in round {round}");
    }
}

/// Rows that grow are moved between pages, and leave copies of themselves behind.
#[tokio::test]
async fn o8_what_was_erased_leaves_no_byte_where_rows_were_moved_between_pages() {
    for words in [5, 10, 20] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
        let ((scope, session), erased) = (place(), SessionId::new("erased").unwrap());
        let mut numbers = Vec::new();
        for _ in 0..50 {
            for (session, text) in [(&session, "of others "), (&erased, "a secret ")] {
                numbers.push(journal.push(&scope, session, &batch([text.repeat(words)])).await.unwrap());
            }
        }
        for number in numbers.into_iter().rev() {
            journal.reject(number, &"refused ".repeat(60)).await.unwrap();
        }
        let below = Fence { epoch: Epoch(1), generation: 0 };
        assert_eq!(journal.erase(&scope, Some(&erased), below).await.unwrap(), 50);
        assert_eq!(traces(folder.path(), "a secret"), 0, "of {words} words");
        assert_eq!(journal.rejected(None, usize::MAX).await.unwrap().len(), 50);
    }
}

#[tokio::test]
async fn o8_what_was_sent_long_before_it_was_forgotten_leaves_no_byte_where_rows_were_moved() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db"));
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    let ((scope, session), mut ids, mut revived) = (place(), Vec::new(), Vec::new());
    for number in 1..=100 {
        let is_secret = number % 2 == 0;
        let text = if is_secret { "a secret " } else { "of others " };
        let new = batch([text.repeat(10)]);
        if is_secret {
            ids.push(new.messages[0].message.id);
            revived.push((number, None));
        }
        assert_eq!(journal.push(&scope, &session, &new).await.unwrap(), number);
    }
    for number in (1..=100).rev() {
        journal.reject(number, &"refused ".repeat(60)).await.unwrap();
    }
    journal.revive(&revived).await.unwrap();
    let sent: Vec<u64> = (101..=150).collect();
    journal.acknowledge(&sent).await.unwrap();
    // Nothing of it stands in the log any more.
    journal.close().await.unwrap();
    let journal = SqliteJournal::connect(config).await.unwrap();
    assert_eq!(journal.forget(&scope, &ids).await.unwrap(), 0);
    assert_eq!(traces(folder.path(), "a secret"), 0);
    assert_eq!(journal.rejected(None, usize::MAX).await.unwrap().len(), 50);
}

#[tokio::test]
async fn o8_what_was_sent_before_it_was_erased_or_forgotten_leaves_no_byte() {
    for way in ["redact", "delete", "erase"] {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
        let primary = Truth::chat(Arc::new(MemChat::default()));
        let behind = WriteBehind::open(primary, Arc::new(journal), WriteBehindPolicy::default()).await.unwrap();
        let (chat, (scope, session)) = (behind.chat(), place());
        let secret = batch((0..50).map(|number| format!("a secret {number}")));
        chat.store().append(&scope, &session, &secret).await.unwrap();
        behind.flush(&scope, &session).await.unwrap();
        match way {
            "redact" => {
                let ids: Vec<_> = secret.messages.iter().map(|new| new.message.id).collect();
                assert_eq!(chat.store().redact(&scope, &ids).await.unwrap().len(), 50);
            }
            "delete" => {
                let seen = chat.store().read(&scope, &session, &Page::newest(0)).await.unwrap().state;
                assert_eq!(chat.store().delete(&scope, &seen).await.unwrap(), 50);
            }
            _ => chat.store().erase(&scope, Epoch(1)).await.map(drop).unwrap(),
        }
        assert_eq!(traces(folder.path(), "a secret"), 0, "{way}");
    }
}

#[tokio::test]
async fn o8_what_is_sent_and_forgotten_by_one_commit_leaves_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let (scope, session) = place();
    let secret = batch(["a secret".to_owned()]);
    let number = journal.push(&scope, &session, &secret).await.unwrap();
    // Moves it from the log into the file.
    assert_eq!(journal.forget(&scope, &[]).await.unwrap(), 0);
    let (sent, ids) = ([number], [secret.messages[0].message.id]);
    let (acknowledged, forgotten) = tokio::join!(journal.acknowledge(&sent), journal.forget(&scope, &ids));
    acknowledged.unwrap();
    assert_eq!(forgotten.unwrap(), 0);
    assert_eq!(traces(folder.path(), "a secret"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_was_acknowledged_leaves_no_byte_when_nothing_is_asked_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let number = push(&journal, "a secret").await.unwrap();
    journal.acknowledge(&[number]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    // The owner serves this after what it does when it is idle.
    assert!(texts(&journal).await.is_empty());
    assert_eq!(traces(folder.path(), "a secret"), 0);
}

#[tokio::test]
async fn s3_6_the_bound_in_bytes_refuses_and_drops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db")).with_bytes(10_000);
    let journal = SqliteJournal::connect(config).await.unwrap();
    let long = "x".repeat(4_000);
    let first = push(&journal, &long).await.unwrap();
    push(&journal, &long).await.unwrap();
    for _ in 0..3 {
        assert!(matches!(push(&journal, &long).await, Err(Error::QueueFull)));
    }
    assert_eq!(texts(&journal).await.len(), 2);
    journal.acknowledge(&[first]).await.unwrap();
    push(&journal, &long).await.unwrap();
}

#[tokio::test]
async fn s3_6_what_is_rejected_of_one_owner_leaves_room_in_bytes_for_others() {
    let folder = tempfile::tempdir().unwrap();
    // Seven messages fit; six of another owner do beside an eighth of the bound, and seven do not.
    let config = JournalConfig::new(folder.path().join("journal.db")).with_bytes(32_000);
    let (long, bob, (_, session)) = ("x".repeat(4_000), Scope::new("tenant", "bob").unwrap(), place());
    let of_bob = async |journal: &SqliteJournal| journal.push(&bob, &session, &batch([long.clone()])).await;
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    for _ in 0..7 {
        let number = push(&journal, &long).await.unwrap();
        journal.reject(number, "refused").await.unwrap();
    }
    assert!(matches!(push(&journal, &long).await, Err(Error::QueueFull)));
    for _ in 0..6 {
        of_bob(&journal).await.unwrap();
    }
    assert!(matches!(of_bob(&journal).await, Err(Error::QueueFull)));
    journal.close().await.unwrap();
    let journal = SqliteJournal::connect(config).await.unwrap();
    assert!(matches!(push(&journal, &long).await, Err(Error::QueueFull)));
    assert!(matches!(of_bob(&journal).await, Err(Error::QueueFull)));
    assert_eq!((texts(&journal).await.len(), journal.count_rejected(None).await.unwrap()), (6, 7));
}

#[tokio::test]
async fn a_full_disk_refuses_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    push(&journal, "first").await.unwrap();
    let bound = async |sql: &'static str| {
        journal.owner.ask("bound the file", move |ledger| Box::pin(ledger.run(sql))).await.unwrap();
    };
    bound("PRAGMA max_page_count = 40").await;
    let large = "x".repeat(1 << 20);
    for _ in 0..3 {
        assert!(matches!(push(&journal, &large).await, Err(Error::QueueFull)));
        push(&journal, "small").await.unwrap();
    }
    // Those that share a commit share its fault, and may try again.
    let (one, other) = tokio::join!(push(&journal, &large), push(&journal, "beside"));
    assert!(matches!(one, Err(Error::QueueFull)) && matches!(other, Ok(_) | Err(Error::QueueFull)));
    bound("PRAGMA max_page_count = 100000").await;
    push(&journal, &large).await.unwrap();
    let texts = texts(&journal).await;
    assert_eq!(texts.iter().filter(|text| *text == "small").count(), 3);
    assert_eq!(texts.last(), Some(&large));
}

#[tokio::test]
async fn after_a_write_of_unknown_outcome_nothing_is_taken_until_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db"));
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    push(&journal, "first").await.unwrap();
    journal.owner.ask("break", |ledger| Box::pin(ledger.run("DROP TABLE whole"))).await.unwrap();
    for _ in 0..2 {
        let error = push(&journal, "second").await.unwrap_err();
        assert!(matches!(error, Error::Backend { .. }) && !error.is_retryable(), "{error:?}");
    }
    assert!(journal.queued(None, None, 9).await.is_err());
    assert!(journal.close().await.is_err());
    assert!(matches!(SqliteJournal::connect(config).await, Err(Error::Backend { .. } | Error::Corrupt { .. })));
}

#[tokio::test]
async fn a_journal_whose_file_was_moved_away_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    push(&journal, "first").await.unwrap();
    std::fs::rename(&path, folder.path().join("elsewhere.db")).unwrap();
    assert!(matches!(push(&journal, "second").await, Err(Error::Backend { .. })));
}

#[tokio::test]
async fn a_journal_that_was_dropped_without_closing_holds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db"));
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    for number in 0..100 {
        push(&journal, &number.to_string()).await.unwrap();
    }
    drop(journal);
    let journal = loop {
        match SqliteJournal::connect(config.clone()).await {
            Ok(journal) => break journal,
            Err(Error::Unsupported { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error:?}"),
        }
    };
    assert_eq!(texts(&journal).await, (0..100).map(|number| number.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn messages_meant_for_one_database_are_not_sent_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let config = |truth: &str| JournalConfig::new(folder.path().join("journal.db")).with_truth(truth);
    let journal = SqliteJournal::connect(config("one")).await.unwrap();
    let number = push(&journal, "for one").await.unwrap();
    journal.close().await.unwrap();
    let other = SqliteJournal::connect(config("other")).await;
    assert!(matches!(&other, Err(Error::Unsupported { what, .. }) if what.contains("another database")), "{other:?}");
    let journal = SqliteJournal::connect(config("one")).await.unwrap();
    journal.acknowledge(&[number]).await.unwrap();
    journal.close().await.unwrap();
    let journal = SqliteJournal::connect(config("other")).await.unwrap();
    push(&journal, "for the other").await.unwrap();
    journal.close().await.unwrap();
    assert!(SqliteJournal::connect(config("one")).await.is_err());
}

#[tokio::test]
async fn a_database_is_the_same_whoever_logs_in_and_however_it_is_tuned() {
    let folder = tempfile::tempdir().unwrap();
    let config = |truth: &str| JournalConfig::new(folder.path().join("journal.db")).with_truth(truth);
    let journal =
        SqliteJournal::connect(config("postgres://ada@db:5432/memory?pool=4&schema=a&table=b")).await.unwrap();
    push(&journal, "waits").await.unwrap();
    journal.close().await.unwrap();
    for same in [
        "postgres://bob@db:5432/memory?schema=a&deadline=9s&table=b",
        "postgres://db:5432/memory?user=bob&table=b&sslmode=require&password=secret&schema=a",
    ] {
        let journal = SqliteJournal::connect(config(same)).await.unwrap();
        assert_eq!(texts(&journal).await, ["waits"], "{same}");
        journal.close().await.unwrap();
    }
    for other in
        ["postgres://db:5432/memory?schema=b", "postgres://db:5432/memory", "postgres://db:5433/memory?schema=a"]
    {
        assert!(SqliteJournal::connect(config(other)).await.is_err(), "{other}");
    }
}

#[tokio::test]
async fn a_journal_that_knows_its_database_by_a_former_name_takes_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = |truth: &str| JournalConfig::new(folder.path().join("journal.db")).with_truth(truth);
    let former = "postgres://ada@db/memory?pool=4";
    let journal = SqliteJournal::connect(config(former)).await.unwrap();
    push(&journal, "waits").await.unwrap();
    journal.close().await.unwrap();
    assert!(SqliteJournal::connect(config("new")).await.is_err());
    assert!(SqliteJournal::connect(config("new").with_former_truth("postgres://db/other")).await.is_err());
    for config in [config("new").with_former_truth("postgres://bob@db/memory"), config("new")] {
        let journal = SqliteJournal::connect(config).await.unwrap();
        assert_eq!(texts(&journal).await, ["waits"]);
        journal.close().await.unwrap();
    }
    assert!(SqliteJournal::connect(config(former)).await.is_err());
}

#[tokio::test]
async fn a_recovery_that_ended_between_its_steps_is_completed_by_whoever_opens_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let file = |end: &str| folder.path().join(format!("journal.db{end}"));
    let config = JournalConfig::new(&path);
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    push(&journal, "saved").await.unwrap();
    journal.close().await.unwrap();
    // The damaged file has left, its log has not, and the saved one is not there yet.
    std::fs::rename(&path, file(".saved")).unwrap();
    std::fs::write(file(".damaged-1"), b"damaged").unwrap();
    std::fs::write(file("-wal"), b"the log of the damaged one").unwrap();
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    assert_eq!(texts(&journal).await, ["saved"]);
    journal.close().await.unwrap();
    assert!(!file(".saved").exists());
    assert_eq!(std::fs::read(file(".damaged-1-wal")).unwrap(), b"the log of the damaged one");
}
