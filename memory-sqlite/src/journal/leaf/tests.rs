use std::path::Path;

use memory_core::store::chat::Fence;
use memory_core::store::journal::Journal as _;
use memory_core::{Epoch, SessionId};

use super::*;
use crate::journal::tests::{batch, place, push, texts, traces};
use crate::journal::{JournalConfig, Recovered, SqliteJournal};

/// The first byte of a page that leads to others.
const INNER: u8 = 5;

/// Fills these pages of a file with zeros, and returns how many there are.
fn clear(path: &Path, is_meant: impl Fn(usize, &[u8]) -> bool) -> usize {
    let mut bytes = std::fs::read(path).unwrap();
    let mut count = 0;
    for (number, page) in bytes.chunks_exact_mut(PAGE).enumerate() {
        if is_meant(number, page) {
            page.fill(0);
            count += 1;
        }
    }
    std::fs::write(path, bytes).unwrap();
    count
}

/// Pushes messages with these texts, one by one, and closes the journal.
async fn fill(path: &Path, all: &[String]) {
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await.unwrap();
    for text in all {
        push(&journal, text).await.unwrap();
    }
    journal.close().await.unwrap();
}

/// Saves a damaged journal, and returns what it holds then.
async fn saved(path: &Path) -> (Recovered, Vec<String>) {
    let recovered = SqliteJournal::recover(JournalConfig::new(path)).await.unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await.unwrap();
    let found = texts(&journal).await;
    journal.close().await.unwrap();
    (recovered, found)
}

#[tokio::test]
async fn s3_5_entries_below_a_damaged_page_that_leads_to_them_are_saved() {
    // Short texts, and some that stand on several pages.
    for (count, words) in [(500, 8), (40, 3_000)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let all: Vec<String> = (0..count).map(|number| format!("{number} {}", "word ".repeat(words))).collect();
        fill(&path, &all).await;
        assert!(clear(&path, |_, page| page[0] == INNER) > 0);
        let (recovered, found) = saved(&path).await;
        assert_eq!((recovered.kept, recovered.lost), (count, Some(0)));
        assert!(recovered.damaged.is_some() && found == all, "{} of {count}", found.len());
    }
}

#[tokio::test]
async fn s3_5_entries_behind_a_damaged_head_are_saved_for_the_database_they_are_meant_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let config = JournalConfig::new(&path).with_truth("one");
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    push(&journal, "waits").await.unwrap();
    journal.close().await.unwrap();
    assert_eq!(clear(&path, |number, _| number == 0), 1);
    let (recovered, found) = saved(&path).await;
    assert_eq!((recovered.kept, recovered.lost, found.as_slice()), (1, Some(0), ["waits".to_owned()].as_slice()));
    assert!(SqliteJournal::connect(JournalConfig::new(&path).with_truth("other")).await.is_err());
    let journal = SqliteJournal::connect(config).await.unwrap();
    assert_eq!(texts(&journal).await, ["waits"]);
}

#[tokio::test]
async fn o8_what_was_removed_does_not_come_back_with_what_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    let ((scope, _), erased) = (place(), SessionId::new("erased").unwrap());
    let mut sent = Vec::new();
    for number in 0..400 {
        let text = if number % 4 == 0 { "was sent" } else { "waits" };
        let pushed = push(&journal, &format!("{text} {number} {}", "word ".repeat(8))).await.unwrap();
        sent.extend((number % 4 == 0).then_some(pushed));
        journal.push(&scope, &erased, &batch([format!("a secret {number}")])).await.unwrap();
    }
    let below = Fence { epoch: Epoch(1), generation: 0 };
    assert_eq!(journal.erase(&scope, Some(&erased), below).await.unwrap(), 400);
    // SQLite leaves the bytes of what is removed where they stand: only their page does not name them any more.
    journal.owner.ask("leave", |ledger| Box::pin(ledger.run("PRAGMA secure_delete = OFF"))).await.unwrap();
    journal.acknowledge(&sent).await.unwrap();
    let expected = texts(&journal).await;
    journal.close().await.unwrap();
    assert!(traces(folder.path(), "was sent") > 0);
    assert!(clear(&path, |_, page| page[0] == INNER) > 0);
    let (recovered, found) = saved(&path).await;
    assert_eq!((recovered.kept, recovered.lost), (300, Some(0)));
    assert!(found == expected && found.iter().all(|text| text.starts_with("waits")), "{found:?}");
}

#[tokio::test]
async fn o8_what_stood_on_a_page_that_is_free_does_not_come_back_with_what_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    let mut numbers = Vec::new();
    for number in 0..400 {
        numbers.push(push(&journal, &format!("{number} {}", "word ".repeat(8))).await.unwrap());
    }
    // So many neighbours that whole pages become free.
    journal.acknowledge(&numbers[100..300]).await.unwrap();
    let expected = texts(&journal).await;
    journal.close().await.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_ne!(bytes[36..40], [0; 4], "no page is free");
    assert!(clear(&path, |_, page| page[0] == INNER) > 0);
    let (recovered, found) = saved(&path).await;
    assert_eq!((recovered.kept, recovered.lost, found), (200, Some(0), expected));
}

#[tokio::test]
async fn entries_that_stand_in_the_log_alone_are_read() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    let mut numbers = Vec::new();
    for number in 0..100 {
        numbers.push(push(&journal, &format!("{number} {}", "word ".repeat(20))).await.unwrap());
    }
    journal.acknowledge(&numbers[..10]).await.unwrap();
    // As a process leaves it that is killed.
    let copy = elsewhere.path().join("journal.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(path.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
    let found = Leaves::read(&copy).unwrap();
    let mut read: Vec<u64> = found.entries.iter().map(|entry| entry.number).collect();
    read.sort_unstable();
    assert_eq!(read, numbers[10..]);
    assert_eq!(found.whole.map(|whole| (whole.last, whole.count)), Some((100, 90)));
    // A log that was cut off holds what was committed before.
    let log = std::fs::read(copy.with_extension("db-wal")).unwrap();
    std::fs::write(copy.with_extension("db-wal"), &log[..log.len() - 1]).unwrap();
    assert_eq!(Leaves::read(&copy).unwrap().entries.len(), 100);
    std::fs::remove_file(copy.with_extension("db-wal")).unwrap();
    assert!(Leaves::read(&copy).unwrap().entries.is_empty());
}

#[test]
fn a_row_that_leads_in_circles_or_nowhere_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let (mut leaf, mut further) = (vec![0_u8; PAGE], vec![0_u8; PAGE]);
    // Forty rows at one place, of a terabyte each. It stands on a page that is followed by itself.
    (leaf[0], leaf[4]) = (LEAF, 40);
    (0..40).for_each(|row| leaf[9 + row * 2] = 100);
    leaf[100..107].copy_from_slice(&[0xa0, 0x80, 0x80, 0x80, 0x80, 0, 1]);
    leaf[107 + on_page(1 << 40) + 3] = 2;
    further[3] = 2;
    std::fs::write(&path, [vec![0; PAGE], further, leaf].concat()).unwrap();
    assert!(Leaves::read(&path).unwrap().entries.is_empty());
    std::fs::write(&path, b"short").unwrap();
    assert!(Leaves::read(&path).unwrap().entries.is_empty());
}
