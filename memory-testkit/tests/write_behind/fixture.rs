//! A memory behind a journal, over a primary whose faults are ordered.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::engine::{Event, Memory, MemoryBuilder, Observer, Session};
use memory_core::layer::WriteBehindPolicy;
use memory_core::methods::*;
use memory_core::model::Embedder as _;
use memory_core::reference::{MemChat, MemJournal, MemRecords, MemText, MemVectors};
use memory_core::store::chat::{NewMessage, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Analysis, Cause, Error, Message, Role, Seq, Transience, Truth};
use memory_testkit::broken_store;
use memory_testkit::doubles::{FakeEmbedder, Tap, Tapped};

memory_core::store_methods!(Store, ChatStore, Upkeep => broken_store { Arc<MemChat> {} });

/// What is wrong with the primary now.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) is_away: AtomicBool,
    /// It does what it is asked, and nobody hears of it.
    pub(crate) loses_answers: AtomicBool,
    /// It takes nothing, for a reason that will not pass.
    pub(crate) is_broken: AtomicBool,
    /// It takes no message that holds these words.
    pub(crate) refuses: Mutex<Option<&'static str>>,
    /// More messages than these in one call take it longer than anybody waits.
    pub(crate) most_in_time: Mutex<Option<usize>>,
    /// How long it takes over an append.
    pub(crate) delay: Mutex<Duration>,
    /// How long its answer to an append is on the way.
    pub(crate) way_back: Mutex<Duration>,
    /// What stands in its place since it was restored from a backup.
    pub(crate) restored: Mutex<Option<Arc<MemChat>>>,
    pub(crate) appends: AtomicU64,
    pub(crate) reads: AtomicU64,
    /// How many reads and appends of sessions are under way now, and how many were at most.
    under_way: AtomicU64,
    pub(crate) at_once: AtomicU64,
}

fn failed(transience: Transience) -> Error {
    Error::Backend { backend: "primary", doing: "answer", transience, source: Cause::new("as it was ordered") }
}

const AWAY: Transience = Transience::Transient { after: None };

impl Faults {
    pub(crate) fn go_away(&self) {
        self.is_away.store(true, Ordering::SeqCst);
    }

    pub(crate) fn come_back(&self) {
        self.is_away.store(false, Ordering::SeqCst);
    }

    /// Returns the store that answers now.
    fn standing(&self, inner: &Arc<MemChat>) -> Arc<MemChat> {
        self.restored.lock().unwrap().clone().unwrap_or_else(|| Arc::clone(inner))
    }

    /// Lets others begin beside a call, and counts how many do.
    async fn pass(&self) {
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.at_once.fetch_max(under_way, Ordering::SeqCst);
        tokio::task::yield_now().await;
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    fn check(&self) -> Result<()> {
        if self.is_away.load(Ordering::SeqCst) { Err(failed(AWAY)) } else { Ok(()) }
    }
}

impl Tap for Faults {
    fn enter(&self, _: &'static str) -> Result<()> {
        self.check()
    }

    fn leave(&self, _: &'static str, _: usize) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Break for Arc<Faults> {
    async fn append(
        &self,
        inner: &Arc<MemChat>,
        scope: &Scope,
        session: &SessionId,
        batch: &Append,
    ) -> Result<Appended> {
        self.check()?;
        self.appends.fetch_add(1, Ordering::SeqCst);
        self.pass().await;
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        let most = *self.most_in_time.lock().unwrap();
        if most.is_some_and(|most| batch.messages.len() > most) {
            return Err(failed(Transience::Late));
        }
        let refused = *self.refuses.lock().unwrap();
        let is_refused = |new: &NewMessage| refused.is_some_and(|words| new.message.text().contains(words));
        if self.is_broken.load(Ordering::SeqCst) || batch.messages.iter().any(is_refused) {
            return Err(failed(Transience::Permanent));
        }
        let appended = self.standing(inner).append(scope, session, batch).await?;
        let way_back = *self.way_back.lock().unwrap();
        if !way_back.is_zero() {
            tokio::time::sleep(way_back).await;
        }
        if self.loses_answers.load(Ordering::SeqCst) { Err(failed(AWAY)) } else { Ok(appended) }
    }

    async fn read(&self, inner: &Arc<MemChat>, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        self.check()?;
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.pass().await;
        self.standing(inner).read(scope, session, page).await
    }

    async fn get(&self, inner: &Arc<MemChat>, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        self.check()?;
        self.standing(inner).get(scope, ids).await
    }

    async fn sessions(
        &self,
        inner: &Arc<MemChat>,
        scope: &Scope,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionState>> {
        self.check()?;
        self.standing(inner).sessions(scope, after, limit).await
    }

    async fn redact(&self, inner: &Arc<MemChat>, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        self.check()?;
        self.standing(inner).redact(scope, ids).await
    }

    async fn bury(&self, inner: &Arc<MemChat>, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        self.check()?;
        self.standing(inner).bury(scope, seen).await
    }

    async fn enlist(
        &self,
        inner: &Arc<MemChat>,
        index: &IndexName,
        incarnation: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        self.check()?;
        self.standing(inner).enlist(index, incarnation, limit).await
    }
}

/// Keeps what happened.
#[derive(Debug, Default)]
pub(crate) struct Seen(pub(crate) Mutex<Vec<Event>>);

impl Observer for Seen {
    fn observe(&self, _: Option<&Scope>, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// A primary, its faults, and a journal, which outlive the memories over them.
pub(crate) struct Bed {
    pub(crate) primary: Arc<MemChat>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) journal: Arc<MemJournal>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) policy: WriteBehindPolicy,
    records: Arc<MemRecords>,
    text: Arc<MemText>,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self::with_room(1_000_000)
    }

    pub(crate) fn with_room(messages: usize) -> Self {
        Self {
            primary: Arc::default(),
            faults: Arc::default(),
            journal: Arc::new(MemJournal::new(messages)),
            seen: Arc::default(),
            policy: WriteBehindPolicy::default(),
            records: Arc::default(),
            text: Arc::new(MemText::new(Analysis::english().name())),
        }
    }

    /// Opens a memory, as a process of its own does.
    pub(crate) async fn open(&self) -> Memory {
        self.open_with(self.journal.clone()).await
    }

    /// Opens a memory with a journal in place of that of the bed.
    pub(crate) async fn open_with(&self, journal: Arc<dyn Journal>) -> Memory {
        self.over(Truth::records(self.records.clone()), journal).text(self.text.clone()).build().await.unwrap()
    }

    /// Opens a memory of which records and the indexes of words and of meaning are away when the primary is.
    pub(crate) async fn open_to_be_away_whole(&self) -> Memory {
        let tap = || -> Arc<dyn Tap> { self.faults.clone() };
        let embedder = Arc::new(FakeEmbedder::new(16));
        let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
        let records = Truth::records(self.records.clone()).layered(|store| Arc::new(Tapped::new(store, tap())));
        self.over(records, self.journal.clone())
            .text(Arc::new(Tapped::new(self.text.clone(), tap())))
            .vectors(Arc::new(Tapped::new(vectors, tap())), embedder)
            .build()
            .await
            .unwrap()
    }

    /// Begins a memory over the primary, these records and this journal.
    fn over(&self, records: Truth<dyn RecordStore>, journal: Arc<dyn Journal>) -> MemoryBuilder {
        let primary = Mutant { inner: self.primary.clone(), broken: self.faults.clone() };
        MemoryBuilder::over(memory_core::Stores {
            chat: Some(Truth::chat(Arc::new(primary))),
            records: Some(records),
            ..memory_core::Stores::default()
        })
        .journal(journal)
        .write_behind(self.policy)
        .buffer(BufferConfig::default().with_folding(Folding::Off))
        .observer(self.seen.clone())
    }

    /// Returns the words that the primary has of Ada's talk, in the order of their numbers, which have no gap.
    pub(crate) async fn stored(&self) -> Vec<String> {
        let page = Page::after(Seq(0), usize::MAX, View::Log);
        let rows = self.faults.standing(&self.primary).read(&ada(), &talk(), &page).await.unwrap().messages;
        assert!(rows.iter().zip(1..).all(|(row, seq)| row.seq == Seq(seq)));
        rows.into_iter().map(|row| row.message.map(|message| message.text()).unwrap_or_default()).collect()
    }

    /// Returns how many messages wait in the journal, and how many were refused.
    pub(crate) async fn held(&self) -> (usize, usize) {
        let queued = self.journal.queued(None, None, usize::MAX).await.unwrap().len();
        (queued, self.journal.rejected(None, usize::MAX).await.unwrap().len())
    }
}

pub(crate) fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

pub(crate) fn talk() -> SessionId {
    SessionId::new("talk").unwrap()
}

pub(crate) fn session(memory: &Memory) -> Session {
    memory.of(&ada()).session(&talk())
}

pub(crate) fn message(text: impl Into<String>) -> Message {
    Message::new(Role::User, text, Timestamp(1_767_268_800_000_000))
}

/// Says words, one message each and one after the other.
pub(crate) async fn say(session: &Session, words: impl IntoIterator<Item = String>) {
    for text in words {
        session.append(vec![message(text)]).await.unwrap();
    }
}

/// Returns the words that a reader of the session sees, and whether that is all.
pub(crate) async fn read(session: &Session) -> (Vec<String>, bool) {
    let slice = session.read(&Page::after(Seq(0), usize::MAX, View::Active)).await.unwrap();
    let texts = slice.messages.into_iter().filter_map(|row| row.message).map(|message| message.text()).collect();
    (texts, slice.complete)
}

pub(crate) fn numbered(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("message {number}")).collect()
}
