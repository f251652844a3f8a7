//! An owner of two sessions, one of which is written to by a script that the server does not finish.

use std::slice::from_ref;

use memory_core::store::Store as _;
use memory_core::store::chat::{ChatStore as _, Compaction, Fence, NewMessage, Page, SessionState, View};
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target, Upkeep as _};
use memory_core::{Epoch, Message, MessageId, Role, Scope, Seq, SeqRange, SessionId, StoredMessage, Timestamp};
use memory_redis::RedisChat;
use memory_redis::redis::{self, Value};
use memory_testkit::services::{Server, Servers};
use memory_testkit::{Failure, Scene, equal};

use super::support::{chat, message, persist, scope, tell};

/// An owner of two sessions, and his server.
pub(crate) struct Pair {
    pub(crate) server: Server,
    pub(crate) chat: RedisChat,
    pub(crate) ada: Scope,
    pub(crate) index: IndexName,
    pub(crate) session: SessionId,
    /// The other one, which holds this message.
    pub(crate) keep: SessionId,
    pub(crate) kept: NewMessage,
}

impl Pair {
    pub(crate) async fn open(servers: &Servers) -> Result<Self, Failure> {
        let server = servers.own("redis")?.start().await?;
        let (chat, ada, index) = (chat(server.url()).await?, scope("ada")?, IndexName::new("text/test-1")?);
        let (session, keep, kept) = (SessionId::new("a")?, SessionId::new("keep")?, said("kept"));
        Ok(Self { server, chat, ada, index, session, keep, kept })
    }

    pub(crate) async fn say(&self, session: &SessionId, messages: &[NewMessage]) -> Scene {
        Ok(persist(&self.chat, &self.ada, session, messages).await?)
    }

    /// Begins with these messages, of which no index has taken in anything.
    pub(crate) async fn begin(&self, messages: &[NewMessage]) -> Scene {
        self.chat.enlist(&self.index, None, usize::MAX).await?;
        self.say(&self.keep, from_ref(&self.kept)).await?;
        self.say(&self.session, messages).await
    }

    /// Returns the notes of the session.
    pub(crate) async fn notes(&self) -> Result<Vec<Note>, Failure> {
        self.notes_of(&self.index, Timestamp(0)).await
    }

    /// Returns the notes of the session that are due for an index.
    pub(crate) async fn notes_of(&self, index: &IndexName, now: Timestamp) -> Result<Vec<Note>, Failure> {
        let mut notes = self.chat.pending(index, now, 10).await?;
        notes.retain(|note| note.target == Target::Messages(self.session.clone()));
        Ok(notes)
    }

    /// Settles the notes of the session.
    pub(crate) async fn settle(&self) -> Scene {
        self.settle_as(|note| Outcome::Done { through: note.upto }).await
    }

    /// Settles the notes of the session with an outcome.
    pub(crate) async fn settle_as(&self, outcome: impl Fn(&Note) -> Outcome) -> Scene {
        let notes = self.notes().await?;
        let settled: Vec<_> = notes.iter().map(|note| (note.clone(), outcome(note))).collect();
        Ok(self.chat.settle(&self.index, &settled).await?)
    }

    /// Returns the words of the window, and checks that it is counted rightly.
    pub(crate) async fn window(&self) -> Result<Vec<String>, Failure> {
        let page = self.chat.read(&self.ada, &self.session, &Page::newest(100)).await?;
        let tokens = page.messages.iter().map(|row| row.tokens).sum::<u64>();
        let counted = (page.state.active_messages, page.state.active_tokens);
        equal(counted, (page.messages.len() as u64, tokens))?;
        Ok(texts(&page.messages))
    }

    pub(crate) async fn view(&self, view: View) -> Result<Vec<StoredMessage>, Failure> {
        Ok(self.chat.read(&self.ada, &self.session, &Page::after(Seq(0), 100, view)).await?.messages)
    }

    pub(crate) async fn found(&self, ids: &[MessageId]) -> Result<usize, Failure> {
        Ok(self.chat.get(&self.ada, ids).await?.messages.len())
    }

    /// Returns whether a row of the session has these words, also one that nothing leads to.
    pub(crate) async fn keeps(&self, words: &str) -> Result<bool, Failure> {
        let rows = format!("HVALS mem:{{{}}}:{:020}:r:0:{}", self.ada.key(), 0, self.session.key());
        let rows = tell(self.server.url(), &rows).await?;
        let rows: Vec<Vec<u8>> = redis::from_redis_value(rows).map_err(|error| Failure::new(error.to_string()))?;
        Ok(rows.iter().any(|row| row.windows(words.len()).any(|part| part == words.as_bytes())))
    }

    pub(crate) async fn listed(&self, limit: usize) -> Result<Vec<String>, Failure> {
        let sessions = self.chat.sessions(&self.ada, None, limit).await?;
        Ok(sessions.iter().map(|state| state.session.name().to_owned()).collect())
    }

    pub(crate) async fn restore(&self, rows: &[StoredMessage]) -> Scene {
        Ok(self.chat.restore(&self.ada, &self.session, None, rows).await.map(|_| ())?)
    }

    pub(crate) async fn compact(&self, change: &Compaction) -> Scene {
        Ok(self.chat.compact(&self.ada, &self.session, change).await.map(|_| ())?)
    }

    pub(crate) async fn forget(&self, ids: &[MessageId]) -> Scene {
        Ok(self.chat.redact(&self.ada, ids).await.map(|_| ())?)
    }

    /// Returns the session as it is now.
    pub(crate) async fn seen(&self) -> Result<SessionState, Failure> {
        Ok(self.chat.read(&self.ada, &self.session, &Page::newest(0)).await?.state)
    }

    /// Deletes a session as it is now.
    pub(crate) async fn delete(&self, session: &SessionId) -> Scene {
        let seen = self.chat.read(&self.ada, session, &Page::newest(0)).await?.state;
        Ok(self.chat.delete(&self.ada, &seen).await.map(|_| ())?)
    }

    pub(crate) async fn bury(&self) -> Result<Epoch, Failure> {
        Ok(self.chat.bury(&self.ada, self.chat.epoch(&self.ada).await?).await?)
    }

    /// Erases the owner, and checks that no key of the first epoch is left.
    pub(crate) async fn erase(&self) -> Scene {
        let epoch = self.bury().await?;
        equal(self.chat.erase(&self.ada, epoch).await?.remaining, 0)?;
        let keys = format!("KEYS mem:{{{}}}:{:020}:*", self.ada.key(), 0);
        equal(tell(self.server.url(), &keys).await?, Value::Array(Vec::new()))
    }
}

pub(crate) fn said(text: &str) -> NewMessage {
    message(text.to_owned())
}

pub(crate) fn instruction(text: &str) -> NewMessage {
    NewMessage::sized(Message::new(Role::System, text, Timestamp(0)), 1)
}

pub(crate) fn texts(rows: &[StoredMessage]) -> Vec<String> {
    rows.iter().map(|row| row.message.as_ref().map(|message| message.text()).unwrap_or_default()).collect()
}

/// Returns the fold of all that stands from the first message up to `last`.
pub(crate) fn fold(last: u64, covered: &[&NewMessage], summary: &NewMessage) -> Compaction {
    let (fence, span) = (Fence::default(), SeqRange { first: Seq(1), last: Seq(last) });
    let ids = covered.iter().map(|new| new.message.id).collect();
    Compaction::Fold { fence, span, ids, summary: summary.clone() }
}
