//! Search: one question to every index at once, one fused answer, checked against truth.

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, Unit};
use crate::message::{StoredMessage, Trust};
use crate::rank::Ranking;
use crate::record::StoredRecord;
use crate::time::{Stopwatch, Timestamp};
use crate::vector::EmbeddingSpace;

use super::hydrate::as_record;
use super::memory::Inner;
use super::rank::Candidate;
use super::receipt::{LeftOut, Reason, SearchReceipt, Signals};
use super::scoped::Scoped;

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
    /// When it is asked: from there "last week" is counted. Default [`Search::as_of`], else now.
    pub asked_at: Option<Timestamp>,
    /// A vector to search with instead of embedding the words.
    pub vector: Option<(EmbeddingSpace, Vec<f32>)>,
    /// How legs are fused. Default z-scores.
    pub ranking: Ranking,
}

impl Search {
    /// Asks for `words`; without any, for what is newest, newest first.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            limit: 10,
            filter: Filter::All,
            units: vec![Unit::Message, Unit::Record],
            as_of: None,
            asked_at: None,
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

    /// Sets when it is asked: from there "last week" is counted. Hides nothing, unlike [`Search::as_of`].
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
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

    fn is_without_words(&self) -> bool {
        self.words.trim().is_empty() && self.vector.is_none()
    }

    pub(super) fn searches(&self, unit: Unit) -> bool {
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

/// What of the candidates of a search is a hit, and what is none.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) hits: Vec<Hit>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Scoped {
    /// Finds messages and records by their words and meaning, best first.
    ///
    /// A question of more terms than [`crate::Limits::query_terms`] is searched for by its rarest.
    /// Expired, superseded and forgotten items are never found. Exactly `limit` hits where so many match. An index or
    /// embedder that fails is named in the receipt, and the others answer.
    ///
    /// Without words and vector the newest items are found, newest first: of each session its last messages are looked at,
    /// and all records. That needs no index.
    ///
    /// # Errors
    /// `Invalid` beyond the limits; `Unsupported` if the memory has no index to search for words.
    pub async fn search(&self, search: &Search) -> Result<Found> {
        let watch = Stopwatch::start();
        let inner = self.inner();
        inner.check(search)?;
        let filter = search.effective(inner.clock.now());
        if search.is_without_words() {
            let mut found = self.newest(search, &filter).await;
            found.receipt.took_micros = watch.micros();
            return Ok(found);
        }
        inner.can_search()?;
        let legs = inner.legs(self.scope(), search, &filter).await;
        let mut receipt = SearchReceipt::default();
        let candidates = receipt.rank(search, legs, &[], inner);
        let candidates: Vec<&Candidate> = candidates.iter().collect();
        let Taken { hits, left_out } = self.take(&candidates, search.limit, &filter, &mut receipt).await;
        receipt.left_out = left_out;
        receipt.took_micros = watch.micros();
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
    ) -> Taken {
        let mut taken = Taken::default();
        let mut absent = Vec::new();
        let mut unread = Vec::new();
        let mut rest = candidates.iter().copied();
        while taken.hits.len() < limit {
            // A store that failed once is not asked again for each of the next best.
            let is_asked = |candidate: &&Candidate| {
                let is_asked = !unread.contains(&candidate.item.unit());
                if !is_asked {
                    taken.left_out.push(LeftOut::new(&candidate.item, Reason::Unread, candidate.signals));
                }
                is_asked
            };
            let batch: Vec<&Candidate> = rest.by_ref().filter(is_asked).take(limit - taken.hits.len()).collect();
            if batch.is_empty() {
                break;
            }
            let items = batch.iter().map(|candidate| &candidate.item);
            let mut hydrated = self.inner().hydrate(self.scope(), items, filter).await;
            receipt.degraded.append(&mut hydrated.degraded);
            for Candidate { item, signals, .. } in batch {
                if let Some(content) = hydrated.found.remove(item) {
                    taken.hits.push(Hit { item: item.clone(), content, signals: *signals });
                } else if hydrated.unread.contains(&item.unit()) {
                    taken.left_out.push(LeftOut::new(item, Reason::Unread, *signals));
                } else {
                    receipt.dropped_at_hydration += 1;
                    taken.left_out.push(LeftOut::new(item, Reason::Gone, *signals));
                }
            }
            absent.append(&mut hydrated.absent);
            unread.append(&mut hydrated.unread);
        }
        receipt.degraded.extend(self.inner().clean(self.scope(), &absent).await);
        taken.left_out.extend(rest.take(limit).map(|c| LeftOut::new(&c.item, Reason::BelowLimit, c.signals)));
        taken
    }
}

impl Inner {
    pub(super) fn check(&self, search: &Search) -> Result<()> {
        if search.words.len() > self.limits.query_bytes {
            return Err(Error::invalid(format!("a query holds at most {} bytes", self.limits.query_bytes)));
        }
        self.limits.check_search(search.limit, &search.filter)
    }
}
