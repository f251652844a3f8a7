//! `session.context`: the messages to send to a model, within a budget, and the receipt that explains them.

use std::collections::HashSet;

use crate::engine::careful::Careful;
use crate::engine::handle::Session;
use crate::engine::hit::Content;
use crate::engine::receipt::{Reason, SearchReceipt};
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{ItemId, MessageId};
use crate::message::{Message, Role, StoredMessage};
use crate::model::TokenCounter;
use crate::store::text::Term;
use crate::time::{Stopwatch, Timestamp};
use crate::window::{Budget, BufferConfig, Oversize};

use super::block::{Block, Fates, is_in};
use super::contents::{Context, Recalled, Room};
use super::hydrate::Hydrated;
use super::legs::Legs;
use super::question::Search;
use super::rank::{Candidate, rank};
use super::search::irrelevant;
use super::window::{Fitted, Shape, Window};

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
    /// What the person says now; empty for none. Its first 64 KiB ([`crate::Limits::query_bytes`]) are what is recalled for. It
    /// is the last message, and not repeated: if the session ends with it already, perhaps followed by calls and results
    /// without a reply, it stays there.
    pub query: String,
    /// How many tokens the context may have.
    pub budget: Budget,
    /// How many items are recalled at most; 0 for the window alone. Default 5.
    pub recall: usize,
    /// The most tokens that recalled items may take; they never take more than a third. Default 4,000.
    pub recall_tokens: u64,
    /// Which of the current items may be recalled. Default all.
    pub filter: Filter,
    /// What happens if the last turn alone does not fit. Default none: as the buffer says ([`BufferConfig::oversize`]), an error.
    pub oversize: Option<Oversize>,
    /// The lambda of maximal marginal relevance among what is recalled, as [`Search::mmr`]. Default none.
    pub mmr: Option<f32>,
    /// Whether the messages of the window show what stands aside in them, where each call has its result. Default false.
    pub asides: bool,
}

impl ContextRequest {
    /// Asks for a context of `query` within `budget`.
    pub fn new(query: impl Into<String>, budget: impl Into<Budget>) -> Self {
        Self {
            query: query.into(),
            budget: budget.into(),
            recall: 5,
            recall_tokens: 4_000,
            filter: Filter::All,
            oversize: None,
            mmr: None,
            asides: false,
        }
    }

    /// Sets how many items are recalled at most; 0 for the window alone.
    #[must_use]
    pub fn recall(mut self, items: usize) -> Self {
        self.recall = items;
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

    /// Sets whether the messages of the window show what stands aside in them: thoughts, calls and results of imported
    /// conversations. Where a call lacks its result, or a result its call, the words stand alone: no model would take the rest.
    /// Default false.
    #[must_use]
    pub fn asides(mut self, asides: bool) -> Self {
        self.asides = asides;
        self
    }

    /// Returns the most tokens of `left` that recalled items may take.
    fn share(&self, left: u64) -> u64 {
        self.recall_tokens.min(left / 3)
    }

    /// Returns what the context wants of its window.
    fn shape(&self, config: &BufferConfig) -> Shape {
        let limit = self.budget.limit.saturating_sub(self.budget.reserve);
        Shape::of(config, self.oversize, limit, self.share(limit))
    }

    /// Returns what is to be recalled, if anything is.
    fn recall_at(&self, now: Timestamp, watch: Stopwatch, session: &Session) -> Result<Option<Recall>> {
        let inner = session.scoped().inner();
        let bytes = inner.limits.query_bytes;
        let words = self.query.get(..self.query.floor_char_boundary(bytes)).unwrap_or_default();
        if self.recall == 0 || words.trim().is_empty() {
            return Ok(None);
        }
        let mut search =
            Search::new(words).limit(self.recall).matching(self.filter.clone()).ranked_by(session.buffer());
        search.mmr = self.mmr;
        inner.check(&search)?;
        let filter = search.effective(now);
        let informative = inner.analysis.informative(&search.words);
        Ok(Some(Recall { search, filter, informative, now, watch }))
    }
}

/// What is to be recalled.
struct Recall {
    search: Search,
    filter: Filter,
    /// The words that what is recalled may be about.
    informative: Vec<Term>,
    now: Timestamp,
    watch: Stopwatch,
}

/// What the indexes found, and what truth said of it.
struct Found<'a> {
    recall: &'a Recall,
    legs: Legs,
    read: Hydrated,
}

impl Found<'_> {
    /// Takes over the candidates that the window has read.
    fn know(&mut self, rows: &[StoredMessage]) {
        let found: HashSet<MessageId> = self.legs.messages().collect();
        for row in rows.iter().filter(|row| found.contains(&row.id)) {
            if self.read.get(&ItemId::Message(row.id)).is_none() {
                self.read.add(Content::Message(row.clone()), &self.recall.filter);
            }
        }
    }
}

impl Session {
    /// Returns what to send to a model: instructions, summaries, the newest messages that fit, recalled items, and the
    /// query, within `budget` tokens.
    ///
    /// The same as [`Session::assemble`] with the defaults of [`ContextRequest`].
    #[doc(alias = "get")]
    #[doc(alias = "get_context")]
    pub async fn context(&self, query: &str, budget: impl Into<Budget>) -> Result<Context> {
        self.assemble(&ContextRequest::new(query, budget)).await
    }

    /// Returns what to send to a model, and the receipt that explains it.
    ///
    /// Under a short budget, instructions and the query come first, then the last turn, then recalled items (at most a third),
    /// and history takes the rest. The window is the largest tail that does not begin with a reply and keeps calls with their
    /// results. Recalled items are one block of data before the query, never instructions. It does not repeat what is in the
    /// window.
    ///
    /// The context holds all active instructions, wherever they stand in the session. If they do not fit beside the last
    /// turn, the oldest of those that do not open the session are left out. If the messages under a summary fit, they replace
    /// it, the newest first: so folding costs a larger budget nothing. How much is read depends on the budget, not on the
    /// length of the session.
    ///
    /// # Errors
    /// `OverBudget` if instructions, query and the last turn do not fit and the request's policy is to fail; `Invalid` beyond
    /// the limits; else the failure of reading the conversation. A failing index or embedder is no error: the receipt names it.
    pub async fn assemble(&self, request: &ContextRequest) -> Result<Context> {
        let counter = Careful::new(&self.scoped().inner().counter);
        let context = self.request_by(&counter, request).await;
        counter.verdict(context)
    }

    async fn request_by(&self, counter: &dyn TokenCounter, request: &ContextRequest) -> Result<Context> {
        let watch = Stopwatch::start();
        let inner = self.scoped().inner();
        let now = inner.clock.now();
        let recall = request.recall_at(now, watch, self)?;
        let query = (!request.query.is_empty()).then(|| Message::new(Role::User, request.query.as_str(), now));
        let mut room = Room::new(&request.budget, query, counter)?;

        let asked = async {
            let Recall { search, filter, .. } = recall.as_ref()?;
            Some(inner.find(self.scoped().scope(), search, filter, Some(self.id())).await)
        };
        let shape = request.shape(self.buffer());
        let (pinned, tail) = Window::pages(request.budget.limit, &shape);
        let (pinned, tail, asked) =
            tokio::join!(self.window_page(&pinned, request), self.window_page(&tail, request), asked);
        let mut window = Window::new(request.budget.limit, shape, pinned?, tail?, counter);
        self.begin(&mut window, request, counter).await?;
        inner.note_budget(self, &request.budget, &window.state);
        room.leave_query_to(&window);
        let left = room.left();
        let mut found = recall.as_ref().zip(asked).map(|(recall, (legs, read))| Found { recall, legs, read });
        if let Some(found) = found.as_mut().filter(|_| !request.asides) {
            found.know(&window.rows);
        }
        let hydrate = async {
            // Small talk recalls nothing.
            let Some(Found { recall, legs, read }) =
                found.as_mut().filter(|found| !found.recall.informative.is_empty())
            else {
                return;
            };
            let best = legs.best(&recall.search, now);
            inner.hydrate(self.scoped().scope(), best.iter(), &recall.filter, read).await;
        };
        let (completed, ()) = tokio::join!(self.complete(&mut window, left, request, counter), hydrate);
        completed?;
        let (fitted, recalled, receipt) = match found {
            Some(found) => self.beside(counter, &window, left, request, found).await?,
            None => (window.fit_beside(left, 0, counter)?, Recalled::default(), SearchReceipt::default()),
        };
        let mut context = Context::of(window, fitted, recalled, room, counter, receipt);
        context.receipt.prefix_reuse_ratio = self.beginning().reuse(&context.receipt.included);
        context.receipt.took_micros = watch.micros();
        for event in context.receipt.events(self.id()) {
            inner.tell(Some(self.scoped().scope()), &event);
        }
        Ok(context)
    }

    /// Divides `left` tokens between the window and the recalled items.
    async fn beside(
        &self,
        counter: &dyn TokenCounter,
        window: &Window,
        left: u64,
        request: &ContextRequest,
        mut found: Found<'_>,
    ) -> Result<(Fitted, Recalled, SearchReceipt)> {
        let inner = self.scoped().inner();
        let share = request.share(left);
        let first = window.fit_beside(left, share, counter)?;
        let shown = window.ids(&first);
        let unshown = window.rows.iter().filter(|row| !shown.contains(&row.id));
        let unshown: Vec<Content> = unshown.cloned().map(Content::Message).collect();
        found.legs.add_fresh(unshown.iter(), &found.recall.filter, &inner.analysis);
        if !request.asides {
            found.know(&window.rows);
        }
        let Found { recall: Recall { search, filter, informative, now, watch }, mut legs, mut read } = found;
        inner.look_again(search, &mut legs, &read);
        let relevance = legs.relevance(informative);
        let is_relevant = legs.is_relevant(informative, relevance);
        let mut receipt = legs.receipt();
        receipt.relevance = Some(relevance);
        let candidates = if is_relevant {
            inner.arranged(self.scoped().scope(), search, filter, legs, &mut read).await
        } else {
            rank(search, legs, inner.clock.now())
        };
        let outside: Vec<&Candidate> = candidates.iter().filter(|found| !is_in(&shown, &found.item)).collect();
        let limit = if is_relevant { request.recall } else { 0 };
        // An answer that was made anew, and where the conversation went without the branch, must not come back as what is remembered.
        let unwanted = |content: &Content| match content {
            Content::Message(row) if window.is_after_fork(row) => Some(Reason::AfterFork),
            content => content.is_replaced().then_some(Reason::Replaced),
        };
        let mut taken = self.scoped().take(&outside, limit, filter, read, &unwanted, &mut receipt).await;
        if !is_relevant {
            taken.left_out = irrelevant(&outside, request.recall);
        }
        receipt.took_micros = watch.micros();
        let fill = |shown: &HashSet<MessageId>, tokens: u64| {
            Block::fill(&taken.hits, shown, share.min(left.saturating_sub(tokens)), counter, *now)
        };
        let (mut fitted, mut shown, mut outside) = (first, shown, taken.hits.len());
        let block = loop {
            let block = fill(&shown, fitted.tokens);
            // Tokens that recalled items do not use go to the history. If it then holds some of the recalled items, more are
            // free.
            let room = left.saturating_sub(block.tokens);
            (fitted, shown) = window.grow(fitted, shown, room, counter)?;
            let still = taken.hits.iter().filter(|hit| !is_in(&shown, &hit.item)).count();
            if still == outside {
                break block;
            }
            outside = still;
        };
        let Fates { in_window, left_out } = Fates::of(&candidates, &taken, &block, &shown);
        receipt.left_out = left_out;
        self.scoped().note_access(block.records(&taken.hits));
        Ok((fitted, Recalled { hits: taken.hits, block, in_window }, receipt))
    }
}
