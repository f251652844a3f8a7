//! Tests a memory while the server of one index is away: everything else works, and the index catches up afterwards.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, Search, Stage};
use memory_core::model::{Embedder as _, Purpose};
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::store::text::{TextQuery, TextStore};
use memory_core::store::vectors::{VectorQuery, VectorStore};
use memory_core::time::Stopwatch;
use memory_core::{Error, Filter, ItemId, Message, MessageId, Role, Scope, SessionId, Truth, Unit};

use super::Servers;
use crate::check::{Failure, SLACK, Scene, equal};
use crate::doubles::FakeEmbedder;
use crate::running::RunningWatch;

/// How long a call of an index may wait for its server.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the index is waited for once the server is back.
const CAUGHT_UP: Duration = Duration::from_secs(300);

/// What every message is about.
const WORD: &str = "roses";

/// The index that the server holds.
#[derive(Clone, Debug)]
pub enum Index {
    /// The text index, with the analysis [`Analysis::english`].
    Text(Arc<dyn TextStore>),
    /// The vector index, in the space of a [`FakeEmbedder`] with eight dimensions.
    Vectors(Arc<dyn VectorStore>),
}

/// Checks that a memory goes on while the server of an index is killed and while it is stopped, that its receipts say so,
/// and that the index has everything once the server is back.
///
/// `open` connects to the index. Its arguments are the URL of the server and the deadline of each call. It is called again while
/// a server that has just started is too slow for that deadline.
///
/// # Errors
/// The first promise that is not kept.
pub async fn index_follows<F>(servers: &Servers, service: &str, open: impl Fn(String, Duration) -> F) -> Scene
where
    F: Future<Output = Result<Index, Failure>>,
{
    let mut server = servers.own(service)?.start().await?;
    let watch = Stopwatch::start();
    let index = loop {
        match open(server.url().to_owned(), PATIENCE).await {
            Err(_) if watch.elapsed() < CAUGHT_UP => tokio::time::sleep(Duration::from_millis(100)).await,
            opened => break opened?,
        }
    };
    let indexed = IndexedMemory::open(index).await?;
    indexed.say("one").await?;
    indexed.catches_up().await?;
    indexed.holds(1).await?;

    server.kill().await?;
    indexed.goes_on("two", 2).await?;
    server.restart().await?;
    indexed.catches_up().await?;
    indexed.holds(2).await?;

    server.stop().await?;
    indexed.goes_on("three", 3).await?;
    server.cont().await?;
    indexed.catches_up().await?;
    indexed.holds(3).await?;
    server.remove().await?;
    Ok(())
}

/// A memory with the index under test.
struct IndexedMemory {
    memory: Memory,
    index: Index,
    embedder: Arc<FakeEmbedder>,
    ada: Scope,
}

impl IndexedMemory {
    async fn open(index: Index) -> Result<Self, Failure> {
        let embedder = Arc::new(FakeEmbedder::new(8));
        let (text, vectors): (Arc<dyn TextStore>, Arc<dyn VectorStore>) = match index.clone() {
            Index::Text(text) => (text, Arc::new(MemVectors::new(embedder.space().clone()))),
            Index::Vectors(vectors) => (Arc::new(MemText::new(Analysis::english().name())), vectors),
        };
        let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
        let memory = Memory::builder(chat, records).text(text).vectors(vectors, embedder.clone()).build().await?;
        Ok(Self { memory, index, embedder, ada: Scope::new("follows", &MessageId::fresh().to_string())? })
    }

    /// Says something, which no index may hold up.
    async fn say(&self, words: &str) -> Scene {
        let message = Message::new(Role::User, format!("{words} about {WORD}"), self.memory.now());
        let watch = RunningWatch::start();
        self.memory.of(&self.ada).session(&SessionId::new("s")?).append(vec![message]).await?;
        check!(watch.elapsed() < PATIENCE + SLACK, "an append took {:?}", watch.elapsed());
        Ok(())
    }

    /// Checks that the memory takes a message and finds all of them while the server is away, and says that it is.
    async fn goes_on(&self, words: &str, messages: usize) -> Scene {
        self.say(words).await?;
        equal(self.memory.upkeep_once().await?.dead, 0)?;
        let away = if matches!(self.index, Index::Text(_)) { Stage::Text } else { Stage::Vector };
        equal(self.search().await?, (messages, vec![away]))
    }

    /// Searches; returns how many hits there are, and what did not answer.
    async fn search(&self) -> Result<(usize, Vec<Stage>), Failure> {
        let watch = RunningWatch::start();
        let found = self.memory.of(&self.ada).search(&Search::new(WORD)).await?;
        check!(watch.elapsed() < PATIENCE + SLACK, "a search took {:?}", watch.elapsed());
        Ok((found.hits.len(), found.receipt.degraded.iter().map(|degraded| degraded.stage).collect()))
    }

    /// Checks that the index itself holds the messages, and that a search asks it. Waits for a server that has just come back.
    async fn holds(&self, messages: usize) -> Scene {
        let watch = Stopwatch::start();
        loop {
            let (held, found) = (self.held().await, self.search().await?);
            let is_away = held.as_ref().is_err_and(Error::is_retryable) || !found.1.is_empty();
            if !is_away || watch.elapsed() > CAUGHT_UP {
                equal(held?, messages)?;
                return equal(found, (messages, Vec::new()));
            }
        }
    }

    /// Returns how many messages the index finds by itself.
    async fn held(&self) -> Result<usize, Error> {
        match &self.index {
            Index::Text(text) => {
                let terms = Analysis::english().query(WORD);
                let query = TextQuery { terms, unit: Unit::Message, filter: Filter::All, limit: 50 };
                Ok(text.search(&self.ada, &query).await?.hits.len())
            }
            Index::Vectors(vectors) => {
                let embedded = self.embedder.embed(&[WORD], Purpose::Query).await?;
                let vector = embedded.into_iter().next().unwrap_or_default();
                let space = self.embedder.space().clone();
                let query =
                    VectorQuery { space, vector, filter: Filter::All, limit: 50, floor: None, with_vectors: false };
                let hits = vectors.search(&self.ada, &query).await?;
                Ok(hits.iter().filter(|hit| matches!(hit.item, ItemId::Message(_))).count())
            }
        }
    }

    /// Lets upkeep run until every index has seen everything.
    async fn catches_up(&self) -> Scene {
        let watch = Stopwatch::start();
        loop {
            self.memory.upkeep_once().await?;
            let backlog: Vec<_> = self.memory.status().await.indexes.into_iter().map(|index| index.backlog).collect();
            if backlog.iter().all(|left| left.as_ref().is_ok_and(|left| (left.pending, left.dead) == (0, 0))) {
                return Ok(());
            }
            check!(watch.elapsed() < CAUGHT_UP, "not indexed: {backlog:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
