//! Search: one question to every index at once, one fused answer, checked against truth.

use std::future::Future;

use crate::error::{Cause, Error, Result, Transience};
use crate::fields::Fields;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, Unit};
use crate::layer::cached::{embed, noting};
use crate::layer::within;
use crate::message::{StoredMessage, Trust};
use crate::rank::Ranking;
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::text::{Term, TextHits, TextQuery};
use crate::time::{Stopwatch, Timestamp};
use crate::vector::{EmbeddingSpace, VectorHit, VectorQuery};

use super::hydrate::{as_record, note};
use super::memory::{Inner, VectorIndex};
use super::rank::Candidate;
use super::receipt::{Degraded, LeftOut, Reason, SearchReceipt, Signals, Stage};
use super::scoped::Scoped;

/// Fewest candidates that each index is asked for.
const POOL: usize = 100;

/// A question. Everything but the words has a default.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// What is sought, in a person's words. No word has any meaning as syntax.
    pub words: String,
    /// How many hits at the most. Default 10.
    pub limit: usize,
    /// Which items may be found, beside being current. Default all.
    pub filter: Filter,
    /// Kinds of items to search. Default messages and records.
    pub units: Vec<Unit>,
    /// Finds what was current at this moment instead of now.
    pub as_of: Option<Timestamp>,
    /// A vector to search with instead of embedding the words.
    pub vector: Option<(EmbeddingSpace, Vec<f32>)>,
    /// How legs are fused. Default z-scores.
    pub ranking: Ranking,
}

impl Search {
    /// Asks for `words`.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            limit: 10,
            filter: Filter::All,
            units: vec![Unit::Message, Unit::Record],
            as_of: None,
            vector: None,
            ranking: Ranking::default(),
        }
    }

    /// Sets how many hits there may be, 1 to the limit of results.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Adds a condition.
    #[must_use]
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = self.filter.and(filter);
        self
    }

    /// Keeps only what may be believed at least so far.
    #[must_use]
    pub fn min_trust(self, trust: Trust) -> Self {
        self.matching(Filter::range(Field::Trust, Some(Scalar::Int(trust as i64)), None))
    }

    /// Searches only this kind of item.
    #[must_use]
    pub fn only(mut self, unit: Unit) -> Self {
        self.units = vec![unit];
        self
    }

    /// Finds what was current at `at`.
    #[must_use]
    pub fn as_of(mut self, at: Timestamp) -> Self {
        self.as_of = Some(at);
        self
    }

    /// Searches with a vector of the given space instead of embedding the words.
    #[must_use]
    pub fn vector(mut self, space: EmbeddingSpace, vector: Vec<f32>) -> Self {
        self.vector = Some((space, vector));
        self
    }

    /// Sets how legs are fused.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }

    /// The filter that is pushed down to every index, and checked again against truth.
    pub(super) fn effective(&self, now: Timestamp) -> Filter {
        let current = self.as_of.map_or_else(|| Filter::current(now), |at| Filter::as_of(at, now));
        current.and(self.filter.clone())
    }

    fn searches(&self, unit: Unit) -> bool {
        self.units.contains(&unit)
    }
}

/// What an item says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A message.
    Message(StoredMessage),
    /// A record.
    Record(StoredRecord),
}

impl Content {
    /// Returns what filters see; none for a message that was forgotten.
    pub fn fields(&self) -> Option<Fields> {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| Fields::of_message(row, message)),
            Self::Record(stored) => Some(Fields::of_record(&stored.record)),
        }
    }

    /// Returns the words.
    pub fn text(&self) -> String {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| message.text()).unwrap_or_default(),
            Self::Record(stored) => stored.record.text.clone(),
        }
    }
}

/// Something found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// What it is.
    pub item: ItemId,
    /// What it says.
    pub content: Content,
    /// How it was found.
    pub signals: Signals,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub receipt: SearchReceipt,
}

/// What the indexes answered, before fusion.
#[derive(Debug, Default)]
pub(super) struct Legs {
    pub(super) terms: Vec<Term>,
    pub(super) text: TextHits,
    pub(super) vector: Vec<VectorHit>,
    pub(super) degraded: Vec<Degraded>,
}

impl Scoped {
    /// Finds messages and records by their words and meaning, best first.
    ///
    /// Expired, superseded and forgotten items are never found. Exactly `limit` hits where so many match. An index or
    /// embedder that fails is named in the receipt, and the others answer.
    ///
    /// # Errors
    /// `Invalid` for a question without words and vector, or beyond the limits.
    pub async fn search(&self, search: &Search) -> Result<Found> {
        let watch = Stopwatch::start();
        let inner = self.inner();
        inner.check(search)?;
        let filter = search.effective(inner.clock.now());
        let legs = inner.legs(self.scope(), search, &filter).await;
        let mut receipt = SearchReceipt::default();
        let candidates = receipt.rank(search, legs, &[], inner);
        let candidates: Vec<&Candidate> = candidates.iter().collect();
        let hits = self.take(&candidates, search.limit, &filter, &mut receipt).await;
        receipt.took_micros = u64::try_from(watch.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(Found { hits, receipt })
    }

    /// Searches, and notes the records found as accessed; upkeep writes that down.
    #[doc(alias = "query")]
    pub async fn recall(&self, search: &Search) -> Result<Found> {
        let found = self.search(search).await?;
        self.note_access(found.hits.iter().filter_map(|hit| as_record(&hit.item)).collect());
        Ok(found)
    }

    /// Takes the best `limit` candidates that truth confirms, reading on where some are gone.
    pub(super) async fn take(
        &self,
        candidates: &[&Candidate],
        limit: usize,
        filter: &Filter,
        receipt: &mut SearchReceipt,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut absent = Vec::new();
        let mut unread = Vec::new();
        let mut rest = candidates.iter().copied();
        while hits.len() < limit {
            // A store that failed once is not asked again for each of the next best.
            let is_asked = |candidate: &&Candidate| !unread.contains(&candidate.item.unit());
            let batch: Vec<&Candidate> = rest.by_ref().filter(is_asked).take(limit - hits.len()).collect();
            if batch.is_empty() {
                break;
            }
            let items = batch.iter().map(|candidate| &candidate.item);
            let mut hydrated = self.inner().hydrate(self.scope(), items, filter).await;
            receipt.degraded.append(&mut hydrated.degraded);
            for Candidate { item, signals, .. } in batch {
                if let Some(content) = hydrated.found.remove(item) {
                    hits.push(Hit { item: item.clone(), content, signals: *signals });
                } else if !hydrated.unread.contains(&item.unit()) {
                    receipt.dropped_at_hydration += 1;
                    receipt.left_out.push(LeftOut::new(item, Reason::Gone, *signals));
                }
            }
            absent.append(&mut hydrated.absent);
            unread.append(&mut hydrated.unread);
        }
        receipt.degraded.extend(self.inner().clean(self.scope(), absent).await);
        receipt.left_out.extend(rest.take(limit).map(|c| LeftOut::new(&c.item, Reason::BelowLimit, c.signals)));
        hits
    }
}

impl Inner {
    pub(super) fn check(&self, search: &Search) -> Result<()> {
        if search.words.trim().is_empty() && search.vector.is_none() {
            return Err(Error::invalid("there is nothing to search for"));
        }
        if search.words.len() > self.limits.query_bytes {
            return Err(Error::invalid(format!("a query holds at most {} bytes", self.limits.query_bytes)));
        }
        self.limits.check_search(search.limit, &search.filter)
    }

    /// Asks every index at once. One that fails is noted; the others answer.
    pub(super) async fn legs(&self, scope: &Scope, search: &Search, filter: &Filter) -> Legs {
        let terms = self.analysis.query(&search.words);
        let limit = POOL.max(search.limit.saturating_mul(10)).min(self.limits.results.max(POOL));
        let of_unit = |unit| self.text_leg(scope, search, filter, &terms, unit, limit);
        let vector = noting(self.vector_leg(scope, search, filter, limit));
        let (messages, records, (vector, uncached)) =
            tokio::join!(of_unit(Unit::Message), of_unit(Unit::Record), vector);
        let mut degraded: Vec<Degraded> = uncached.iter().map(|error| Degraded::new(Stage::Cache, error)).collect();
        let messages = messages.unwrap_or_else(|error| note(&mut degraded, Stage::Text, &error));
        let records = records.unwrap_or_else(|error| note(&mut degraded, Stage::Text, &error));
        let vector = vector.unwrap_or_else(|(stage, error)| note(&mut degraded, stage, &error));
        degraded.dedup();
        Legs { text: pool(terms.len(), messages, records), terms, vector, degraded }
    }

    fn text_leg(
        &self,
        scope: &Scope,
        search: &Search,
        filter: &Filter,
        terms: &[Term],
        unit: Unit,
        limit: usize,
    ) -> impl Future<Output = Result<TextHits>> {
        let index = self.text.as_ref().filter(|_| search.searches(unit) && !terms.is_empty());
        let query = index.map(|_| TextQuery { terms: terms.to_vec(), unit, filter: filter.clone(), limit });
        async move {
            let (Some(index), Some(query)) = (index, query) else { return Ok(TextHits::default()) };
            self.in_time("search words", index.store.search(scope, &query)).await
        }
    }

    async fn vector_leg(
        &self,
        scope: &Scope,
        search: &Search,
        filter: &Filter,
        limit: usize,
    ) -> std::result::Result<Vec<VectorHit>, (Stage, Error)> {
        let Some(index) = &self.vectors else {
            let what = "search by a vector: it has no index of vectors".to_owned();
            let error = Error::Unsupported { backend: "memory", what };
            return if search.vector.is_some() { Err((Stage::Vector, error)) } else { Ok(Vec::new()) };
        };
        let (space, vector) = match &search.vector {
            Some((space, vector)) => (space.clone(), vector.clone()),
            None => {
                let embedded = self.in_time("embed", self.embed_query(scope, index, &search.words)).await;
                (index.embedder.space().clone(), embedded.map_err(|error| (Stage::Embed, error))?)
            }
        };
        let units = search.units.iter().map(|unit| Scalar::from(unit.name())).collect();
        let filter = filter.clone().and(Filter::In(Field::Unit, units));
        let query = VectorQuery { space, vector, filter, limit, floor: None, with_vectors: false };
        let hits = self.in_time("search vectors", index.store.search(scope, &query)).await;
        hits.map_err(|error| (Stage::Vector, error))
    }

    async fn embed_query(&self, scope: &Scope, index: &VectorIndex, words: &str) -> Result<Vec<f32>> {
        let embedder = index.embedder.as_ref();
        match &self.cache {
            Some(cache) => cache.embed_query(scope, embedder, words).await,
            None => embed(embedder, words).await,
        }
    }

    /// Gives up a read that takes longer than a search waits; guards in it know.
    async fn in_time<T>(&self, doing: &'static str, read: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| Error::Backend {
            backend: "search",
            doing,
            transience: Transience::Transient { after: None },
            source: Cause::new(std::io::Error::from(std::io::ErrorKind::TimedOut)),
        };
        tokio::time::timeout(self.patience, within(self.patience, read)).await.map_err(late)?
    }
}

/// Messages and records are one collection to whoever asks: their statistics are added up.
fn pool(terms: usize, first: TextHits, second: TextHits) -> TextHits {
    let documents = first.documents + second.documents;
    let words = |hits: &TextHits| f64::from(hits.mean_length) * hits.documents as f64;
    let mean = (words(&first) + words(&second)) / documents.max(1) as f64;
    let count = |hits: &TextHits, term: usize| hits.containing.get(term).copied().unwrap_or(0);
    let containing = (0..terms).map(|term| count(&first, term) + count(&second, term)).collect();
    let hits = first.hits.into_iter().chain(second.hits).collect();
    TextHits { documents, mean_length: mean as f32, containing, hits }
}
