//! A question to the memory: its words, filters and ranking.

use crate::engine::defaults::HITS;
use crate::filter::{Field, Filter, Scalar};
use crate::id::Unit;
use crate::message::Trust;
use crate::rank::Ranking;
use crate::scope::Scope;
use crate::time::Timestamp;
use crate::vector::EmbeddingSpace;
use crate::window::BufferConfig;

/// A question. Everything but the words has a default.
///
/// ```
/// use memory_core::engine::Search;
/// use memory_core::message::Trust;
/// use memory_core::rank::Ranking;
///
/// let search = Search::new("Where is my order?").limit(3).min_trust(Trust::User).ranking(Ranking::weighted());
/// assert_eq!(search.limit, 3);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// What is searched for, in a person's words. There is no query syntax.
    pub words: String,
    /// The most hits to return. Default 10.
    pub limit: usize,
    /// Which of the current items may be found. Default all.
    pub filter: Filter,
    /// Kinds of items to search. Default messages and records.
    pub units: Vec<Unit>,
    /// Finds what was current at this moment instead of now.
    pub as_of: Option<Timestamp>,
    /// When it is asked. "Last week" is relative to this time. Default [`Search::as_of`], else now.
    pub asked_at: Option<Timestamp>,
    /// A vector to search with instead of embedding the words.
    pub vector: Option<(EmbeddingSpace, Vec<f32>)>,
    /// How the answers of the indexes are fused. Default none: as the buffer says ([`BufferConfig::ranking`]), by z-scores.
    pub ranking: Option<Ranking>,
    /// The lambda of maximal marginal relevance, 0 to 1. Default none: near-duplicates stand where their scores put them.
    pub mmr: Option<f32>,
    /// Other owners whose memory is searched too. Default none.
    pub sharing: Vec<Scope>,
}

impl Search {
    /// Searches for `words`; if empty, for the newest items, newest first.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            limit: HITS,
            filter: Filter::All,
            units: vec![Unit::Message, Unit::Record],
            as_of: None,
            asked_at: None,
            vector: None,
            ranking: None,
            mmr: None,
            sharing: Vec::new(),
        }
    }

    /// Searches as Kari does: for 5 hits, by [`Ranking::kari`].
    ///
    /// ```
    /// use memory_core::engine::Search;
    ///
    /// assert_eq!(Search::kari("my dentist").limit, 5);
    /// ```
    pub fn kari(words: impl Into<String>) -> Self {
        Self::new(words).limit(5).ranking(Ranking::kari())
    }

    /// Sets the most hits to return, from 1 to the limit of results.
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

    /// Finds only items of at least this trust.
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

    /// Sets when it is asked. "Last week" is relative to this time. Unlike [`Search::as_of`], this hides nothing.
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

    /// Sets how the answers of the indexes are fused.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = Some(ranking);
        self
    }

    /// Orders the best candidates (twice the limit, at least 32, at most 200) by maximal marginal relevance (Carbonell and
    /// Goldstein 1998): near-duplicates of better hits stand behind what adds something. With `lambda` 1 only relevance counts,
    /// with 0.5 it counts as much as difference.
    ///
    /// Two texts are as similar as the share of their words that both hold.
    ///
    /// ```
    /// use memory_core::engine::Search;
    ///
    /// let search = Search::new("Where do I live?").mmr(0.7);
    /// assert_eq!(search.mmr, Some(0.7));
    /// ```
    #[doc(alias = "diversity")]
    #[must_use]
    pub fn mmr(mut self, lambda: f32) -> Self {
        self.mmr = Some(lambda);
        self
    }

    /// Searches what other owners of the same tenant share too, such as a team or a handbook: all that a search of theirs finds,
    /// their messages, records and notes. Each is named by the whole scope, up to [`Limits::sharing`](crate::Limits::sharing) of
    /// them: who may name an owner may read what they have, so take no scope from a stranger.
    ///
    /// The owners are asked at the same time and ranked together; the filter holds for all of them. A hit of another owner says
    /// whose it is ([`Hit::shared_by`](crate::engine::Hit::shared_by)), also if both have an item of the same id. The receipt tells
    /// how much was found with each ([`SearchReceipt::sharing`](crate::engine::SearchReceipt::sharing)). An owner who was erased has
    /// nothing to share.
    ///
    /// The filter goes by the trust that an item has with its owner ([`Search::min_trust`]). A context shows what others share with at
    /// most the trust [`Trust::Assistant`]: their words are not those of the person who asks.
    ///
    /// Nothing is written to the memory of those who share, except that [`Scoped::recall`](crate::engine::Scoped::recall) and
    /// contexts count the access to their records, and that upkeep is told what their indexes should no longer hold.
    ///
    /// A search fails with `Invalid` if one of them is the owner who asks, of another tenant or named twice, or if there are too
    /// many.
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::Scope;
    /// use memory_core::engine::Search;
    ///
    /// let team = Scope::team("acme", "support")?;
    /// let found = ada.search(&Search::new("Who is on call?").sharing([team])).await?;
    /// for hit in found.hits {
    ///     let whose = hit.shared_by.map_or("mine".to_owned(), |owner| owner.subject());
    ///     println!("{whose}: {}", hit.content.text());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn sharing(mut self, owners: impl IntoIterator<Item = Scope>) -> Self {
        self.sharing = owners.into_iter().collect();
        self
    }

    /// Returns the filter that every index gets, and that is checked again against truth.
    pub(crate) fn effective(&self, now: Timestamp) -> Filter {
        let current = self.as_of.map_or_else(|| Filter::current(now), |at| Filter::as_of(at, now));
        current.and(self.filter.clone())
    }

    /// Returns the search, ranked as it says or else by `config`.
    pub(crate) fn ranked_by(&self, config: &BufferConfig) -> Self {
        Self { ranking: self.ranking.or(Some(config.ranking)), ..self.clone() }
    }

    /// Returns the ranking.
    pub(crate) fn rule(&self) -> Ranking {
        self.ranking.unwrap_or_default()
    }

    pub(crate) fn is_without_words(&self) -> bool {
        self.words.trim().is_empty() && self.vector.is_none()
    }

    pub(crate) fn searches(&self, unit: Unit) -> bool {
        self.units.contains(&unit)
    }
}
