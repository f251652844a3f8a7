//! `session.context`: the messages to send to a model, within a budget, and the receipt that explains them.

use foldhash::HashSet;

use crate::engine::careful::Careful;
use crate::engine::event::Event;
use crate::engine::handle::Session;
use crate::engine::hit::Content;
use crate::engine::receipt::{Reason, SearchReceipt, Stage};
use crate::error::{Error, Result};
use crate::id::MessageId;
use crate::message::{Message, Role};
use crate::model::TokenCounter;
use crate::time::Stopwatch;
use crate::window::{Budget, Oversize};

use super::block::{Block, Fates, is_in, key};
use super::contents::{Context, Recalled, Room};
use super::plan::{Chosen, Found, Recall};
use super::rank::Candidate;
use super::request::ContextRequest;
use super::stages::{Stages, longest};
use super::told::Told;
use super::window::{Fitted, Window};

impl Session {
    /// Returns what to send to a model: instructions, summaries, the newest messages that fit, recalled items, and the
    /// query, within `budget` tokens.
    ///
    /// The same as [`Session::assemble`] with the defaults of the memory ([`Defaults`](crate::engine::Defaults)).
    #[doc(alias = "get")]
    #[doc(alias = "get_context")]
    pub async fn context(&self, query: &str, budget: impl Into<Budget>) -> Result<Context> {
        self.assemble(&self.scoped().inner().defaults.request(query, budget)).await
    }

    /// Returns what to send to a model, and the receipt that explains it.
    ///
    /// Under a short budget, instructions and the query come first, then the last turn, then the owner's synopsis, if there is one,
    /// then recalled items (at most a third of what is left), and history takes the rest. The window is the largest tail that does
    /// not begin with a reply and keeps calls with their results. Recalled items are one block of data before the query, never
    /// instructions. It does not repeat what is in the window.
    ///
    /// The context holds all active instructions, wherever they stand in the session. If they do not fit beside the last
    /// turn, the oldest of those that do not open the session are left out. If the messages under a summary fit, they replace
    /// it, the newest first: so folding costs a larger budget nothing.
    ///
    /// How much is read depends on the budget, not on the length of the session, unless the last turn is larger and is to be cut
    /// or kept. A turn begins with a person's message: if there is none in as much of the session as the budget holds, the last
    /// turn does not fit, whether or not a person speaks before.
    ///
    /// # Errors
    /// `OverBudget` if instructions, query and the last turn do not fit and the request's policy is to fail, or if a query that was
    /// not appended does not fit by itself; `Invalid` beyond the limits, and for owners who cannot share
    /// ([`ContextRequest::sharing`]); else the failure of reading the conversation. A failing
    /// index or embedder is no error: the receipt names it.
    ///
    /// Where the last turn does not fit, the next upkeep of this process folds inside of it, if windows are folded behind summaries:
    /// all but its newest calls or reply may leave. So an agent that runs long on one request gets a context later.
    #[tracing::instrument(name = "context", level = "debug", skip_all)]
    pub async fn assemble(&self, request: &ContextRequest) -> Result<Context> {
        let counter = Careful::new(&self.scoped().inner().counter);
        let context = Box::pin(self.request_by(&counter, request)).await;
        counter.verdict(context)
    }

    async fn request_by(&self, counter: &dyn TokenCounter, request: &ContextRequest) -> Result<Context> {
        let watch = Stopwatch::start();
        let inner = self.scoped().inner();
        let now = inner.clock.now();
        let recall = request.recall_at(self.scoped(), now, watch, self.buffer())?;
        let asked = self.scoped().ask_tiers(recall.as_ref(), Some(self.id()));
        let shape = request.shape(self.buffer())?;
        let (pinned, tail) = Window::pages(request.budget.limit, &shape);
        let synopsis = self.scoped().synopsis_for(request.synopsis);
        let stages = Stages::default();
        let pinned = stages.time(Stage::Chat, self.pinned_page(&pinned, request));
        let tail = stages.time(Stage::Chat, self.window_page(&tail, request));
        let (pinned, tail, mut found, (synopsis, untold)) = tokio::join!(pinned, tail, asked, synopsis);
        // Counted only now, because the first count of a process waits until the counter has loaded its tables.
        let query = (!request.query.is_empty()).then(|| Message::new(Role::User, request.query.as_str(), now));
        let mut room = Room::new(&request.budget, query, counter)?;
        let (pinned, (tail, again)) = (pinned?, tail?);
        let mut window = Window::new(request.budget.limit, shape, pinned, tail, counter);
        window.recounted += again;
        self.begin(&mut window, request, counter).await?;
        inner.note_budget(self, &request.budget, &window.state);
        room.leave_query_to(&window);
        // Under another policy, a query that is larger than the budget may be found in the rest of the last turn.
        if shape.oversize == Oversize::Error {
            room.check()?;
        }
        if let Some(found) = found.as_mut().filter(|_| !request.asides) {
            found.know(&window.rows);
        }
        let hydrate = self.scoped().read_best(found.as_mut());
        let (completed, ()) = tokio::join!(self.complete(&mut window, &mut room, request, counter), hydrate);
        completed.map_err(|error| self.note_oversize(error, &window, &room))?;
        room.check()?;
        let left = room.left();
        let most = inner.synopses.config.max_tokens;
        let told = Told::of(&synopsis, most, counter, now, |tokens| {
            left.checked_sub(tokens).is_some_and(|left| window.holds_last_turn(left, counter))
        });
        let left = left - told.tokens();
        let fitted = match found {
            Some(found) => self.beside(counter, &window, left, request, found).await,
            None => window.fit_beside(left, 0, counter).map(|fitted| (fitted, Recalled::default(), Default::default())),
        };
        let (fitted, recalled, mut receipt) = fitted.map_err(|error| self.note_oversize(error, &window, &room))?;
        receipt.degraded.extend(untold);
        longest(&mut receipt.stages, stages.took());
        let mut context = Context::of(window, fitted, recalled, told, room, counter, receipt);
        context.receipt.prefix_reuse_ratio = self.reuse(&context.receipt.included, context.messages());
        context.receipt.took_micros = watch.micros();
        for event in context.receipt.events(self.id()) {
            inner.tell(Some(self.scoped().scope()), &event);
        }
        Ok(context)
    }

    /// Tells that the last turn does not fit, if that is the error, and notes the conversation for upkeep, which folds inside of that
    /// turn. Returns the error.
    fn note_oversize(&self, error: Error, window: &Window, room: &Room) -> Error {
        if let Error::OverBudget { need, budget } = &error {
            let (inner, session) = (self.scoped().inner(), self.id().clone());
            let event = Event::Oversize { session, truncated: 0, over: need.saturating_sub(*budget) };
            inner.tell(Some(self.scoped().scope()), &event);
            inner.note_turn(self, window.beside_instructions(room.left()));
        }
        error
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
        if found.legs.own.add_fresh(unshown.iter(), &found.recall.filter, &inner.analysis) {
            found.best = found.legs.best(&found.recall.search, found.recall.now);
        }
        if !request.asides {
            found.know(&window.rows);
        }
        let Recall { now, watch, .. } = *found.recall;
        // An answer that was made anew, and where the conversation went without the branch, must not come back as what is remembered.
        let unwanted = |found: &Candidate, content: &Content| match content {
            Content::Message(row) if found.shared_by.is_none() && window.is_after_fork(row) => Some(Reason::AfterFork),
            content => content.is_replaced().then_some(Reason::Replaced),
        };
        let Chosen { candidates, taken, mut receipt } = self.scoped().choose(found, &shown, &unwanted).await;
        receipt.took_micros = watch.micros();
        let fill = |shown: &HashSet<MessageId>, tokens: u64| {
            Block::fill(&taken.hits, shown, share.min(left.saturating_sub(tokens)), counter, now)
        };
        let (mut fitted, mut shown, mut outside) = (first, shown, taken.hits.len());
        let block = loop {
            let block = fill(&shown, fitted.tokens);
            // Tokens that recalled items do not use go to the history. If it then holds some of the recalled items, more are
            // free.
            let room = left.saturating_sub(block.tokens);
            (fitted, shown) = window.grow(fitted, shown, room, counter)?;
            let still = taken.hits.iter().filter(|hit| !is_in(&shown, key(hit))).count();
            if still == outside {
                break block;
            }
            outside = still;
        };
        let Fates { in_window, left_out, went_in } = Fates::of(&candidates, &taken, &block, &shown);
        receipt.list(left_out, went_in);
        self.scoped().note_recalled(block.hits(&taken.hits));
        Ok((fitted, Recalled { hits: taken.hits, block, in_window }, receipt))
    }
}
