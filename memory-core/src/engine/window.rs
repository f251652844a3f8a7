//! The part of a session that a context is made of, and what of it fits.

use std::collections::HashSet;
use std::sync::Arc;

use crate::chat::{SessionState, Slice};
use crate::error::Result;
use crate::id::{MessageId, Seq};
use crate::message::{Message, StoredMessage};
use crate::model::TokenCounter;
use crate::window::{Budget, FitOptions, Ledger, Oversize, fit_with};

use super::counted::Counted;
use super::render;

/// The most tokens of a message that is counted only to know whose counts are stored.
const SAMPLE: u64 = 1_000;

/// The part of a session that was read: instructions at its head, its newest summary, and its tail.
#[derive(Debug)]
pub(super) struct Window {
    /// All but the newest summary.
    pub(super) rows: Vec<StoredMessage>,
    ledger: Ledger,
    /// It goes in before older messages do, although it stands for the oldest.
    summary: Option<StoredMessage>,
    pub(super) state: SessionState,
    pub(super) complete: bool,
    /// Whether the stored counts were another counter's.
    pub(super) recounted: bool,
}

impl Window {
    pub(super) fn new(mut head: Slice, mut tail: Slice, counter: &dyn TokenCounter, counted: &Counted) -> Self {
        let recounted = is_of_another_counter(&tail.messages, counter, counted);
        if recounted {
            head.messages.iter_mut().chain(&mut tail.messages).for_each(|row| row.tokens = count(row, counter));
        }
        let first = tail.messages.first().map_or(Seq(u64::MAX), |row| row.seq);
        let is_instruction = |row: &StoredMessage| row.message.as_ref().is_some_and(|m| m.is_instruction());
        let mut summary = tail.messages.iter().rfind(|row| row.covers.is_some()).cloned();
        // A summary at the head is the newest one if a message was seen behind it.
        if summary.is_none() && head.messages.last().is_some_and(|row| row.covers.is_none()) {
            summary = head.messages.iter().rfind(|row| row.covers.is_some()).cloned();
        }
        let pinned = head.messages.into_iter().take_while(|row| is_instruction(row) && row.seq < first);
        let mut rows = tail.messages;
        rows.splice(..0, pinned);
        if let Some(summary) = &summary {
            rows.retain(|row| row.id != summary.id);
        }
        let complete = head.complete && tail.complete;
        Self { ledger: Ledger::of(&rows), rows, summary, state: tail.state, complete, recounted }
    }

    /// Returns the largest legal part of the window within `budget` tokens, the newest summary first if it takes
    /// half at most and leaves room for the last turn.
    pub(super) fn fit(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted> {
        if let Some(summary) = self.summary.as_ref().filter(|summary| summary.tokens <= budget / 2)
            && let Ok(mut fitted) = self.fit_rows(budget - summary.tokens, Oversize::Error, counter)
        {
            let is_before = |row: &StoredMessage| row.covers.is_some() && row.seq < summary.seq;
            let behind = fitted.shown.iter().skip(fitted.instructions);
            let older = behind.take_while(|shown| self.row(shown).is_some_and(is_before)).count();
            fitted.tokens += summary.tokens;
            fitted.shown.insert(fitted.instructions + older, Shown::Summary);
            return Ok(fitted);
        }
        self.fit_rows(budget, oversize, counter)
    }

    fn fit_rows(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted> {
        let options = FitOptions::default().with_oversize(oversize);
        let mut fitted = fit_with(&self.ledger, &self.rows, &Budget::new(budget), &options, counter)?;
        let truncated = fitted.shortened.len() as u64;
        let shown = |index| fitted.shortened.remove(&index).map_or(Shown::Row(index), |row| Shown::Copy(Box::new(row)));
        let shown = fitted.shown.into_iter().map(shown).collect();
        Ok(Fitted { shown, tokens: fitted.tokens, instructions: fitted.instructions, truncated })
    }

    /// As [`Window::fit`] within `left - share`, but within all of `left` if the last turn needs it.
    pub(super) fn fit_beside(
        &self,
        left: u64,
        share: u64,
        oversize: Oversize,
        counter: &dyn TokenCounter,
    ) -> Result<Fitted> {
        if share > 0
            && let Ok(fitted) = self.fit(left - share, Oversize::Error, counter)
        {
            return Ok(fitted);
        }
        self.fit(left, oversize, counter)
    }

    /// Returns the messages of a part of it.
    pub(super) fn ids(&self, fitted: &Fitted) -> HashSet<MessageId> {
        fitted.shown.iter().filter_map(|shown| self.row(shown)).map(|row| row.id).collect()
    }

    fn row<'a>(&'a self, shown: &'a Shown) -> Option<&'a StoredMessage> {
        match shown {
            Shown::Row(index) => self.rows.get(*index),
            Shown::Summary => self.summary.as_ref(),
            Shown::Copy(row) => Some(row),
        }
    }

    /// Takes a row out, with its message.
    pub(super) fn take<'a>(&'a mut self, shown: &'a mut Shown) -> Option<(&'a StoredMessage, Arc<Message>)> {
        let row = match shown {
            Shown::Row(index) => self.rows.get_mut(*index)?,
            Shown::Summary => self.summary.as_mut()?,
            Shown::Copy(row) => row,
        };
        let message = row.message.take()?;
        Some((row, message))
    }
}

/// Returns whether stored counts are not those of `counter`, as two of the rows tell: the newest, and the largest that is
/// not too large to be counted for that alone. Those that were counted lately are not counted again.
fn is_of_another_counter(rows: &[StoredMessage], counter: &dyn TokenCounter, counted: &Counted) -> bool {
    let is_small = |row: &&StoredMessage| row.tokens <= SAMPLE && row.message.is_some();
    let newest = rows.iter().rev().find(is_small);
    let largest = rows.iter().filter(is_small).max_by_key(|row| row.tokens);
    newest.into_iter().chain(largest).any(|row| !counted.confirms(row.id, row.tokens, || count(row, counter)))
}

/// Returns the tokens of a row as it stands in a context.
fn count(row: &StoredMessage, counter: &dyn TokenCounter) -> u64 {
    let Some(message) = &row.message else { return 0 };
    row.covers.map_or_else(|| counter.count(message), |covers| counter.count(&render::summary(message, covers)))
}

/// What of a window goes into a context.
#[derive(Debug)]
pub(super) struct Fitted {
    /// The rows in order.
    pub(super) shown: Vec<Shown>,
    pub(super) tokens: u64,
    instructions: usize,
    pub(super) truncated: u64,
}

/// A row of a context.
#[derive(Debug)]
pub(super) enum Shown {
    /// The row of this index.
    Row(usize),
    /// The newest summary.
    Summary,
    /// A row whose texts lost their middle.
    Copy(Box<StoredMessage>),
}
