use std::path::Path;
use std::sync::Arc;

use memory_core::record::Record;
use memory_core::store::chat::{Append, ChatStore, Compaction, NewMessage, Page, View};
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::store::upkeep::{Incarnation, IndexName, Outcome, Target, Upkeep};
use memory_core::store::{ErasureLevel, Store};
use memory_core::{Epoch, Message, Role, Scope, Seq, SeqRange, SessionId, Timestamp};
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

use crate::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, Synchronous};

/// A file with the data of several owners, each with a marker of its own in all it says.
struct Bed {
    folder: TempDir,
    file: Sqlite,
    chat: SqliteChat,
    records: SqliteRecords,
    /// What chance goes on with.
    chance: u64,
}

const OWNERS: usize = 6;

impl Bed {
    async fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let patience = std::time::Duration::from_millis(200);
        let config = SqliteConfig::new(folder.path().join("memory.db")).with_patience(patience);
        let config = config.with_synchronous(Synchronous::Normal);
        let file = Sqlite::connect(config).await.unwrap();
        let (chat, records) = (SqliteChat::new(&file), SqliteRecords::new(&file));
        Self { folder, file, chat, records, chance: seed }
    }

    /// The next number below `end` (xorshift).
    fn roll(&mut self, end: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance % end as u64).unwrap()
    }

    async fn append(&mut self, owner: usize) {
        let session = SessionId::new(&format!("session {}", self.roll(3))).unwrap();
        let message = |bed: &mut Self| {
            let text = marker(owner).repeat(1 + bed.roll(12)) + &"x".repeat(bed.roll(60));
            let message = Message::new(Role::User, text, Timestamp(1)).with_speaker(marker(owner));
            NewMessage::sized(message.with_metadata(marker(owner), marker(owner)), 1)
        };
        let messages = (0..1 + self.roll(5)).map(|_| message(self)).collect();
        self.chat.append(&scope(owner), &session, &Append::new(messages)).await.unwrap();
    }

    /// Puts one of a few records anew, with more or fewer words than before.
    async fn put(&mut self, owner: usize) {
        let mut record = Record::new(marker(owner), marker(owner).repeat(1 + self.roll(90)), Timestamp(1));
        record.id = memory_core::RecordId::of_content(&[u8::try_from(self.roll(40)).unwrap()]);
        record.first.tags = vec![marker(owner)];
        record.first.metadata.insert(marker(owner), marker(owner).into());
        let put = Put { record: Arc::new(record), expect: Expect::Anything };
        self.records.put(&scope(owner), &RecordBatch { fence: None, puts: vec![put] }).await.unwrap();
    }

    /// Folds, forgets or deletes something of an owner.
    async fn change(&mut self, owner: usize) {
        let session = SessionId::new(&format!("session {}", self.roll(3))).unwrap();
        let window = self.chat.read(&scope(owner), &session, &Page::after(Seq(0), 3, View::Active)).await.unwrap();
        let (Some(first), Some(last)) = (window.messages.first(), window.messages.last()) else { return };
        match self.roll(8) {
            0 => drop(self.chat.delete(&scope(owner), &window.state).await.unwrap()),
            1..=3 => drop(self.chat.redact(&scope(owner), &[first.id]).await.unwrap()),
            _ => {
                let start = first.covers.map_or(first.seq, |covers| covers.first);
                let summary = Message::new(Role::System, marker(owner), Timestamp(1));
                let change = Compaction::Fold {
                    fence: window.state.fence,
                    span: SeqRange { first: start, last: last.seq },
                    ids: window.messages.iter().map(|row| row.id).collect(),
                    summary: NewMessage::sized(summary, 1),
                };
                self.chat.compact(&scope(owner), &session, &change).await.unwrap();
            }
        }
    }

    /// Fills the file with the doings of all owners, mixed.
    async fn live(&mut self, doings: usize) {
        for _ in 0..doings {
            let owner = self.roll(OWNERS);
            match self.roll(4) {
                0 | 1 => self.append(owner).await,
                2 => self.put(owner).await,
                _ => self.change(owner).await,
            }
        }
    }

    async fn erase(&self, owner: usize) -> [ErasureLevel; 2] {
        let scope = scope(owner);
        let (chat, records) = (self.chat.epoch(&scope).await.unwrap(), self.records.epoch(&scope).await.unwrap());
        let (chat, records) = (self.chat.bury(&scope, chat).await, self.records.bury(&scope, records).await);
        let (chat, records) = (chat.unwrap(), records.unwrap());
        let chat = self.chat.erase(&scope, chat).await.unwrap();
        let records = self.records.erase(&scope, records).await.unwrap();
        assert_eq!((chat.remaining, records.remaining), (0, 0));
        [chat.level, records.level]
    }

    /// Counts an owner's marker in all files.
    fn count(&self, owner: usize) -> usize {
        count(self.folder.path(), &marker(owner))
    }
}

fn scope(owner: usize) -> Scope {
    Scope::new("tenant", &format!("subject {owner}")).unwrap()
}

/// Letters that occur nowhere else, not in names either.
fn marker(owner: usize) -> String {
    format!("Qz{owner}vWk{owner}xJb{owner}")
}

fn count(folder: &Path, marker: &str) -> usize {
    let files = std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
    let (first, others) = marker.as_bytes().split_first().unwrap();
    files.map(|bytes| bytes.split(|byte| byte == first).skip(1).filter(|rest| rest.starts_with(others)).count()).sum()
}

#[tokio::test]
async fn an_erased_owner_leaves_no_byte_in_the_files() {
    // With these, copies left behind by moves of rows survive all but a rewriting of the file.
    for seed in [11_u64, 26] {
        let mut bed = Bed::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).await;
        bed.live(600).await;
        let before: Vec<usize> = (0..OWNERS).map(|owner| bed.count(owner)).collect();
        assert!(before.iter().all(|count| *count > 0), "the scan finds nothing: {before:?}");
        assert_eq!(bed.erase(0).await, [ErasureLevel::Purged; 2]);
        assert_eq!(bed.count(0), 0, "seed {seed}");
        assert!((1..OWNERS).all(|owner| bed.count(owner) > 0));
    }
}

#[tokio::test]
async fn an_erasure_beside_a_reader_is_logical_until_it_is_repeated() {
    let mut bed = Bed::new(7).await;
    bed.live(60).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(bed.folder.path().join("memory.db"));
    let mut reader = options.connect().await.unwrap();
    sqlx::query("BEGIN").execute(&mut reader).await.unwrap();
    let _seen: i64 = sqlx::query_scalar("SELECT count(*) FROM message").fetch_one(&mut reader).await.unwrap();
    assert_eq!(bed.erase(0).await, [ErasureLevel::Logical; 2]);
    assert!(bed.count(0) > 0);
    reader.close().await.unwrap();
    assert_eq!(bed.chat.erase(&scope(0), Epoch(1)).await.unwrap().level, ErasureLevel::Purged);
    assert_eq!(bed.count(0), 0);
}

#[tokio::test]
async fn a_large_file_is_purged_when_asked_for() {
    let mut bed = Bed::new(7).await;
    bed.live(60).await;
    let config = SqliteConfig::new(bed.folder.path().join("memory.db")).with_purge_below(4_096);
    bed.chat = SqliteChat::new(&Sqlite::connect(config.clone()).await.unwrap());
    bed.records = SqliteRecords::new(&Sqlite::connect(config).await.unwrap());
    assert_eq!(bed.erase(0).await, [ErasureLevel::Logical; 2]);
    assert_eq!(bed.file.purge().await.unwrap(), ErasureLevel::Purged);
    assert_eq!(bed.count(0), 0);
    assert!(bed.count(1) > 0);
}

#[tokio::test]
async fn an_owner_erased_while_an_index_is_enlisted_leaves_no_name_and_holds_up_no_other() {
    let bed = Bed::new(5).await;
    let (index, session) = (IndexName::new("text/test-1").unwrap(), |name: &str| SessionId::new(name).unwrap());
    for (owner, name) in [(0, marker(0)), (0, "z".to_owned()), (1, "s".to_owned())] {
        let message = NewMessage::sized(Message::new(Role::User, "hello", Timestamp(1)), 1);
        bed.chat.append(&scope(owner), &session(&name), &Append::new(vec![message])).await.unwrap();
    }
    // As far as the first conversation of the first owner.
    assert!(!bed.chat.enlist(&index, None, 1).await.unwrap());
    assert!(bed.count(0) > 0);
    assert_eq!(bed.erase(0).await, [ErasureLevel::Purged; 2]);
    assert_eq!(bed.count(0), 0);
    assert!(bed.chat.enlist(&index, None, usize::MAX).await.unwrap());
    let noted = bed.chat.pending(&index, Timestamp(0), 10).await.unwrap();
    let noted: Vec<_> = noted.into_iter().map(|note| (note.scope, note.target)).collect();
    assert_eq!(noted, [(scope(0), Target::Owner), (scope(1), Target::Messages(session("s")))]);
}

#[tokio::test]
async fn an_owner_whom_an_earlier_version_erased_is_named_until_the_erasure_is_repeated() {
    let bed = Bed::new(5).await;
    let (index, session) = (IndexName::new("text/test-1").unwrap(), |name: &str| SessionId::new(name).unwrap());
    let append = async |name: &str| {
        let message = NewMessage::sized(Message::new(Role::User, "hello", Timestamp(1)), 1);
        bed.chat.append(&scope(0), &session(name), &Append::new(vec![message])).await.unwrap();
    };
    append("old").await;
    assert!(!bed.chat.enlist(&index, None, 1).await.unwrap());
    bed.erase(0).await;
    let name = bed.file.write("name", |connection| {
        Box::pin(async move {
            let sql = "UPDATE enlisted SET noted_key = ?";
            sqlx::query(sql).bind(marker(0)).execute(connection).await.unwrap();
            Ok(())
        })
    });
    name.await.unwrap();
    for name in ["new", "newer"] {
        append(name).await;
    }
    assert!(bed.count(0) > 0);
    assert_eq!(bed.chat.erase(&scope(0), Epoch(1)).await.unwrap().level, ErasureLevel::Purged);
    assert_eq!(bed.count(0), 0);
    // A walk in the midst of what is there now goes on from there.
    assert!(!bed.chat.enlist(&index, Some(Incarnation::draw()), 1).await.unwrap());
    bed.chat.erase(&scope(0), Epoch(1)).await.unwrap();
    let notes = bed.chat.pending(&index, Timestamp(0), 10).await.unwrap();
    let done: Vec<_> = notes.iter().map(|note| (note.clone(), Outcome::Done { through: note.upto })).collect();
    bed.chat.settle(&index, &done).await.unwrap();
    assert!(bed.chat.enlist(&index, None, usize::MAX).await.unwrap());
    let noted = bed.chat.pending(&index, Timestamp(0), 10).await.unwrap();
    let noted: Vec<_> = noted.into_iter().map(|note| note.target).collect();
    assert_eq!(noted, [Target::Messages(session("newer"))]);
}

#[tokio::test]
async fn an_erasure_after_which_the_file_cannot_be_rewritten_is_logical_until_it_is_repeated() {
    let bed = Bed::new(3).await;
    let session = SessionId::new("s").unwrap();
    for (owner, count) in [(0, 1), (1, 5_000)] {
        let message = || Message::new(Role::User, "hello", Timestamp(1)).with_speaker(marker(owner));
        let messages = (0..count).map(|_| NewMessage::sized(message(), 1)).collect();
        bed.chat.append(&scope(owner), &session, &Append::new(messages)).await.unwrap();
    }
    // Interrupts what takes as long as to copy all messages.
    let interrupt = bed.file.write("interrupt", |connection| {
        Box::pin(async move {
            connection.lock_handle().await.unwrap().set_progress_handler(5_000, || false);
            Ok(())
        })
    });
    interrupt.await.unwrap();
    for (removed, level) in [(1, ErasureLevel::Logical), (0, ErasureLevel::Purged)] {
        let erased = bed.chat.erase(&scope(0), Epoch(1)).await.unwrap();
        assert_eq!((erased.removed, erased.remaining, erased.level), (removed, 0, level));
    }
    assert_eq!((bed.count(0), bed.count(1) > 0), (0, true));
}
