//! A log that a full disk keeps from being moved into the file: that refuses nobody, and what was erased is not called gone.

use std::time::Duration;

use memory_core::store::chat::Fence;
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, Error, SessionId};
use tokio::time::sleep;

use super::tests::{batch, place, push, texts, traces};
use super::{JournalConfig, SqliteJournal};

/// More checkpoints than a test makes.
const EVER: u64 = u64::MAX;

/// Lets so many checkpoints find the disk full, and returns how many more were to.
async fn fill(journal: &SqliteJournal, checkpoints: u64) -> u64 {
    let work = journal.owner.ask("fill the disk", move |ledger| {
        Box::pin(async move { Ok(std::mem::replace(&mut ledger.full, checkpoints)) })
    });
    work.await.unwrap()
}

#[tokio::test]
async fn a_long_log_that_finds_no_room_refuses_nobody_and_is_seldom_tried() {
    let folder = tempfile::tempdir().unwrap();
    let config = JournalConfig::new(folder.path().join("journal.db"));
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    fill(&journal, EVER).await;
    let large = "x".repeat(1 << 20);
    for _ in 0..12 {
        push(&journal, &large).await.unwrap();
    }
    let tries = EVER - fill(&journal, EVER).await;
    assert!((1..12).contains(&tries), "{tries} tries");
    assert_eq!(texts(&journal).await.len(), 12);
    // Nothing is lost that stays in the log.
    journal.close().await.unwrap();
    let journal = SqliteJournal::connect(config).await.unwrap();
    assert_eq!(texts(&journal).await.len(), 12);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_finds_no_room_while_nothing_is_asked_breaks_nothing_and_goes_later() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    push(&journal, &"x".repeat(1 << 20)).await.unwrap();
    fill(&journal, 2).await;
    sleep(Duration::from_secs(5)).await;
    // The owner serves this after what it does when it is idle.
    push(&journal, "small").await.unwrap();
    assert_eq!(fill(&journal, 0).await, 0);
    assert!(std::fs::metadata(folder.path().join("journal.db-wal")).unwrap().len() < 1 << 20);
}

#[tokio::test]
async fn o8_what_was_erased_while_the_log_finds_no_room_is_called_gone_once_it_is() {
    for way in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
        let (scope, session) = (place().0, SessionId::new("erased").unwrap());
        let secret = batch(["a secret".to_owned()]);
        let ids: Vec<_> = secret.messages.iter().map(|new| new.message.id).collect();
        let number = journal.push(&scope, &session, &secret).await.unwrap();
        if way == 2 {
            journal.reject(number, "refused").await.unwrap();
        }
        let erase = async || match way {
            0 => journal.erase(&scope, Some(&session), Fence { epoch: Epoch(1), generation: 0 }).await,
            1 => journal.forget(&scope, &ids).await,
            _ => journal.discard(&[number]).await,
        };
        fill(&journal, EVER).await;
        // Those that share the commit have erased nothing.
        let (erased, pushed) = tokio::join!(erase(), push(&journal, "beside"));
        assert!(matches!(erased, Err(Error::QueueFull)), "{erased:?}");
        pushed.unwrap();
        assert!(traces(folder.path(), "a secret") > 0);
        // Nor is it gone after a commit that was undone, and when nothing is left to be found.
        let bound = async |sql: &'static str| {
            journal.owner.ask("bound the file", move |ledger| Box::pin(ledger.run(sql))).await.unwrap();
        };
        bound("PRAGMA max_page_count = 40").await;
        assert!(matches!(push(&journal, &"x".repeat(1 << 20)).await, Err(Error::QueueFull)));
        bound("PRAGMA max_page_count = 100000").await;
        let erased = erase().await;
        assert!(matches!(erased, Err(Error::QueueFull)), "{erased:?}");
        fill(&journal, 0).await;
        assert_eq!(erase().await.unwrap(), 0);
        assert_eq!(traces(folder.path(), "a secret"), 0, "in way {way}");
        assert_eq!(texts(&journal).await, ["beside"]);
    }
}

#[tokio::test]
async fn o8_a_journal_that_cannot_be_rewritten_goes_on_and_what_was_erased_is_called_gone_once_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let ((scope, session), erased) = (place(), SessionId::new("erased").unwrap());
    let others = batch((0..1_000).map(|number| format!("of others {number}")));
    journal.push(&scope, &session, &others).await.unwrap();
    journal.push(&scope, &erased, &batch(["a secret".to_owned()])).await.unwrap();
    // Interrupts what takes as long as to copy all entries.
    let interrupt = async |after: i32| {
        let work = journal.owner.ask("interrupt", move |ledger| {
            Box::pin(async move {
                ledger.connection().lock_handle().await.unwrap().set_progress_handler(after, || false);
                Ok(())
            })
        });
        work.await.unwrap();
    };
    let erase = || journal.erase(&scope, Some(&erased), Fence { epoch: Epoch(1), generation: 0 });
    interrupt(1_000).await;
    // Those that share the commit are told nothing of it.
    let (told, pushed) = tokio::join!(erase(), push(&journal, "beside"));
    assert!(matches!(told, Err(Error::QueueFull)), "{told:?}");
    pushed.unwrap();
    push(&journal, "after").await.unwrap();
    interrupt(i32::MAX).await;
    assert_eq!(erase().await.unwrap(), 0);
    assert_eq!(traces(folder.path(), "a secret"), 0);
    assert_eq!(texts(&journal).await.len(), 1_002);
}

#[tokio::test]
async fn an_erasure_moves_no_log_to_which_nothing_was_added() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(folder.path().join("journal.db"))).await.unwrap();
    let (scope, _) = place();
    push(&journal, "stays").await.unwrap();
    journal.forget(&scope, &[]).await.unwrap();
    fill(&journal, EVER).await;
    for _ in 0..3 {
        assert_eq!(journal.forget(&scope, &[]).await.unwrap(), 0);
    }
    assert_eq!(fill(&journal, 0).await, EVER);
}
