//! `scoped.context`: what to send to a model without a conversation: the synopsis, recalled items, and the query.

use foldhash::HashSet;

use crate::engine::careful::Careful;
use crate::engine::handle::Scoped;
use crate::engine::hit::Content;
use crate::engine::receipt::{Reason, SearchReceipt};
use crate::error::Result;
use crate::message::{Message, Role};
use crate::model::TokenCounter;
use crate::time::Stopwatch;
use crate::window::Budget;

use super::block::{Block, Fates};
use super::contents::{Context, Recalled, Room};
use super::plan::{Chosen, Found};
use super::rank::Candidate;
use super::request::ContextRequest;
use super::told::Told;

impl Scoped {
    /// Returns what to send to a model without a conversation: the owner's synopsis, what is recalled from all conversations, records
    /// and notes, and the query, within `budget` tokens.
    ///
    /// The same as [`Scoped::assemble`] with the defaults of the memory ([`Defaults`](crate::engine::Defaults)).
    #[doc(alias = "get_context")]
    pub async fn context(&self, query: &str, budget: impl Into<Budget>) -> Result<Context> {
        self.assemble(&self.inner().defaults.request(query, budget)).await
    }

    /// Returns what to send to a model without a conversation, and the receipt that explains it.
    ///
    /// Under a short budget the query comes first, then the synopsis, if there is one, then recalled items, which take the rest up
    /// to [`ContextRequest::recall_tokens`]. What a request says of a window counts only in a conversation
    /// ([`Session::assemble`](crate::engine::Session::assemble)).
    ///
    /// # Errors
    /// `OverBudget` if the query does not fit; `Invalid` beyond the limits, and for owners who cannot share
    /// ([`ContextRequest::sharing`]). A store, index or embedder that fails is no error: the receipt names it.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::ContextRequest;
    ///
    /// let context = ada.assemble(&ContextRequest::muxi("When is a train to Porto?")).await?;
    /// println!("{}", context.receipt);
    /// # Ok(())
    /// # }
    /// ```
    #[tracing::instrument(name = "context", level = "debug", skip_all)]
    pub async fn assemble(&self, request: &ContextRequest) -> Result<Context> {
        let counter = Careful::new(&self.inner().counter);
        let context = Box::pin(self.composed(&counter, request)).await;
        counter.verdict(context)
    }

    async fn composed(&self, counter: &dyn TokenCounter, request: &ContextRequest) -> Result<Context> {
        let (inner, watch) = (self.inner(), Stopwatch::start());
        let now = inner.clock.now();
        let recall = request.recall_at(self, now, watch, &inner.buffers.common)?;
        let (mut found, (synopsis, untold)) =
            tokio::join!(self.ask_tiers(recall.as_ref(), None), self.synopsis_for(request.synopsis));
        self.read_best(found.as_mut()).await;
        // Counted only now, because the first count of a process waits until the counter has loaded its tables.
        let query = (!request.query.is_empty()).then(|| Message::new(Role::User, request.query.as_str(), now));
        let room = Room::new(&request.budget, query, counter)?;
        room.check()?;
        let left = room.left();
        let told = Told::of(&synopsis, inner.synopses.config.max_tokens, counter, now, |tokens| tokens <= left);
        let share = request.recall_tokens.min(left - told.tokens());
        let (recalled, mut receipt) = match found {
            Some(found) => self.recalled(found, share, counter).await,
            None => (Recalled::default(), SearchReceipt::default()),
        };
        receipt.degraded.extend(untold);
        let mut context = Context::alone(recalled, told, room, counter, receipt);
        context.receipt.took_micros = watch.micros();
        inner.tell(Some(self.scope()), &context.receipt.recalled());
        Ok(context)
    }

    /// Returns what is recalled within `share` tokens.
    async fn recalled(&self, found: Found<'_>, share: u64, counter: &dyn TokenCounter) -> (Recalled, SearchReceipt) {
        let (none, now, watch) = (HashSet::default(), found.recall.now, found.recall.watch);
        let unwanted = |_: &Candidate, content: &Content| content.is_replaced().then_some(Reason::Replaced);
        let Chosen { candidates, taken, mut receipt } = self.choose(found, &none, &unwanted).await;
        let block = Block::fill(&taken.hits, &none, share, counter, now);
        let Fates { in_window, left_out, went_in } = Fates::of(&candidates, &taken, &block, &none);
        receipt.list(left_out, went_in);
        receipt.took_micros = watch.micros();
        self.note_recalled(block.hits(&taken.hits));
        (Recalled { hits: taken.hits, block, in_window }, receipt)
    }
}
