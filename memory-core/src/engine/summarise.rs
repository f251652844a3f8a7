//! Summaries of full windows: planned, made, checked, and stored in one step with the archiving of the originals.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::chat::{NewMessage, Page, View};
use crate::error::{Cause, Error, Result, Transience};
use crate::id::{Seq, SessionId};
use crate::message::{Message, Role, Trust};
use crate::model::{Summarizer, Summary};
use crate::scope::Scope;
use crate::window::{ExtractiveSummarizer, FoldPlan, FoldPolicy, must_keep, plan_fold, validate_summary};

use super::memory::Inner;
use super::render;
use super::upkeep::UpkeepReport;

/// Rows at the head of a window among which the oldest are folded.
const ROWS: usize = 4_000;
/// Folds of one session in one pass.
const FOLDS: usize = 32;
/// The part of a summary that numbers, ids and names may take which have to survive: one in so many tokens.
const KEEP_SHARE: u64 = 2;
/// How long a summariser may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Inner {
    /// Summarises the sessions that an append found too full. One that fails is tried again with the next append.
    pub(super) async fn summarise_full(&self, report: &mut UpkeepReport) {
        let full = std::mem::take(&mut *self.full.lock().unwrap_or_else(PoisonError::into_inner));
        for (scope, session) in full {
            match self.summarise(&scope, &session, report).await {
                Ok(folds) => report.summarised += folds,
                Err(error) => report.fail(&error),
            }
        }
    }

    async fn summarise(&self, scope: &Scope, session: &SessionId, report: &mut UpkeepReport) -> Result<usize> {
        let policy = FoldPolicy::new(Some(self.window.limit)).with_summarize_after(self.window.summarize_after);
        for folds in 0..FOLDS {
            let page = Page::after(Seq(0), ROWS, View::Active);
            let slice = self.chat.store().read(scope, session, &page).await?;
            let Some(plan) = plan_fold(&slice.messages, &policy) else { return Ok(folds) };
            let Some(summary) = self.summary_of(&plan, report).await else { return Ok(folds) };
            self.chat.store().compact(scope, session, &plan.fold(summary)).await?;
            tracing::info!(messages = plan.rows.len(), tokens = plan.tokens, "folded the oldest part of a window");
        }
        Ok(FOLDS)
    }

    /// Returns a summary that passes the checks: the summariser's, or else an extract marked as such. None if neither
    /// is shorter than what it stands for: then the messages stay.
    async fn summary_of(&self, plan: &FoldPlan, report: &mut UpkeepReport) -> Option<NewMessage> {
        match self.ask(self.summarizer.as_ref(), plan).await {
            Ok(summary) => return Some(summary),
            Err(error) => report.fail(&error),
        }
        self.ask(&ExtractiveSummarizer::new(Arc::clone(&self.counter)), plan).await.ok()
    }

    async fn ask(&self, summarizer: &dyn Summarizer, plan: &FoldPlan) -> Result<NewMessage> {
        let keep = must_keep(&plan.rows, plan.max_tokens / KEEP_SHARE, self.counter.as_ref());
        let request = plan.request(keep);
        let late = |_| Error::Backend {
            backend: "summarizer",
            doing: "answer in time",
            transience: Transience::Transient { after: None },
            source: Cause::new(std::io::Error::from(std::io::ErrorKind::TimedOut)),
        };
        let summary = tokio::time::timeout(PATIENCE, summarizer.summarize(&request)).await.map_err(late)??;
        validate_summary(&summary.text, &request, self.counter.as_ref())?;
        let new = self.to_message(plan, summary);
        if new.tokens >= plan.tokens {
            return Err(Error::OverBudget { need: new.tokens, budget: plan.tokens });
        }
        Ok(new)
    }

    fn to_message(&self, plan: &FoldPlan, summary: Summary) -> NewMessage {
        let messages = || plan.rows.iter().filter_map(|row| row.message.as_ref());
        let at = messages().map(|message| message.at).max().unwrap_or_default();
        let mut message = Message::new(Role::Assistant, summary.text, at);
        message.trust = messages().map(|message| message.trust).min().unwrap_or(Trust::Untrusted);
        message.origin = Some(format!("summary:{}", summary.by));
        let tokens = self.counter.count(&render::summary(&message, plan.span));
        NewMessage { message: Arc::new(message), tokens }
    }
}
