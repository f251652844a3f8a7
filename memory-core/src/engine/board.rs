//! The board of an owner: what agents share for a while, found by key, by words and by meaning.

mod entry;

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::index::{PIECE_WORDS, passages};
use crate::layer::cached::noting;
use crate::scope::{Epoch, Scope};
use crate::store::blackboard::{BlackboardEntry, BoardHit, BoardQuery, Posted};
use crate::time::Stopwatch;
use crate::vector::EmbeddingSpace;

use super::event::Event;
use super::handle::Scoped;
use super::inner::Inner;
use super::receipt::{Degraded, Stage};

pub use entry::{BoardEntry, BoardReceipt, BoardResults, BoardStats};

/// The board of an owner: a few small entries under keys. Cheap to clone.
///
/// Agents share a board by choosing the same owner, such as their team; their conversations stay apart under owners of their
/// own. A board holds a hundred entries unless its store was made for another number
/// ([`MemoryBuilder::blackboard`](super::MemoryBuilder::blackboard)). Expired entries go first to make room, then those used
/// longest ago. A board is no truth: it is neither exported nor moved, and without a store that processes share it ends with
/// this one.
///
/// Each call first asks truth for the owner's epoch. After [`Forget::Everything`](super::Forget::Everything) the board is empty,
/// and older handles are `Fenced`. That also holds for boards that the forgetting process cannot reach: the owner's next call
/// there deletes the entries. Forgetting single messages, records or sessions leaves the board as it is.
///
/// # Examples
/// ```
/// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
/// use std::time::Duration;
///
/// use memory_core::engine::BoardEntry;
/// use memory_core::{Scope, SessionId};
///
/// let team = memory.of(&Scope::team("acme", "research")?).blackboard();
/// let planner = memory.of(&Scope::agent("acme", "planner")?).session(&SessionId::new("notes")?); // its own
///
/// let entry = BoardEntry::new("writer", "writes up the teapot survey").with_ttl(Duration::from_secs(3_600));
/// team.put(&entry.embedded()).await?;
/// let found = team.search("Who has the survey?", 3).await?;
/// assert_eq!(found.hits[0].entry.key, "writer");
/// # Ok(())
/// # }
/// ```
#[doc(alias = "Blackboard")]
#[derive(Clone, Debug)]
pub struct Board {
    scoped: Scoped,
    epoch: Arc<OnceLock<Epoch>>,
}

impl Scoped {
    /// Returns the handle of the owner's board without calling a store.
    pub fn blackboard(&self) -> Board {
        Board { scoped: self.clone(), epoch: Arc::default() }
    }
}

impl Board {
    /// Puts an entry in place of the one under its key. It is found at once.
    ///
    /// The entry is found by the words of its value. Where it is to be embedded and that fails, or takes longer than the
    /// memory's patience ([`MemoryBuilder::patience`](super::MemoryBuilder::patience)), it is put without a vector, and the
    /// receipt says so. Of a long value the first 180 words are embedded.
    ///
    /// # Errors
    /// `Invalid` for a key that is empty or longer than 255 bytes, a value longer than
    /// [`Limits::board_value_bytes`](crate::Limits::board_value_bytes), or a time to live of zero; `Fenced` if the owner was
    /// erased since this handle was first used.
    ///
    /// # Examples
    /// ```
    /// # async fn example(team: &memory_core::engine::Board) -> memory_core::Result<()> {
    /// use memory_core::engine::BoardEntry;
    ///
    /// let receipt = team.put(&BoardEntry::new("plan", "Ada writes, Bob reviews").embedded()).await?;
    /// if !receipt.degraded.is_empty() {
    ///     println!("found by its words alone: {}", receipt.degraded[0].why);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "add_to_blackboard")]
    pub async fn put(&self, entry: &BoardEntry) -> Result<BoardReceipt> {
        let inner = self.inner();
        let BoardEntry { key, value, ttl, is_embedded } = entry;
        inner.limits.check_board_entry(key, value)?;
        let (epoch, vector) = tokio::join!(self.epoch(), self.vector_of(value, *is_embedded));
        let epoch = epoch?;
        let mut degraded = Vec::new();
        let vector = vector.unwrap_or_else(|error| {
            degraded.push(Degraded::new(Stage::Embed, &error));
            None
        });
        let terms = inner.analysis.document(value).into_iter().map(|(term, _)| term).collect();
        let is_embedded = vector.is_some();
        let entry = BlackboardEntry { key: key.clone(), value: value.clone(), terms, vector, ttl: *ttl };
        let evicted = inner.board.put(self.scoped.scope(), epoch, &entry).await?;
        if let Some(at) = ttl.and_then(|ttl| inner.clock.now().checked_add(ttl).ok()) {
            inner.boards.due(self.scoped.scope(), at);
        }
        if !evicted.is_empty() {
            inner.tell(Some(self.scoped.scope()), &Event::Evicted { entries: evicted.len() });
        }
        Ok(BoardReceipt { evicted, is_embedded, degraded })
    }

    /// Returns the entry under `key`, and counts this as a use; none if there is none or it has expired.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle was first used.
    ///
    /// # Examples
    /// ```
    /// # async fn example(team: &memory_core::engine::Board) -> memory_core::Result<()> {
    /// if let Some(posted) = team.get("plan").await? {
    ///     println!("{}, put at {}, read {} times", posted.value, posted.at, posted.access_count);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get(&self, key: &str) -> Result<Option<Posted>> {
        let epoch = self.epoch().await?;
        let found = self.inner().board.get(self.scoped.scope(), epoch, key).await?;
        self.inner().tell(Some(self.scoped.scope()), if found.is_some() { &Event::Hit } else { &Event::Miss });
        Ok(found)
    }

    /// Returns the best `limit` live entries for a text, and counts this as their use.
    ///
    /// An entry is found by words that it shares with the text, and, where both were embedded, by its meaning. Its similarity is
    /// the share of the text's words that it holds or the cosine, whichever is larger. If the embedder fails or is late, words
    /// alone find, and the results say so.
    ///
    /// # Errors
    /// `Invalid` for a text longer than [`Limits::query_bytes`](crate::Limits::query_bytes), or a limit of 0 or beyond
    /// [`Limits::results`](crate::Limits::results); `Fenced` if the owner was erased since this handle was first used.
    #[doc(alias = "recall")]
    pub async fn search(&self, text: &str, limit: usize) -> Result<BoardResults> {
        let (inner, watch) = (self.inner(), Stopwatch::start());
        inner.limits.check_query(text)?;
        inner.limits.check_search(limit, &Filter::All)?;
        let sought = noting(inner.vector_of_query(self.scoped.scope(), text));
        let (epoch, (vector, uncached)) = tokio::join!(self.epoch(), sought);
        let mut degraded: Vec<Degraded> = uncached.iter().map(|error| Degraded::new(Stage::Cache, error)).collect();
        let vector = vector.unwrap_or_else(|error| {
            degraded.push(Degraded::new(Stage::Embed, &error));
            None
        });
        let terms = inner.analysis.query(text);
        let query = match vector {
            Some(vector) => BoardQuery::Either(terms, vector),
            None => BoardQuery::Terms(terms),
        };
        let hits = self.find(epoch?, &query, limit, degraded.len(), watch).await?;
        Ok(BoardResults { hits, degraded })
    }

    /// Returns the `limit` live entries whose vectors are nearest, and counts this as their use. Entries without a vector are not
    /// found.
    ///
    /// # Errors
    /// `Invalid` for a vector that does not fit the embedding space, or a limit of 0 or beyond
    /// [`Limits::results`](crate::Limits::results); `Unsupported` without an embedder; `Fenced` if the owner was erased since
    /// this handle was first used.
    ///
    /// # Examples
    /// ```
    /// # async fn example(team: &memory_core::engine::Board, vector: Vec<f32>) -> memory_core::Result<()> {
    /// for hit in team.search_vector(&vector, 3).await? {
    ///     println!("{:.2} {}", hit.similarity.value(), hit.entry.value);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn search_vector(&self, vector: &[f32], limit: usize) -> Result<Vec<BoardHit>> {
        let (inner, watch) = (self.inner(), Stopwatch::start());
        inner.limits.check_search(limit, &Filter::All)?;
        let index = inner.vectors().ok_or_else(without_embedder)?;
        index.embedder.space().check_vector(vector)?;
        self.find(self.epoch().await?, &BoardQuery::Vector(vector.to_vec()), limit, 0, watch).await
    }

    /// Searches, and tells how long that took and how many parts of the memory did not answer before it.
    async fn find(
        &self,
        epoch: Epoch,
        query: &BoardQuery,
        limit: usize,
        degraded: usize,
        watch: Stopwatch,
    ) -> Result<Vec<BoardHit>> {
        let hits = self.inner().board.search(self.scoped.scope(), epoch, query, limit).await?;
        let took = watch.elapsed();
        self.inner().boards.searched(self.scoped.scope(), took);
        let event = Event::Recalled { hits: hits.len(), degraded, took_micros: watch.micros() };
        self.inner().tell(Some(self.scoped.scope()), &event);
        Ok(hits)
    }

    /// Deletes the entry under `key`, and returns whether there was a live one.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle was first used.
    pub async fn delete(&self, key: &str) -> Result<bool> {
        let is_deleted = self.inner().board.delete(self.scoped.scope(), self.epoch().await?, key).await?;
        if is_deleted {
            let event = Event::Forgotten { removed: 1, derived: 0, complete: true };
            self.inner().tell(Some(self.scoped.scope()), &event);
        }
        Ok(is_deleted)
    }

    /// Deletes the owner's expired entries, and returns how many. Upkeep does it too; nothing expired is ever found.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle was first used.
    pub async fn sweep(&self) -> Result<u64> {
        let swept = self.inner().board.sweep(self.scoped.scope(), self.epoch().await?).await?;
        self.inner().tell_expired(Some(self.scoped.scope()), swept);
        Ok(swept)
    }

    /// Returns the figures of the board. This counts as no use.
    ///
    /// # Errors
    /// `Fenced` if the owner was erased since this handle was first used.
    ///
    /// # Examples
    /// ```
    /// # async fn example(team: &memory_core::engine::Board) -> memory_core::Result<()> {
    /// let stats = team.stats().await?;
    /// println!("{} of {} entries, {} evicted", stats.board.live, stats.board.capacity, stats.board.evictions);
    /// if let Some(latency) = stats.mean_latency {
    ///     println!("{} searches took {latency:?} on average", stats.searches);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stats(&self) -> Result<BoardStats> {
        let board = self.inner().board.stats(self.scoped.scope(), self.epoch().await?).await?;
        let (searches, mean_latency) = self.inner().boards.latency(self.scoped.scope());
        Ok(BoardStats { board, searches, mean_latency })
    }

    fn inner(&self) -> &Inner {
        self.scoped.inner()
    }

    /// Returns the owner's epoch, which every call carries: so an entry put before an erasure is never found after it, also if
    /// the erasure did not reach the board.
    async fn epoch(&self) -> Result<Epoch> {
        // That of conversations rises first, and is never behind that of records.
        let now = self.inner().chat.upkeep().epoch(self.scoped.scope()).await?;
        self.inner().boards.used(self.scoped.scope(), self.inner().clock.now());
        // Not under a lock: a caller who does not poll would keep it from all others.
        if now == *self.epoch.get_or_init(|| now) { Ok(now) } else { Err(Error::Fenced) }
    }

    /// Returns the vector of a value, if it is to have one; none for a value that has none.
    async fn vector_of(&self, value: &str, is_wanted: bool) -> Result<Option<Vec<f32>>> {
        let inner = self.inner();
        if !is_wanted {
            return Ok(None);
        }
        let index = inner.vectors().ok_or_else(without_embedder)?;
        let Some(piece) = passages(value, PIECE_WORDS).next() else { return Ok(None) };
        let texts = [piece];
        let embedded = index.embed_texts(self.scoped.scope(), &texts);
        let vector = inner.in_time("embed an entry of a board", embedded).await?.pop();
        checked(index.embedder.space(), vector)
    }
}

impl Inner {
    /// Returns the vector of a text that a board is searched for; none if there is no embedder, or it knows nothing of the text.
    async fn vector_of_query(&self, scope: &Scope, text: &str) -> Result<Option<Vec<f32>>> {
        let Some(index) = self.vectors().filter(|_| !text.trim().is_empty()) else { return Ok(None) };
        let vector = self.in_time("embed", self.embed_query(scope, index, text)).await?;
        checked(index.embedder.space(), Some(vector))
    }
}

/// Returns the vector of a text; none if the model knows nothing of the text.
///
/// # Errors
/// `Invalid` for a vector that is none of the space.
fn checked(space: &EmbeddingSpace, vector: Option<Vec<f32>>) -> Result<Option<Vec<f32>>> {
    let vector = vector.filter(|vector| !vector.is_empty());
    vector.as_deref().map(|vector| space.check_vector(vector)).transpose()?;
    Ok(vector)
}

fn without_embedder() -> Error {
    Error::Unsupported { backend: "memory", what: "embed for a board: it has no embedder".to_owned() }
}
