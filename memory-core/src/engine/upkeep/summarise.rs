//! Summarising full windows: plans, makes and checks a summary, then stores it and archives its messages in one transaction.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::careful::Careful;
use crate::engine::counted::{count, recount};
use crate::engine::handle::Session;
use crate::engine::inner::Inner;
use crate::error::{Cause, Error, Result, Transience};
use crate::id::{Seq, SessionId};
use crate::message::{Message, Role, Trust};
use crate::model::{CounterId, Summarizer, Summary, SummaryRequest, TokenCounter, apart};
use crate::scope::Scope;
use crate::store::chat::{NewMessage, Page, SessionState, View};
use crate::window::{
    Budget, ExtractiveSummarizer, FoldPlan, Pressure, complete_summary, must_keep, plan_fold, validate_summary,
};

use super::report::UpkeepReport;

/// How many full sessions are remembered at most. The next append, or a note of any index, finds the others.
const HINTS: usize = 10_000;
/// How many rows are read at the head of a window; the oldest of them are folded.
const ROWS: usize = 4_000;
/// How many folds of one session a pass makes at most.
const FOLDS: usize = 32;
/// The share of a summary for the numbers, ids and names that must survive: one in this many tokens.
const KEEP_SHARE: u64 = 2;
/// How long a summariser may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a pass summarises sessions at most, so that a slow summariser holds up no index.
const SHARE: Duration = Duration::from_secs(300);

impl Inner {
    /// Returns how full a window is, 1 at its limit.
    pub(crate) fn pressure(&self, state: &SessionState) -> f32 {
        let (limit, summarize_after) = (self.window.limit_of(state), self.window.folding.summarize_after);
        Pressure::of(state.active_tokens, Some(limit), state.active_messages, summarize_after).0 as f32
    }

    /// Notes the budget of a context, if budgets decide when windows are folded and the store knows no larger one.
    pub(crate) fn note_budget(&self, session: &Session, budget: &Budget, state: &SessionState) {
        if self.window.limit.is_none() && budget.limit > self.window.limit_of(state) {
            self.asked.note(session.scoped().scope(), session.id(), budget.limit);
        }
    }

    /// Remembers a session whose window is to be summarised. Called for every append, and by upkeep for every session that is
    /// noted for an index, whichever process filled it. Without any index there are no notes: then this process summarises only
    /// the sessions that it appends to.
    ///
    /// It uses the stored counts, of whichever counter, while a fold uses this memory's counter. So with several counters a
    /// window may be read in vain or folded late, but never folded too far.
    pub(crate) fn note_if_full(&self, scope: &Scope, session: &SessionId, state: &SessionState) {
        if self.window.summaries && f64::from(self.pressure(state)) >= self.window.folding.high {
            let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
            if full.len() < HINTS {
                full.insert((scope.clone(), session.clone()));
            }
        }
    }

    /// Returns whether no further full session can be remembered before some are summarised.
    pub(crate) fn must_summarise(&self) -> bool {
        self.full.lock().unwrap_or_else(PoisonError::into_inner).len() >= HINTS
    }

    /// Summarises the full sessions, until upkeep is to end or the time is up. One that fails is retried after its next append.
    pub(crate) async fn summarise_full(&self, report: &mut UpkeepReport) {
        let until = Instant::now() + SHARE;
        while !self.turn.is_ending() && Instant::now() < until {
            let next = self.full.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
            let Some((scope, session)) = next else { return };
            match self.summarise(&scope, &session, report).await {
                Ok(folds) => report.summarised += folds,
                Err(error) => report.fail(&error),
            }
        }
    }

    async fn summarise(&self, scope: &Scope, session: &SessionId, report: &mut UpkeepReport) -> Result<usize> {
        for folds in 0..FOLDS {
            let page = Page::after(Seq(0), ROWS, View::Active);
            let mut slice = self.chat.store().read(scope, session, &page).await?;
            let seen = slice.messages.iter().map(|row| row.tokens).fold(0, u64::saturating_add);
            let limit = Some(self.window.limit_of(&slice.state));
            let beyond = slice.state.active_tokens.saturating_sub(seen);
            let counter = Careful::new(&self.counter);
            recount(&mut slice.messages, &counter);
            counter.verdict(Ok(()))?;
            let Some(plan) = plan_fold(&slice.messages, &self.window.folding, limit, beyond) else { return Ok(folds) };
            let Some(summary) = self.summary_of(&plan, report).await else { return Ok(folds) };
            self.chat.store().compact(scope, session, &plan.fold(summary)).await?;
            tracing::info!(messages = plan.rows.len(), tokens = plan.tokens, "folded the oldest part of a window");
        }
        Ok(FOLDS)
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
        let counter = Careful::new(&self.counter);
        let keep = must_keep(&plan.rows, plan.max_tokens / KEEP_SHARE, &counter);
        let request = Arc::new(counter.verdict(Ok(plan.request(keep)))?);
        let late = |_| Error::Backend {
            backend: "summarizer",
            doing: "answer in time",
            transience: Transience::Transient { after: None },
            source: Cause::new(std::io::Error::from(std::io::ErrorKind::TimedOut)),
        };
        let asked = Arc::clone(&request);
        let call = apart("summarizer", "summarise", async move { summarizer.summarize(&asked).await });
        let Summary { text, by } = tokio::time::timeout(PATIENCE, call).await.map_err(late)??;
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

fn to_message(plan: &FoldPlan, summary: Summary, counter: &dyn TokenCounter) -> NewMessage {
    let messages = || plan.rows.iter().filter_map(|row| row.message.as_ref());
    let at = messages().map(|message| message.at).max().unwrap_or_default();
    let mut message = Message::new(Role::Assistant, summary.text, at);
    message.trust = messages().map(|message| message.trust).min().unwrap_or(Trust::Untrusted);
    message.origin = Some(format!("summary:{}", summary.by));
    let tokens = count(&message, Some(plan.span), counter);
    NewMessage { tokens, counter: CounterId::of(counter), message: Arc::new(message) }
}
