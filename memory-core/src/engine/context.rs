//! `session.context`: the messages to send to a model, within a budget, and the receipt that explains them.

use std::collections::HashSet;

use crate::chat::{Page, View};
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{MessageId, Seq};
use crate::message::{Message, Role, StoredMessage};
use crate::model::TokenCounter;
use crate::time::{Stopwatch, Timestamp};
use crate::window::{Budget, Oversize};

use super::assemble::{Block, Context, Room, assemble};
use super::careful::Careful;
use super::hydrate::as_message;
use super::legs::Legs;
use super::memory::Inner;
use super::rank::Candidate;
use super::receipt::{LeftOut, Reason, SearchReceipt};
use super::search::{Hit, Search};
use super::session::Session;
use super::window::{Fitted, Window};

/// Rows read at the head of a session, where instructions stand.
const HEAD: usize = 8;
/// Rows of the tail that are read at the most; the budget usually stops the page long before.
const TAIL: usize = 20_000;

/// What a context is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContextRequest {
    /// What the person says now; empty for none. It stands last, and what is recalled answers it, or the first 64 KiB of it
    /// ([`crate::Limits::query_bytes`]).
    pub query: String,
    /// How many tokens there are.
    pub budget: Budget,
    /// How many items are recalled at the most; 0 for a bare token window. Default 5.
    pub recall: usize,
    /// The most tokens that recalled items may have, beside the rule that they take a third at most. Default 4,000.
    pub recall_tokens: u64,
    /// Which items may be recalled, beside being current. Default all.
    pub filter: Filter,
    /// What happens if the last turn alone does not fit. Default an error.
    pub oversize: Oversize,
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
            oversize: Oversize::default(),
        }
    }

    /// Sets how many items are recalled at the most; 0 for a bare token window.
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

    /// Sets what happens if the last turn alone does not fit.
    #[must_use]
    pub fn oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Returns what is sought beside the window, if anything is.
    fn recall_at(&self, now: Timestamp, watch: Stopwatch, inner: &Inner) -> Result<Option<Recall>> {
        let bytes = inner.limits.query_bytes;
        let words = self.query.get(..self.query.floor_char_boundary(bytes)).unwrap_or_default();
        if self.recall == 0 || words.trim().is_empty() {
            return Ok(None);
        }
        let search = Search::new(words).limit(self.recall).matching(self.filter.clone());
        inner.check(&search)?;
        let filter = search.effective(now);
        Ok(Some(Recall { search, filter, now, watch }))
    }
}

/// What is sought beside the window.
struct Recall {
    search: Search,
    filter: Filter,
    now: Timestamp,
    watch: Stopwatch,
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
    /// Under a short budget, instructions and query come first, then the last turn, then recalled items (a third at
    /// most), and history takes the rest. The window is the largest tail that does not begin with an answer and keeps
    /// calls with their results. Recalled items are one block of data before the query, never instructions; what is in
    /// the window already is not repeated there. Reads one page, whatever the length of the session.
    ///
    /// # Errors
    /// `OverBudget` if instructions, query and the last turn do not fit and the request's policy is to fail;
    /// `Invalid` beyond the limits; else what reading the conversation fails with. A failing index or embedder is no
    /// error: it is named in the receipt.
    pub async fn assemble(&self, request: &ContextRequest) -> Result<Context> {
        let counter = Careful::new(&self.scoped().inner().counter);
        let context = self.assemble_by(&counter, request).await;
        counter.verdict(context)
    }

    async fn assemble_by(&self, counter: &dyn TokenCounter, request: &ContextRequest) -> Result<Context> {
        let watch = Stopwatch::start();
        let inner = self.scoped().inner();
        let now = inner.clock.now();
        let recall = request.recall_at(now, watch, inner)?;
        let query = (!request.query.is_empty()).then(|| Message::new(Role::User, request.query.as_str(), now));
        let mut room = Room::new(&request.budget, query, counter)?;

        let legs = async {
            let Recall { search, filter, .. } = recall.as_ref()?;
            Some(inner.legs(self.scoped().scope(), search, filter).await)
        };
        let (head, tail) = (Page::after(Seq(0), HEAD, View::Active), Page::newest(TAIL).within(request.budget.limit));
        let (head, tail, legs) = tokio::join!(self.read(&head), self.read(&tail), legs);
        let window = Window::new(head?, tail?, counter, &inner.counted);
        room.drop_query_if_said(&window);

        let left = room.left();
        let (fitted, block, receipt) = match recall.as_ref().zip(legs) {
            Some((recall, legs)) => self.beside(counter, &window, left, request, recall, legs).await?,
            None => (window.fit(left, request.oversize, counter)?, Block::default(), SearchReceipt::default()),
        };
        let mut context = assemble(window, fitted, block, room, counter, receipt);
        context.receipt.took_micros = watch.micros();
        Ok(context)
    }

    /// Shares `left` tokens out between the window and what is recalled beside it.
    async fn beside(
        &self,
        counter: &dyn TokenCounter,
        window: &Window,
        left: u64,
        request: &ContextRequest,
        Recall { search, filter, now, watch }: &Recall,
        legs: Legs,
    ) -> Result<(Fitted, Block, SearchReceipt)> {
        let inner = self.scoped().inner();
        let share = request.recall_tokens.min(left / 3);
        let first = window.fit_beside(left, share, request.oversize, counter)?;
        let shown = window.ids(&first);
        let fresh: Vec<&StoredMessage> = window.rows.iter().filter(|row| !shown.contains(&row.id)).collect();
        let mut receipt = SearchReceipt::default();
        let candidates = receipt.rank(search, legs, &fresh, inner);
        let hits = self.pick(&candidates, request.recall, filter, &shown, &mut receipt).await;
        receipt.took_micros = watch.micros();
        let share = share.min(left.saturating_sub(first.tokens));
        let block = Block::fill(hits, share, counter, *now, &mut receipt);
        // What recalled items did not use goes back to the history.
        let fitted = if share == 0 {
            first
        } else {
            window.fit(left.saturating_sub(block.tokens), request.oversize, counter)?
        };
        let block = block.without(&window.ids(&fitted), counter, *now, &mut receipt);
        self.scoped().note_access(block.records());
        Ok((fitted, block, receipt))
    }

    /// Takes the best `count` candidates that are not in the window and that truth confirms.
    async fn pick(
        &self,
        candidates: &[Candidate],
        count: usize,
        filter: &Filter,
        window: &HashSet<MessageId>,
        receipt: &mut SearchReceipt,
    ) -> Vec<Hit> {
        let in_window = |candidate: &&Candidate| as_message(&candidate.item).is_some_and(|id| window.contains(&id));
        let (shown, rest): (Vec<&Candidate>, Vec<&Candidate>) = candidates.iter().partition(in_window);
        let shown = shown.into_iter().take(count);
        receipt.left_out.extend(shown.map(|c| LeftOut::new(&c.item, Reason::InWindow, c.signals)));
        self.scoped().take(&rest, count, filter, receipt).await
    }
}
