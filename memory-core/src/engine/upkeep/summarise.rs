//! Summarising full windows: plans, makes and checks a summary, then stores it and archives its messages in one transaction.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::engine::careful::Careful;
use crate::engine::counted::{bytes_of, counting, recount_all};
use crate::engine::event::Event;
use crate::engine::handle::Session;
use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::id::{Seq, SessionId};
use crate::message::{Left, Message, Role, Trust};
use crate::model::{CounterId, Summarizer, Summary, SummaryRequest, TokenCounter, apart};
use crate::scope::Scope;
use crate::store::chat::{NewMessage, Page, SessionState, View};
use crate::window::{
    Beyond, Budget, BufferConfig, ExtractiveSummarizer, FoldPlan, FoldReason, Folding, Pressure, archive,
    complete_summary, count_shown, must_keep, plan_fold, plan_turn, validate_summary,
};

use super::report::UpkeepReport;

/// How many rows are read at the head of a window; the oldest of them are folded.
const ROWS: usize = 4_000;
/// How many folds of one session a pass makes at most.
const FOLDS: usize = 32;
/// The share of a summary for the numbers, ids and names that must survive: one in this many tokens.
const KEEP_SHARE: u64 = 2;
/// How long a summariser may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a pass summarises sessions at most, and one answer more, so that a slow summariser holds up no index.
pub(super) const SHARE: Duration = Duration::from_secs(300);
/// How long it does so between two batches for an index, when no further full window can be noted.
pub(super) const BETWEEN: Duration = Duration::from_secs(5);

impl Inner {
    /// Returns how full a window is, 1 at its limit.
    pub(crate) fn pressure(config: &BufferConfig, state: &SessionState) -> f32 {
        let limit = config.limit_beside(state.asked);
        Pressure::of(state.active_tokens, Some(limit), state.active_messages, config.folds_above()).0 as f32
    }

    /// Notes the budget of a context, if budgets decide when windows are folded and the store knows no larger one.
    pub(crate) fn note_budget(&self, session: &Session, budget: &Budget, state: &SessionState) {
        let config = session.buffer();
        if config.limit.is_none() && budget.limit > config.limit_beside(state.asked) {
            self.asked.note(session.scoped().scope(), session.id(), budget.limit);
        }
    }

    /// Notes a session whose newest turn has more than the `room` tokens that a context leaves to it: upkeep folds inside of that turn,
    /// if it makes summaries. Larger contexts then show the messages in place of the summary; what left without one would be gone
    /// for them too.
    pub(crate) fn note_turn(&self, session: &Session, room: u64) {
        if session.buffer().folding == Folding::Summaries {
            self.buffers.note_turn(session.scoped().scope(), session.id(), room);
            self.changed.notify_one();
        }
    }

    /// Remembers a session whose window is to be summarised. Called for every append, and by upkeep for every session that is
    /// noted for an index, whichever process filled it. Without any index there are no notes: then this process summarises only
    /// the sessions that it appends to.
    ///
    /// It uses the stored counts, of whichever counter, while a fold uses this memory's counter. So with several counters a
    /// window may be read in vain or folded late, but never folded too far.
    pub(crate) fn note_if_full(&self, scope: &Scope, session: &SessionId, config: &BufferConfig, state: &SessionState) {
        if config.folding != Folding::Off && f64::from(Self::pressure(config, state)) >= config.earliest() {
            self.buffers.note_full(scope, session);
        }
    }

    /// Summarises the full sessions, until upkeep is to end or the time is up. One that fails is retried after its next append.
    pub(crate) async fn summarise_full(&self, share: Duration, report: &mut UpkeepReport) {
        let until = Instant::now() + share;
        while !self.turn.is_ending() && Instant::now() < until {
            let Some(((scope, session), room)) = self.buffers.next_full() else { return };
            match (self.fold(&scope, &session, room, until, report).await, room) {
                (Ok(true), _) => {}
                (Ok(false), None) => self.buffers.note_full(&scope, &session),
                (Ok(false), Some(room)) => self.buffers.note_turn(&scope, &session, room),
                (Err(error), _) => report.fail(&error),
            }
        }
    }

    /// Folds a window until it is no longer too full, and then its newest turn until that has a place in `room` tokens. Returns false
    /// if there was no time for that.
    async fn fold(
        &self,
        scope: &Scope,
        session: &SessionId,
        room: Option<u64>,
        until: Instant,
        report: &mut UpkeepReport,
    ) -> Result<bool> {
        let config = self.buffers.of(scope, session);
        if config.folding == Folding::Off {
            return Ok(true);
        }
        for fold in 0..FOLDS {
            if fold > 0 && (self.turn.is_ending() || Instant::now() >= until) {
                return Ok(false);
            }
            let Some((plan, state)) = self.next_fold(scope, session, &config, room).await? else { return Ok(true) };
            let is_summary = config.folding == Folding::Summaries && plan.reason != FoldReason::Archives;
            let summary = match is_summary {
                true => self.summary_of(&plan, report).await,
                false => archive_of(&plan, state.revision),
            };
            let Some(summary) = summary else { return Ok(true) };
            match self.chat.store().compact(scope, session, &plan.fold(state.fence, summary)).await {
                // What was summarised was forgotten meanwhile, and what was said since notes itself.
                Err(Error::Fenced) => return Ok(true),
                folded => drop(folded?),
            }
            report.summarised += usize::from(is_summary);
            report.archived += plan.messages();
            if is_summary {
                let (messages, tokens) = (plan.messages(), plan.tokens);
                self.tell(Some(scope), &Event::Folded { session: session.clone(), messages, tokens });
            }
            for row in plan.rows.iter().filter(|row| row.covers.is_none()) {
                self.tell(Some(scope), &Event::Archived { session: session.clone(), message: row.id });
            }
        }
        Ok(true)
    }

    /// Returns the next fold of a window, and the state in which it was read; none if it is neither too full, nor its newest turn too
    /// large for `room` tokens.
    async fn next_fold(
        &self,
        scope: &Scope,
        session: &SessionId,
        config: &BufferConfig,
        room: Option<u64>,
    ) -> Result<Option<(FoldPlan, SessionState)>> {
        let page = Page::after(Seq(0), ROWS, View::Active);
        let mut slice = self.bare.chat.read(scope, session, &page).await?;
        let seen = slice.messages.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
        let limit = Some(config.limit_beside(slice.state.asked));
        let tokens = slice.state.active_tokens.saturating_sub(seen);
        let messages = slice.state.active_messages.saturating_sub(slice.messages.len() as u64);
        slice.messages = recount_all(slice.messages, &self.counter).await?;
        if let Some(plan) = plan_fold(&slice.messages, config, limit, Beyond { tokens, messages }) {
            return Ok(Some((plan, slice.state)));
        }
        let Some(room) = room.filter(|_| config.folding == Folding::Summaries) else { return Ok(None) };
        if messages > 0 {
            slice = self.bare.chat.read(scope, session, &Page::newest(ROWS)).await?;
            slice.messages = recount_all(slice.messages, &self.counter).await?;
        }
        Ok(plan_turn(&slice.messages, config, room).map(|plan| (plan, slice.state)))
    }

    /// Returns a summary that passes the checks: the summariser's, or else an extract marked as such. None if neither passes,
    /// for example because it is no shorter than the messages: then these stay.
    async fn summary_of(&self, plan: &FoldPlan, report: &mut UpkeepReport) -> Option<NewMessage> {
        match self.ask(Arc::clone(&self.summarizer), plan, report).await {
            Ok(summary) => return Some(summary),
            Err(error) => report.fail(&error),
        }
        let extractive = Arc::new(ExtractiveSummarizer::new(Arc::clone(&self.counter)));
        let extract = self.ask(extractive, plan, report).await.ok()?;
        report.replaced += 1;
        Some(extract)
    }

    /// Returns the text of a summariser if it passes the checks. What must survive and is missing is added, even beyond the
    /// bound of the summary; it has a bound of its own.
    async fn ask(
        &self,
        summarizer: Arc<dyn Summarizer>,
        plan: &FoldPlan,
        report: &mut UpkeepReport,
    ) -> Result<NewMessage> {
        let (bytes, rows, most) = (bytes_of(&plan.rows), plan.rows.clone(), plan.max_tokens / KEEP_SHARE);
        let keep = counting(bytes, &self.counter, move |counter| must_keep(&rows, most, counter)).await?;
        let request = Arc::new(plan.request(keep));
        let counter = Careful::new(&self.counter);
        let Summary { text, by } = summary_in_time(summarizer, &request).await?;
        let bare = SummaryRequest { keep: Vec::new(), ..SummaryRequest::clone(&request) };
        counter.verdict(validate_summary(&text, &bare, &counter))?;
        let (text, added) = complete_summary(&text, &request.keep);
        let new = counter.verdict(Ok(to_message(plan, Summary { text, by }, &counter)))?;
        if new.tokens >= plan.tokens {
            return Err(Error::OverBudget { need: new.tokens, budget: plan.tokens });
        }
        report.completed += usize::from(added > 0);
        Ok(new)
    }
}

/// Asks a summariser, which runs apart, and waits for it no longer than [`PATIENCE`].
pub(super) async fn summary_in_time(summarizer: Arc<dyn Summarizer>, request: &Arc<SummaryRequest>) -> Result<Summary> {
    let asked = Arc::clone(request);
    let call = apart("summarizer", "summarise", async move { summarizer.summarize(&asked).await });
    timeout(PATIENCE, call).await.map_err(|_| Error::timed_out("summarizer", "answer in time"))?
}

/// Returns what stands for messages that leave without a summary.
fn archive_of(plan: &FoldPlan, revision: u64) -> Option<NewMessage> {
    let at = plan.rows.iter().filter_map(|row| Some(row.message.as_ref()?.at)).max()?;
    let NewMessage { message, tokens, counter } = archive(Left::Evicted, plan.rows.first()?.id, revision, at);
    let message = Arc::unwrap_or_clone(message).standing_for(&plan.rows);
    Some(NewMessage { message: Arc::new(message), tokens, counter })
}

fn to_message(plan: &FoldPlan, summary: Summary, counter: &dyn TokenCounter) -> NewMessage {
    let messages = || plan.rows.iter().filter_map(|row| row.message.as_ref());
    let at = messages().map(|message| message.at).max().unwrap_or_default();
    let mut message = Message::new(Role::Assistant, summary.text, at).standing_for(&plan.rows);
    message.trust = messages().map(|message| message.trust).min().unwrap_or(Trust::Untrusted);
    message.origin = Some(format!("summary:{}", summary.by));
    let tokens = count_shown(&message, Some(plan.span), counter);
    NewMessage { tokens, counter: CounterId::of(counter), message: Arc::new(message) }
}
