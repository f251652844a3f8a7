//! The request for a context: what is asked, within which budget, and what may go in.

use crate::engine::defaults::{RECALL_TOKENS, RECALLED};
use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::filter::Filter;
use crate::scope::Scope;
use crate::time::{Stopwatch, Timestamp};
use crate::window::{Budget, BufferConfig, Oversize};

use super::floor::Turn;
use super::plan::{Quota, Recall};
use super::question::Search;
use super::window::Shape;

/// A request for a context.
///
/// # Examples
/// ```
/// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
/// use memory_core::engine::ContextRequest;
/// use memory_core::window::Budget;
///
/// // 6,000 tokens, of which 1,000 stay free for the answer; three items of older conversations at most.
/// let request = ContextRequest::new("Where is my order?", Budget::new(6_000).reserve(1_000)).recall(3);
/// let context = session.assemble(&request).await?;
/// println!("{}", context.receipt);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContextRequest {
    /// What the person says now; empty for none. Recall uses its first 64 KiB ([`crate::Limits::query_bytes`]). It becomes the
    /// last message, unless the session already ends with it, perhaps followed by calls and results without a reply and without
    /// words of a person beside them: then it stays where it is.
    pub query: String,
    /// How many tokens the context may have.
    pub budget: Budget,
    /// The most messages of the window that are shown, besides instructions and summaries. Default none: as the buffer says
    /// ([`BufferConfig::window_messages`]), as many as fit.
    pub newest: Option<u64>,
    /// How many items of conversations and records are recalled at most; 0 for the window alone, without notes. Default 5.
    pub recall: usize,
    /// How many notes of the working tier are recalled at most, beside the others. Default 5.
    pub notes: usize,
    /// The most tokens that recalled items may take; they never take more than a third. Default 4,000.
    pub recall_tokens: u64,
    /// Which of the current items may be recalled. Default all.
    pub filter: Filter,
    /// What happens if the last turn alone does not fit, also where it is the query and was appended already. A query that is not yet
    /// in the session is never shortened: if it exceeds the budget, the call fails. Default none: as the buffer says
    /// ([`BufferConfig::oversize`]), an error.
    pub oversize: Option<Oversize>,
    /// The lambda of maximal marginal relevance among what is recalled, as [`Search::mmr`]. Default none.
    pub mmr: Option<f32>,
    /// Whether the owner's synopsis is shown, behind the instructions, if the owner has one
    /// ([`Scoped::synopsis`](crate::engine::Scoped::synopsis)). Default true.
    pub synopsis: bool,
    /// Whether the messages of the window show what stands aside in them, where each call has its result. Default false.
    pub asides: bool,
    /// Other owners of whose memory items are recalled too, as [`Search::sharing`]. Default none.
    pub sharing: Vec<Scope>,
}

impl ContextRequest {
    /// Asks for a context of `query` within `budget`.
    pub fn new(query: impl Into<String>, budget: impl Into<Budget>) -> Self {
        Self {
            query: query.into(),
            budget: budget.into(),
            newest: None,
            recall: RECALLED,
            notes: RECALLED,
            recall_tokens: RECALL_TOKENS,
            filter: Filter::All,
            oversize: None,
            mmr: None,
            synopsis: true,
            asides: false,
            sharing: Vec::new(),
        }
    }

    /// Asks as MUXI's planner does: for the newest 10 messages, 5 notes, 5 other items and the synopsis, if the owner has one, within
    /// 4,000 tokens.
    ///
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::engine::ContextRequest;
    ///
    /// session.scoped().synopsis().await?; // asks for one, once
    /// let context = session.assemble(&ContextRequest::muxi("Where is my order?")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn muxi(query: impl Into<String>) -> Self {
        Self::new(query, 4_000).newest(10)
    }

    /// Sets the most messages of the window that are shown.
    #[must_use]
    pub fn newest(mut self, messages: u64) -> Self {
        self.newest = Some(messages);
        self
    }

    /// Sets how many items are recalled at most; 0 for the window alone, without notes.
    #[must_use]
    pub fn recall(mut self, items: usize) -> Self {
        self.recall = items;
        self
    }

    /// Sets how many notes of the working tier are recalled at most.
    #[must_use]
    pub fn notes(mut self, notes: usize) -> Self {
        self.notes = notes;
        self
    }

    /// Sets which items may be recalled.
    #[must_use]
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets that near-duplicates are recalled behind what adds something: [`Search::mmr`].
    #[must_use]
    pub fn mmr(mut self, lambda: f32) -> Self {
        self.mmr = Some(lambda);
        self
    }

    /// Sets what happens if the last turn alone does not fit.
    #[must_use]
    pub fn oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = Some(oversize);
        self
    }

    /// Sets whether the owner's synopsis is shown, if the owner has one.
    #[must_use]
    pub fn synopsis(mut self, synopsis: bool) -> Self {
        self.synopsis = synopsis;
        self
    }

    /// Sets whether the messages of the window show what stands aside in them: thoughts, calls and results of imported
    /// conversations. Where a call lacks its result, or a result its call, the words stand alone: no model would take the rest.
    /// Default false.
    #[must_use]
    pub fn asides(mut self, asides: bool) -> Self {
        self.asides = asides;
        self
    }

    /// Sets other owners of whose memory items are recalled too: see [`Search::sharing`]. The items, notes and tokens that may be
    /// recalled are those of all owners together, and the synopsis and the conversation are the owner's own.
    ///
    /// Each recalled item that another owner shares says so in the block, and in
    /// [`Included::shared_by`](crate::engine::Included::shared_by). Its access is counted with the owner whose it is.
    ///
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::Scope;
    /// use memory_core::engine::ContextRequest;
    ///
    /// // Ada's conversation, with what she and her team know.
    /// let team = Scope::team("acme", "support")?;
    /// let context = session.assemble(&ContextRequest::new("Who is on call?", 4_000).sharing([team.clone()])).await?;
    /// assert!(context.receipt.search.sharing.iter().all(|asked| asked.owner == team));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn sharing(mut self, owners: impl IntoIterator<Item = Scope>) -> Self {
        self.sharing = owners.into_iter().collect();
        self
    }

    /// Returns the most tokens of `left` that recalled items may take.
    pub(super) fn share(&self, left: u64) -> u64 {
        self.recall_tokens.min(left / 3)
    }

    /// Returns what the context wants of its window.
    ///
    /// # Errors
    /// `Invalid` for a number of messages that no buffer may have.
    pub(super) fn shape(&self, config: &BufferConfig) -> Result<Shape> {
        let limit = self.budget.limit.saturating_sub(self.budget.reserve);
        let mut config = *config;
        if self.newest.is_some() {
            // A window of so many messages moves with each one.
            (config.window_messages, config.is_stable) = (self.newest, false);
            config.check()?;
        }
        Ok(Shape::of(&config, self.oversize, limit, self.share(limit)))
    }

    /// Returns what is to be recalled for a conversation of an owner with these settings, if anything is.
    pub(super) fn recall_at(
        &self,
        scoped: &Scoped,
        now: Timestamp,
        watch: Stopwatch,
        config: &BufferConfig,
    ) -> Result<Option<Recall>> {
        let inner = scoped.inner();
        inner.limits.check_sharing(scoped.scope(), &self.sharing)?;
        let bytes = inner.limits.query_bytes;
        let words = self.query.get(..self.query.floor_char_boundary(bytes)).unwrap_or_default();
        if self.recall == 0 || words.trim().is_empty() {
            return Ok(None);
        }
        let mut search = Search::new(words).limit(self.recall).matching(self.filter.clone()).ranked_by(config);
        (search.mmr, search.sharing) = (self.mmr, self.sharing.clone());
        inner.check(&search)?;
        let filter = search.effective(now);
        let turn = Turn::of(&inner.analysis, &search.words);
        let quota = Quota { items: self.recall, notes: self.notes };
        Ok(Some(Recall { search, filter, turn, quota, now, watch }))
    }
}
