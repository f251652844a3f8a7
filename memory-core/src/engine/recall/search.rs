//! Search: asks all indexes at once, fuses their answers, and checks the hits against truth.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::engine::handle::{Scoped, Session};
use crate::engine::hit::{Content, Hit, SearchResults};
use crate::engine::inner::Inner;
use crate::engine::receipt::{LeftOut, Reason, SearchReceipt};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::scope::Scope;
use crate::time::Stopwatch;

use super::each::OfEach;
use super::hydrate::Hydrated;
use super::question::Search;
use super::rank::Candidate;
use super::stages::longest;

/// How many searches run at once if each asks one owner; of those that ask several, so many fewer.
const TOGETHER: usize = 8;
/// How many questions are embedded in one batch.
const BATCH: usize = 256;

/// The hits among the candidates of a search, and the others.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) hits: Vec<Hit>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Says why a candidate with this content is unwanted; none if it is not.
pub(crate) type Unwanted<'a> = &'a (dyn Fn(&Candidate, &Content) -> Option<Reason> + Sync);

impl Scoped {
    /// Finds messages and records by their words and meaning, best first.
    ///
    /// A question of more than [`crate::Limits::query_terms`] terms is searched for by its rarest ones. Instructions, and expired,
    /// superseded and forgotten items are never found. The newest 128 items of the owner that this process wrote are found by their words
    /// at once, if they have 4 MiB together, else the shortest of them; older ones, and those of other processes, after the next upkeep.
    /// Returns exactly `limit` hits if so many match. If an index or the embedder fails, the receipt names it and the others answer.
    ///
    /// Without words and vector, returns the newest items, newest first: among the last messages of each session, and all
    /// records. That needs no index.
    ///
    /// # Errors
    /// `Invalid` beyond the limits, for owners who cannot share ([`Search::sharing`]), and for weights of a ranking that are
    /// negative, above 1,000,000 or no numbers; `Unsupported` if the memory has no index.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::Unit;
    /// use memory_core::engine::Search;
    ///
    /// let found = ada.search(&Search::new("the dentist").only(Unit::Message).limit(3)).await?;
    /// for hit in found.hits {
    ///     println!("{}: {}", hit.content, hit.content.text());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "VectorMemory")]
    pub async fn search(&self, search: &Search) -> Result<SearchResults> {
        self.search_by(&search.ranked_by(&self.inner().buffers.common), None).await
    }

    /// Searches. With the error of an embedder that did not answer for the question just before, it does not ask that again.
    #[tracing::instrument(name = "search", level = "debug", skip_all)]
    async fn search_by(&self, search: &Search, unembedded: Option<&Error>) -> Result<SearchResults> {
        let watch = Stopwatch::start();
        let inner = self.inner();
        inner.check(search)?;
        inner.limits.check_sharing(self.scope(), &search.sharing)?;
        let filter = search.effective(inner.clock.now());
        if search.is_without_words() {
            let mut found = self.newest(search, &filter).await;
            found.receipt.took_micros = watch.micros();
            inner.tell(Some(self.scope()), &found.receipt.event(found.hits.len()));
            return Ok(found);
        }
        inner.can_search()?;
        let (mut legs, mut read) = inner.find(self.scope(), search, &filter, None, unembedded).await;
        let best = legs.best(search, inner.clock.now());
        inner.hydrate_each(self.scope(), best.iter(), &filter, &mut read).await;
        inner.look_again(search, &mut legs, &best, &read);
        let mut receipt = legs.receipt();
        let candidates = inner.arranged(self.scope(), search, &filter, &legs, &mut read).await;
        let candidates: Vec<&Candidate> = candidates.iter().collect();
        let Taken { hits, left_out } =
            self.take(&candidates, search.limit, &filter, read, &|_, _| None, &mut receipt).await;
        receipt.list(left_out, hits.len());
        receipt.took_micros = watch.micros();
        inner.tell(Some(self.scope()), &receipt.event(hits.len()));
        Ok(SearchResults { hits, receipt })
    }

    /// Searches, and notes the records found as accessed. Upkeep writes that down.
    #[doc(alias = "query")]
    pub async fn recall(&self, search: &Search) -> Result<SearchResults> {
        Ok(self.accessed(self.search(search).await?))
    }

    /// Recalls for a question of several that were given to the embedder before, with its error if it did not answer.
    async fn recall_after(&self, search: &Search, unembedded: Option<&Error>) -> Result<SearchResults> {
        let search = search.ranked_by(&self.inner().buffers.common);
        Ok(self.accessed(self.search_by(&search, unembedded).await?))
    }

    /// Notes the records that were found as accessed.
    fn accessed(&self, found: SearchResults) -> SearchResults {
        self.note_recalled(found.hits.iter());
        found
    }

    /// Recalls for several questions at once; the answers come in their order. The embedder is given the words of all of them in one
    /// batch, up to 256, unless fewer vectors are kept in this process ([`MemoryBuilder::kept_vectors`](crate::engine::MemoryBuilder::kept_vectors)).
    /// If it does not answer for a batch in time, or fails for now, these questions are answered by their words, as their receipts tell.
    ///
    /// # Errors
    /// The first failure. Nothing is searched for if one of the questions is refused.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Search;
    ///
    /// let found = ada.recall_many(&[Search::new("the dentist"), Search::new("the rose")]).await?;
    /// assert_eq!(found.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "batch_recall")]
    pub async fn recall_many(&self, searches: &[Search]) -> Result<Vec<SearchResults>> {
        for search in searches {
            self.inner().check(search)?;
            self.inner().limits.check_sharing(self.scope(), &search.sharing)?;
        }
        let owners = 1 + searches.iter().map(|search| search.sharing.len()).max().unwrap_or(0);
        let mut answers = Vec::with_capacity(searches.len());
        for some in searches.chunks(BATCH) {
            let unembedded = self.inner().embed_ahead(self.scope(), some).await;
            // Collected first: a stream that holds the closure is not `Send` for every lifetime.
            let asked: Vec<_> = some.iter().map(|search| self.recall_after(search, unembedded.as_ref())).collect();
            let found: Vec<_> = stream::iter(asked).buffered((TOGETHER / owners).max(1)).try_collect().await?;
            answers.extend(found);
        }
        Ok(answers)
    }

    /// Takes the best `limit` candidates that truth confirms. What `read` does not hold yet is read; if some are gone, so are the
    /// next best.
    pub(crate) async fn take(
        &self,
        candidates: &[&Candidate],
        limit: usize,
        filter: &Filter,
        mut read: OfEach<Hydrated>,
        unwanted: Unwanted<'_>,
        receipt: &mut SearchReceipt,
    ) -> Taken {
        let mut taken = Taken::default();
        let mut rest = candidates.iter().copied();
        while taken.hits.len() < limit {
            let batch: Vec<&Candidate> = rest.by_ref().take(limit - taken.hits.len()).collect();
            if batch.is_empty() {
                break;
            }
            self.inner().hydrate_each(self.scope(), batch.iter().copied(), filter, &mut read).await;
            for candidate in batch {
                let (shared_by, item) = candidate.key();
                // None of an owner who was not asked: nothing of theirs was read.
                let mut read = read.get_mut(shared_by);
                if let Some(content) = read.as_mut().and_then(|read| read.remove(item)) {
                    match unwanted(candidate, &content) {
                        Some(reason) => taken.left_out.push(candidate.left_out(reason)),
                        None => taken.hits.push(candidate.hit(content)),
                    }
                } else if read.is_none_or(|read| read.unread.contains(&item.unit())) {
                    taken.left_out.push(candidate.left_out(Reason::Unread));
                } else {
                    receipt.drop_one(shared_by);
                    taken.left_out.push(candidate.left_out(Reason::Gone));
                }
            }
        }
        self.conclude(None, read.own, receipt);
        for (owner, theirs) in read.shared {
            self.conclude(Some(&owner), theirs, receipt);
        }
        taken.left_out.extend(rest.take(limit).map(|candidate| candidate.left_out(Reason::BelowLimit)));
        taken
    }

    /// Puts what reading from truth met with into the receipt. What an index named and truth does not hold is told to the upkeep of
    /// its owner.
    fn conclude(&self, shared_by: Option<&Scope>, read: Hydrated, receipt: &mut SearchReceipt) {
        receipt.degrade(shared_by, read.degraded);
        longest(&mut receipt.stages, read.took);
        self.inner().note_absent(shared_by.unwrap_or(self.scope()), read.absent);
    }
}

impl Session {
    /// Finds messages of this conversation and records that were told in it, best first: [`Scoped::search`] with this condition, and
    /// ranked as the buffer says ([`BufferConfig::ranking`](crate::window::BufferConfig::ranking)).
    ///
    /// With a capacity ([`BufferConfig::capacity_messages`](crate::window::BufferConfig::capacity_messages)), it looks at so many of the
    /// newest messages; [`Scoped::search`] looks at all. Instructions and what was replaced or forgotten take no place among them, within
    /// the newest 1,000 rows; behind those every number does. In a branch it looks at the past that is shared too, and at nothing that was
    /// said there after it.
    ///
    /// # Errors
    /// Those of [`Scoped::search`]; `Invalid` if others are to share ([`Search::sharing`]): a conversation has one owner.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::engine::Search;
    ///
    /// let found = session.search(&Search::new("the dentist").limit(3)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn search(&self, search: &Search) -> Result<SearchResults> {
        if !search.sharing.is_empty() {
            return Err(Error::invalid("a search of one conversation takes nothing that other owners share"));
        }
        let within = self.within().await?;
        self.scoped().search_by(&search.ranked_by(self.buffer()).matching(within), None).await
    }

    /// Searches as [`Session::search`] does, and notes the records found as accessed. Upkeep writes that down.
    ///
    /// # Errors
    /// Those of [`Session::search`].
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::engine::Search;
    ///
    /// let found = session.recall(&Search::new("the dentist").limit(3)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recall(&self, search: &Search) -> Result<SearchResults> {
        Ok(self.scoped().accessed(self.search(search).await?))
    }
}

/// Returns what is left out of a context because nothing found is about what was asked.
pub(crate) fn irrelevant(candidates: &[&Candidate], limit: usize) -> Vec<LeftOut> {
    candidates.iter().take(limit).map(|candidate| candidate.left_out(Reason::Irrelevant)).collect()
}

impl Inner {
    pub(crate) fn check(&self, search: &Search) -> Result<()> {
        self.limits.check_query(&search.words)?;
        if search.mmr.is_some_and(|lambda| !(0.0..=1.0).contains(&lambda)) {
            return Err(Error::invalid("the lambda of maximal marginal relevance is from 0 to 1"));
        }
        search.rule().check()?;
        self.limits.check_search(search.limit, &search.filter)
    }
}
