//! What a fork costs, by the steps of SQLite's machine: whatever its statements read and write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::engine::{Memory, Session};
use memory_core::store::chat::{Append, ChatStore, NewMessage};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Scope, Seq, SessionId, Timestamp, Truth};
use tempfile::TempDir;

use super::steps::watch;
use crate::client::Sqlite;
use crate::{SqliteChat, SqliteConfig, SqliteRecords};

/// A conversation of a memory over a file, and a counter of the steps that its connections take.
struct Talk {
    _folder: TempDir,
    talk: Session,
    steps: Arc<AtomicU64>,
}

impl Talk {
    /// Fills a conversation with so many messages.
    async fn of(messages: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // One reader, so that its steps can be counted.
        let config = SqliteConfig::new(folder.path().join("memory.db")).with_readers(1);
        let file = Sqlite::connect(config).await.unwrap();
        let (scope, session) = (Scope::new("tenant", "subject").unwrap(), SessionId::new("session").unwrap());
        let chat = Arc::new(SqliteChat::new(&file));
        let mut left = messages;
        while left > 0 {
            let part = left.min(1_000);
            let new = || NewMessage::sized(Message::new(Role::User, "words", Timestamp(0)), 1);
            let batch = Append::new((0..part).map(|_| new()).collect());
            chat.append(&scope, &session, &batch).await.unwrap();
            left -= part;
        }
        let builder = Memory::builder(Truth::chat(chat), Truth::records(Arc::new(SqliteRecords::new(&file))));
        let memory = builder.buffer(BufferConfig::default().with_folding(Folding::Off)).build().await.unwrap();
        let steps = Arc::<AtomicU64>::default();
        let (of_writer, of_reader) = (Arc::clone(&steps), Arc::clone(&steps));
        file.write("watch", move |connection| Box::pin(watch(connection, 1, of_writer))).await.unwrap();
        file.read("watch", move |connection| Box::pin(watch(connection, 1, of_reader))).await.unwrap();
        Self { _folder: folder, talk: memory.of(&scope).session(&session), steps }
    }

    /// Makes a branch that leaves at a message. Returns how many steps that took.
    async fn fork(&self, at: u64, name: &str) -> u64 {
        self.steps.store(0, Ordering::SeqCst);
        self.talk.fork(Seq(at), &SessionId::new(name).unwrap()).await.unwrap();
        self.steps.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_fork_of_a_hundred_thousand_messages_takes_the_steps_of_one_of_ten() {
    let mut costs = Vec::new();
    for messages in [10, 100_000] {
        let talk = Talk::of(messages).await;
        // The first one after the connections were told to count prepares its statements.
        talk.fork(1, "first").await;
        let early = talk.fork(10, "early").await;
        costs.extend([early, talk.fork(messages as u64, "late").await]);
    }
    let (least, most) = (costs.iter().min().unwrap(), costs.iter().max().unwrap());
    assert!(*least > 0 && *most <= *least + 50, "{costs:?}");
}
