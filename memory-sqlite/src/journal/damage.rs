//! Damage in the file: never another message or one less without a word, and what is whole can be saved.

use std::collections::BTreeMap;
use std::path::Path;

use memory_core::Error;
use memory_core::store::chat::Append;
use memory_core::store::journal::{Journal as _, Queued};
use memory_testkit::generate::Random;

use super::tests::{batch, place, push, texts};
use super::{JournalConfig, SqliteJournal};

/// The size of a page.
pub(super) const PAGE: usize = 4_096;

/// How often the file is damaged in each way; the slow tier asks for more.
fn damages() -> u64 {
    memory_testkit::rounds(100) as u64
}

/// From how many damages on a file is cut at every byte.
const EVERY: u64 = 1_000;

/// Returns places in a file where it is damaged, of those from `first` on: each byte in the slow tier, else both ends and some others.
pub(super) fn places(first: usize, len: usize, dice: &mut Random) -> Vec<usize> {
    if damages() >= EVERY {
        return (first..len).collect();
    }
    let some = (0..damages()).map(|_| first + dice.below(len - first));
    (first..first + 3).chain(len - 3..len).chain(some).collect()
}

/// Fills a journal as use does, and returns what stands in it.
async fn fill(path: &Path) -> Vec<Queued> {
    fill_with(path, 20).await
}

/// Fills a journal as so many rounds of use do, and returns what stands in it.
async fn fill_with(path: &Path, rounds: usize) -> Vec<Queued> {
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await.unwrap();
    let (scope, session) = place();
    for round in 0..rounds {
        let text = |number| format!("{} {}", "a message that somebody said ".repeat(number % 9), round * 100 + number);
        let last = journal.push(&scope, &session, &batch((0..30).map(text))).await.unwrap();
        let done: Vec<u64> = (last - 29..=last).step_by(3).collect();
        journal.acknowledge(&done).await.unwrap();
        journal.reject(last - 1, "refused").await.unwrap();
    }
    let found = all(&journal).await.unwrap();
    journal.close().await.unwrap();
    found
}

async fn all(journal: &SqliteJournal) -> memory_core::Result<Vec<Queued>> {
    let mut found = journal.queued(None, None, usize::MAX).await?;
    found.extend(journal.rejected(None, usize::MAX).await?.into_iter().map(|rejection| rejection.queued));
    Ok(found)
}

/// Puts the file of a journal that was made by an earlier process in the place of one that is there.
pub(super) fn lay(bytes: &[u8], path: &Path) {
    for end in ["", "-wal", "-shm", "-journal", ".lock"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    std::fs::write(path, bytes).unwrap();
    std::fs::write(format!("{}.lock", path.display()), "journal\n").unwrap();
}

/// Opens a damaged journal. Returns whether it told of the damage; else it holds exactly `expected`.
async fn is_told(bytes: &[u8], path: &Path, expected: &[Queued]) -> bool {
    lay(bytes, path);
    let Ok(journal) = SqliteJournal::connect(JournalConfig::new(path)).await else { return true };
    let found = all(&journal).await;
    journal.close().await.unwrap();
    let Ok(found) = found else { return true };
    assert!(found == expected, "other messages, and no word of it");
    false
}

#[tokio::test]
async fn s3_5_no_flipped_bit_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let expected = fill(&path).await;
    let (bytes, mut dice) = (std::fs::read(&path).unwrap(), Random::new(7));
    let mut told = 0;
    for _ in 0..damages() {
        let (mut damaged, place) = (bytes.clone(), dice.below(bytes.len()));
        damaged[place] ^= 1 << dice.below(8);
        told += u64::from(is_told(&damaged, &path, &expected).await);
    }
    // The others hit free pages and the like.
    assert!(told * 4 > damages(), "{told} of {}", damages());
}

#[tokio::test]
async fn s3_5_no_zeroed_page_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let expected = fill(&path).await;
    let (bytes, mut dice) = (std::fs::read(&path).unwrap(), Random::new(8));
    for round in 0..damages() as usize {
        // Each page once, then any stretch of a page's length.
        let start = match round * PAGE {
            start if start < bytes.len() => start,
            _ => dice.below(bytes.len() - PAGE),
        };
        let mut damaged = bytes.clone();
        damaged[start..start + PAGE].fill(0);
        is_told(&damaged, &path, &expected).await;
    }
}

#[tokio::test]
async fn s3_5_no_shortened_file_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    // A few pages, so that the slow tier can cut them at every byte.
    let expected = fill_with(&path, 2).await;
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 3 * PAGE, "{} bytes", bytes.len());
    for length in places(0, bytes.len(), &mut Random::new(9)) {
        // The end of a page may be empty, and is read as empty where it is missing.
        let is_empty = bytes[length..].iter().all(|byte| *byte == 0);
        let is_told = is_told(&bytes[..length], &path, &expected).await;
        assert!(is_told || is_empty, "{length} of {} bytes", bytes.len());
    }
}

#[tokio::test]
async fn what_is_whole_of_a_damaged_journal_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let expected = fill(&path).await;
    let by_number: BTreeMap<u64, &Queued> = expected.iter().map(|queued| (queued.number, queued)).collect();
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / PAGE * PAGE;
    bytes[middle..middle + PAGE].fill(0);
    assert!(is_told(&bytes, &path, &expected).await);

    let config = JournalConfig::new(&path);
    let recovered = SqliteJournal::recover(config.clone()).await.unwrap();
    assert_eq!(recovered.lost, Some(expected.len() as u64 - recovered.kept));
    assert!(recovered.kept * 2 > expected.len() as u64, "{recovered:?}");
    assert_eq!(std::fs::read(recovered.damaged.as_ref().unwrap()).unwrap().len(), bytes.len());
    let journal = SqliteJournal::connect(config.clone()).await.unwrap();
    let found = all(&journal).await.unwrap();
    assert_eq!(found.len() as u64, recovered.kept);
    assert!(found.iter().all(|queued| by_number.get(&queued.number) == Some(&queued)));
    let (scope, session) = place();
    let next = journal.push(&scope, &session, &Append::new(batch(["new".to_owned()]).messages)).await.unwrap();
    assert!(by_number.keys().all(|number| *number < next));
    journal.close().await.unwrap();
    let again = SqliteJournal::recover(config).await.unwrap();
    assert_eq!((again.lost, again.damaged), (Some(0), None));
}

/// Saves what is whole of a damaged journal, and removes the damaged file. Returns what is in the journal now, and how many are lost.
async fn saved(path: &Path) -> (Vec<Queued>, Option<u64>) {
    let recovered = SqliteJournal::recover(JournalConfig::new(path)).await.unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(path)).await.unwrap();
    let found = all(&journal).await.unwrap();
    journal.close().await.unwrap();
    std::fs::remove_file(recovered.damaged.unwrap()).unwrap();
    (found, recovered.lost)
}

/// Returns the file with the number of an entry inside a page changed to one far above all others: the numbers of the page then lead
/// back behind it.
fn misnumbered(bytes: &[u8], page: usize) -> Option<Vec<u8>> {
    const ROWS: u8 = 13;
    let start = page * PAGE;
    let number =
        |at: usize| bytes.get(start + at..start + at + 2).map(|two| usize::from(two[0]) << 8 | usize::from(two[1]));
    let count = (bytes.get(start) == Some(&ROWS)).then(|| number(3))??;
    let cell = start + number(8 + count / 2 * 2).filter(|_| count > 4)?;
    // The length of the row stands first, and its bytes but the last have their highest bit set.
    let length = bytes.get(cell..)?.iter().take_while(|byte| **byte >= 0x80).count() + 1;
    let mut damaged = bytes.to_vec();
    let high = damaged.get_mut(cell + length).filter(|high| **high >= 0x80)?;
    *high = 0xff;
    Some(damaged)
}

#[tokio::test]
async fn each_entry_beside_a_wrong_number_is_saved_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let expected = fill(&path).await;
    let bytes = std::fs::read(&path).unwrap();
    let mut told = 0;
    for damaged in (1..bytes.len() / PAGE).filter_map(|page| misnumbered(&bytes, page)) {
        if !is_told(&damaged, &path, &expected).await {
            continue;
        }
        told += 1;
        let (found, lost) = saved(&path).await;
        assert_eq!((found.len(), lost), (expected.len() - 1, Some(1)));
        assert!(found.iter().all(|queued| expected.contains(queued)));
    }
    assert!(told > 3, "{told}");
}

#[tokio::test]
async fn messages_whose_database_the_damage_hides_are_saved_only_for_one_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let config = |truth: &str| JournalConfig::new(folder.path().join("journal.db")).with_truth(truth);
    let journal = SqliteJournal::connect(config("one")).await.unwrap();
    let (scope, session) = place();
    journal.push(&scope, &session, &batch(["for one".to_owned()])).await.unwrap();
    journal.owner.ask("break", |ledger| Box::pin(ledger.run("UPDATE whole SET truth = 'other'"))).await.unwrap();
    drop(journal);
    let unnamed = JournalConfig::new(folder.path().join("journal.db"));
    let refused = loop {
        match SqliteJournal::recover(unnamed.clone()).await {
            Err(Error::Unsupported { what, .. }) if what.contains("another process") => tokio::task::yield_now().await,
            outcome => break outcome,
        }
    };
    assert!(matches!(&refused, Err(Error::Unsupported { what, .. }) if what.contains("name it")), "{refused:?}");
    assert_eq!(SqliteJournal::recover(config("one")).await.unwrap().kept, 1);
    assert!(SqliteJournal::connect(config("other")).await.is_err());
    assert_eq!(all(&SqliteJournal::connect(config("one")).await.unwrap()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_file_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    crate::Sqlite::connect(crate::SqliteConfig::new(&path)).await.unwrap().close().await.unwrap();
    let before = std::fs::read(&path).unwrap();
    for outcome in [
        SqliteJournal::connect(JournalConfig::new(&path)).await.map(drop),
        SqliteJournal::recover(JournalConfig::new(&path)).await.map(drop),
    ] {
        assert!(matches!(outcome, Err(Error::Unsupported { .. })), "{outcome:?}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// Returns the file with each number of an inner page of the table changed in turn, by which its entries are found: read in order, all
/// are there.
fn misled(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    const INNER: u8 = 5;
    let number = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    let inner = (PAGE..bytes.len()).step_by(PAGE).filter(|page| bytes[*page] == INNER);
    let cells = inner.flat_map(move |page| (0..number(page + 3)).map(move |cell| page + number(page + 12 + cell * 2)));
    cells.map(|cell| {
        let mut damaged = bytes.to_vec();
        // The last byte of the number, which stands behind that of a page.
        let last = (cell + 4..).find(|at| damaged[*at] < 0x80).unwrap();
        damaged[last] ^= 0x7f;
        damaged
    })
}

#[tokio::test]
async fn each_entry_that_is_not_found_where_it_should_be_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let expected = fill(&path).await;
    let mut told = 0;
    for damaged in misled(&std::fs::read(&path).unwrap()) {
        if !is_told(&damaged, &path, &expected).await {
            continue;
        }
        told += 1;
        assert_eq!(saved(&path).await, (expected.clone(), Some(0)));
    }
    assert!(told > 3, "{told}");
}

#[tokio::test]
async fn a_log_whose_file_is_gone_is_told_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (path, log) = (folder.path().join("journal.db"), |path: &Path| path.with_extension("db-wal"));
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    push(&journal, "waits").await.unwrap();
    let (file, left) = (std::fs::read(&path).unwrap(), std::fs::read(log(&path)).unwrap());
    for is_put_back in [false, true] {
        // As a process leaves it that is killed, and without the file itself.
        let elsewhere = tempfile::tempdir().unwrap();
        let moved = elsewhere.path().join("journal.db");
        std::fs::write(log(&moved), &left).unwrap();
        let config = JournalConfig::new(&moved);
        for _ in 0..2 {
            let refused = SqliteJournal::connect(config.clone()).await.map(drop).unwrap_err();
            assert!(!refused.is_retryable() && refused.with_causes().contains("put the file back"), "{refused:?}");
            let unsaved = SqliteJournal::recover(config.clone()).await.unwrap_err();
            assert_eq!(unsaved.with_causes(), refused.with_causes());
        }
        assert_eq!(std::fs::read(log(&moved)).unwrap(), left);
        if is_put_back {
            std::fs::write(&moved, &file).unwrap();
        } else {
            std::fs::remove_file(log(&moved)).unwrap();
        }
        let again = SqliteJournal::connect(config).await.unwrap();
        assert_eq!(texts(&again).await.len(), usize::from(is_put_back));
    }
}
