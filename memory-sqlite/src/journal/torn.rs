//! The end of a log that was not closed: cut off or damaged, it is a log that ends before. What was committed before the damage is
//! there, in order, and nothing else.

use memory_core::store::journal::Journal as _;
use memory_testkit::generate::Random;

use super::damage::{PAGE, lay, places};
use super::tests::{push, texts};
use super::{JournalConfig, SqliteJournal};

/// How long a page is in the log, with what stands before it.
const FRAME: usize = 24 + PAGE;

/// How many pages at the end of the log are cut and damaged.
const FRAMES: usize = 3;

/// How many messages are pushed, each with a commit of its own.
const PUSHED: usize = 6;

/// A journal as a process leaves it that is killed.
struct Killed {
    file: Vec<u8>,
    log: Vec<u8>,
    /// How long the log was when each message was acknowledged.
    ends: Vec<usize>,
}

impl Killed {
    async fn new() -> Self {
        loop {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal.db");
            let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
            let log = || std::fs::read(path.with_extension("db-wal")).unwrap();
            let mut ends = Vec::new();
            for number in 0..PUSHED {
                push(&journal, &text(number)).await.unwrap();
                ends.push(log().len());
            }
            // Nothing was awaited since the last message was acknowledged, so both are of one moment.
            let (file, log) = (std::fs::read(&path).unwrap(), log());
            // Where the machine stood still, the log was moved into the file meanwhile, and is too short to be cut.
            if ends.is_sorted_by(|one, next| one < next) && log.len() > (FRAMES + 1) * FRAME {
                return Self { file, log, ends };
            }
        }
    }

    /// Returns where the pages begin that are cut and damaged.
    fn tail(&self) -> usize {
        self.log.len() - FRAMES * FRAME
    }

    /// Returns the messages whose commit stands wholly before a place in the log.
    fn before(&self, place: usize) -> Vec<String> {
        (0..).zip(&self.ends).filter(|(_, end)| **end <= place).map(|(number, _)| text(number)).collect()
    }
}

fn text(number: usize) -> String {
    format!("message {number}")
}

/// Returns the places in the tail of a log that are tried: each byte of what stands before a page, and others.
fn tried(killed: &Killed, dice: &mut Random) -> Vec<usize> {
    let (tail, len) = (killed.tail(), killed.log.len());
    let heads = (0..FRAMES).flat_map(|frame| (0..32).map(move |byte| tail + frame * FRAME + byte));
    let mut tried: Vec<usize> = heads.chain(places(tail, len, dice)).collect();
    tried.sort_unstable();
    tried.dedup();
    tried
}

/// Opens a journal with such a log, and returns what it holds.
async fn held(killed: &Killed, log: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    lay(&killed.file, &path);
    std::fs::write(path.with_extension("db-wal"), log).unwrap();
    let journal = SqliteJournal::connect(JournalConfig::new(&path)).await.unwrap();
    let held = texts(&journal).await;
    // It goes on from there.
    push(&journal, "next").await.unwrap();
    journal.close().await.unwrap();
    held
}

#[tokio::test]
async fn s3_5_a_log_that_is_cut_off_holds_what_was_committed_before_the_cut() {
    let killed = Killed::new().await;
    for length in tried(&killed, &mut Random::new(10)) {
        let held = held(&killed, &killed.log[..length]).await;
        assert_eq!(held, killed.before(length), "{length} of {} bytes", killed.log.len());
        assert!(held.len() < PUSHED, "nothing was cut off");
    }
    assert_eq!(held(&killed, &killed.log).await, killed.before(killed.log.len()));
    assert_eq!(killed.before(killed.log.len()).len(), PUSHED);
}

#[tokio::test]
async fn s3_5_a_log_that_is_damaged_at_its_end_is_one_that_was_cut_off_there() {
    let killed = Killed::new().await;
    let mut dice = Random::new(11);
    for place in tried(&killed, &mut dice) {
        let mut damaged = killed.log.clone();
        damaged[place] ^= 1 << dice.below(8);
        // With a page everything behind it is lost.
        let page = killed.tail() + (place - killed.tail()) / FRAME * FRAME;
        assert_eq!(held(&killed, &damaged).await, killed.before(page), "at {place} of {} bytes", killed.log.len());
    }
}
