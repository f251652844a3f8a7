//! The file of a journal, damaged: opening it tells of the damage, or it holds every message. What is saved of it can be opened,
//! and holds no message that was not there.
//!
//! The input is a list of changes, seven bytes each: of what, where, and to what. The file itself would be far too long to be
//! found out by trying.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memory_core::store::chat::{Append, NewMessage};
use memory_core::store::journal::{Journal as _, Queued};
use memory_core::{Message, Role, Scope, SessionId, Timestamp};
use memory_fuzz::run;
use memory_sqlite::{JournalConfig, SqliteJournal};
use tempfile::TempDir;

/// The size of a page of the file.
const PAGE: usize = 4_096;
/// Most changes of one input.
const CHANGES: usize = 64;

/// A journal as use leaves it, closed, and what stands in it.
static WHOLE: LazyLock<(Vec<u8>, Vec<Queued>)> = LazyLock::new(|| run(fill()));

fuzz_target!(|data: &[u8]| {
    let (bytes, expected) = &*WHOLE;
    let mut damaged = bytes.clone();
    data.chunks_exact(7).take(CHANGES).for_each(|change| damage(&mut damaged, change));
    run(check(&damaged, expected));
});

async fn fill() -> (Vec<u8>, Vec<Queued>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.expect("a journal");
    let scope = Scope::new("acme", "ada").expect("an owner");
    for round in 0..3_usize {
        let session = SessionId::new(&format!("talk {round}")).expect("a name");
        let new = |number: usize| {
            let text = format!("{} {number}", "a message that somebody said ".repeat(number % 9));
            NewMessage::sized(Message::new(Role::User, text, Timestamp(0)), 1)
        };
        let batch = Append::new((0..20_usize).map(new).collect());
        let last = journal.push(&scope, &session, &batch).await.expect("a push");
        journal.acknowledge(&[last - 19, last - 7]).await.expect("an acknowledgement");
        journal.reject(last - 1, "refused").await.expect("a rejection");
    }
    let found = all(&journal).await.expect("a whole journal");
    journal.close().await.expect("an end");
    (std::fs::read(&path).expect("a file"), found)
}

async fn all(journal: &SqliteJournal) -> memory::Result<Vec<Queued>> {
    let mut found = journal.queued(None, None, usize::MAX).await?;
    found.extend(journal.rejected(None, usize::MAX).await?.into_iter().map(|rejection| rejection.queued));
    Ok(found)
}

/// Makes one change. Places are wrapped, so that each input is some damage.
fn damage(file: &mut Vec<u8>, change: &[u8]) {
    let [kind, high, middle, low, value, count, other] = *change else { return };
    if file.is_empty() {
        return;
    }
    let place = (usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)) % file.len();
    let pages = file.len().div_ceil(PAGE);
    let page = |number: u8| usize::from(number) % pages * PAGE;
    match kind % 8 {
        0 | 1 => file[place] = value,
        2 => file[place] ^= 1 << (value % 8),
        3 => file.iter_mut().skip(place).take(usize::from(count)).for_each(|byte| *byte = value),
        4 => file.truncate(place),
        5 => file.extend(std::iter::repeat_n(value, usize::from(count) * 64)),
        // A page in place of another, and a stretch of one.
        6 => copy(file, page(value), page(other), PAGE),
        _ => copy(file, place, page(other) + usize::from(value), usize::from(count)),
    }
}

fn copy(file: &mut [u8], from: usize, to: usize, count: usize) {
    let part: Vec<u8> = file.iter().skip(from).take(count).copied().collect();
    file.iter_mut().skip(to).zip(part).for_each(|(byte, new)| *byte = new);
}

async fn check(damaged: &[u8], expected: &[Queued]) {
    let folder = put(damaged);
    let path = folder.path().join("journal.db");
    let config = JournalConfig::new(&path);
    if let Ok(journal) = SqliteJournal::connect(config.clone()).await {
        let found = all(&journal).await;
        journal.close().await.expect("an end");
        if let Ok(found) = found {
            assert!(found == expected, "other messages, and no word of it");
            return;
        }
    }
    save(&path, config, expected).await;
}

/// Saves what is whole.
async fn save(path: &Path, config: JournalConfig, expected: &[Queued]) {
    let recovered = loop {
        match SqliteJournal::recover(config.clone()).await {
            // The task that had it ends a moment later.
            Err(memory::Error::Unsupported { what, .. }) if what.contains("another process") => {
                tokio::task::yield_now().await;
            }
            outcome => break outcome,
        }
    };
    let Ok(recovered) = recovered else { return };
    let journal = SqliteJournal::connect(config).await.expect("what was saved is whole");
    let found = all(&journal).await.expect("what was saved is whole");
    journal.close().await.expect("an end");
    assert_eq!(found.len() as u64, recovered.kept, "{recovered:?} of {}", path.display());
    assert!(found.iter().all(|queued| expected.contains(queued)), "a message that was not there");
}

fn put(bytes: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("journal.db"), bytes).expect("room in memory");
    std::fs::write(folder.path().join("journal.db.lock"), "journal\n").expect("room in memory");
    folder
}
