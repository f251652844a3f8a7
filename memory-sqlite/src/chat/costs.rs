//! What appends, folds and restores cost, by the steps of SQLite's machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::id::{MessageId, Seq, SeqRange, SessionId};
use memory_core::store::chat::{Append, ChatStore, Compaction, NewMessage, Page, Slice};
use memory_core::{CounterId, Message, Role, Scope, StoredMessage, Timestamp};
use tempfile::TempDir;

use super::steps::watch;
use crate::client::Sqlite;
use crate::{SqliteChat, SqliteConfig};

/// A conversation in a file, and a counter of the steps that its writer takes.
struct Talk {
    _folder: TempDir,
    chat: SqliteChat,
    scope: Scope,
    session: SessionId,
    steps: Arc<AtomicU64>,
}

impl Talk {
    /// Fills a conversation with so many messages, of which the newest 500 are in the window.
    async fn of(messages: usize) -> Self {
        Self::with_window(messages, 500).await
    }

    /// Fills a conversation with so many messages, of which at most so many are in the window.
    async fn with_window(messages: usize, window: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Sqlite::connect(SqliteConfig::new(folder.path().join("memory.db"))).await.unwrap();
        let chat = SqliteChat::new(&file);
        let (scope, session) = (Scope::new("tenant", "subject").unwrap(), SessionId::new("session").unwrap());
        let steps = Arc::new(AtomicU64::new(0));
        let talk = Self { _folder: folder, chat, scope, session, steps: Arc::clone(&steps) };
        let mut left = messages;
        while left > window {
            let part = (left - window).min(500);
            talk.append(part).await;
            talk.fold(part).await;
            left -= part;
        }
        talk.append(left).await;
        file.write("watch", move |connection| Box::pin(watch(connection, 1, steps))).await.unwrap();
        talk
    }

    async fn append(&self, count: usize) {
        let new = || NewMessage::sized(Message::new(Role::User, "words", Timestamp(0)), 1);
        let batch = Append::new((0..count).map(|_| new()).collect());
        self.chat.append(&self.scope, &self.session, &batch).await.unwrap();
    }

    /// Folds the oldest so many messages of the window that are no summaries.
    async fn fold(&self, count: usize) {
        let Slice { state, messages, .. } =
            self.chat.read(&self.scope, &self.session, &Page::newest(10_000)).await.unwrap();
        let rows: Vec<_> = messages.iter().filter(|row| row.covers.is_none()).take(count).collect();
        let (first, last) = (rows[0].seq, rows[rows.len() - 1].seq);
        let ids: Vec<MessageId> = rows.iter().map(|row| row.id).collect();
        let summary = NewMessage::sized(Message::new(Role::User, "summary", Timestamp(0)), 1);
        let change = Compaction::Fold { fence: state.fence, span: SeqRange { first, last }, ids, summary };
        let state = self.chat.compact(&self.scope, &self.session, &change).await.unwrap();
        assert!(state.head > Seq(0));
    }

    /// Restores so many messages behind the others.
    async fn restore(&self, count: u64) {
        let head = self.chat.read(&self.scope, &self.session, &Page::newest(0)).await.unwrap().state.head;
        let row = |number: u64| {
            let message = Arc::new(Message::new(Role::User, "words", Timestamp(0)));
            StoredMessage {
                id: message.id,
                session: self.session.clone(),
                seq: Seq(head.0 + number),
                tokens: 1,
                counter: CounterId::UNKNOWN,
                covers: None,
                archived_by: None,
                message: Some(message),
            }
        };
        let rows: Vec<_> = (1..=count).map(row).collect();
        let restored = self.chat.restore(&self.scope, &self.session, None, &rows).await.unwrap();
        assert_eq!(restored.state.active_messages, head.0 + count);
    }

    /// Returns how many steps were taken since it was asked last.
    fn spent(&self) -> u64 {
        self.steps.swap(0, Ordering::SeqCst)
    }
}

#[tokio::test]
async fn s1_3_an_append_takes_the_same_steps_in_a_session_of_a_hundred_thousand_rows() {
    let mut costs = Vec::new();
    for messages in [1_000, 100_000] {
        let talk = Talk::of(messages).await;
        // The first one after the connection was told to count prepares its statements.
        talk.append(1).await;
        talk.spent();
        talk.append(1).await;
        let one = talk.spent();
        talk.append(100).await;
        let hundred = talk.spent();
        assert!(one > 0 && hundred < 100 * one, "{one} steps for a message, {hundred} for a hundred");
        costs.push((one, hundred));
    }
    assert!(costs[1].0 <= costs[0].0 + 20 && costs[1].1 <= costs[0].1 + 20, "{costs:?}");
}

#[tokio::test]
async fn s1_3_a_fold_takes_steps_for_what_leaves_the_window_and_not_for_what_left_before() {
    let mut costs = Vec::new();
    for messages in [1_000, 20_000] {
        let talk = Talk::of(messages).await;
        talk.fold(10).await;
        talk.spent();
        talk.fold(100).await;
        let hundred = talk.spent();
        talk.fold(300).await;
        let more = talk.spent();
        assert!(hundred > 0 && more < 3 * hundred, "{hundred} steps for a hundred, {more} for three");
        costs.push((hundred, more));
    }
    // A window holds one more summary for each part that was folded before.
    assert!(costs[1].0 <= 2 * costs[0].0 && costs[1].1 <= 2 * costs[0].1, "{costs:?}");
}

#[tokio::test]
async fn a_restore_takes_the_same_steps_beside_a_window_of_twenty_thousand() {
    let mut costs = Vec::new();
    for messages in [100, 20_000] {
        let talk = Talk::with_window(messages, messages).await;
        // The first one after the connection was told to count prepares its statements.
        talk.restore(100).await;
        talk.spent();
        talk.restore(100).await;
        costs.push(talk.spent());
    }
    assert!(costs[0] > 0 && costs[1] <= costs[0] + 50, "{costs:?}");
}
