//! Fitting a conversation into a budget.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::budget::{Budget, FitOptions, Oversize};
use super::ledger::{Class, Cut, Ledger};
use super::truncate::shrink;
use crate::error::{Error, Result};
use crate::id::MessageId;
use crate::message::StoredMessage;
use crate::model::TokenCounter;

/// The rows of a conversation that stand in a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The indexes of the rows, into those given: instructions, then summaries and messages, each oldest first.
    pub shown: Vec<usize>,
    /// Copies, by index, of the rows whose texts were cut for this context.
    pub shortened: BTreeMap<usize, StoredMessage>,
    /// How many of them are instructions.
    pub instructions: usize,
    /// Their tokens.
    pub tokens: u64,
    /// How many active rows were left out.
    pub dropped: usize,
    /// What happened to each of the other rows.
    pub events: Vec<FitEvent>,
}

/// A reason why rows are not in a context, or not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitEvent {
    /// Older rows were left out, because they do not fit or no person speaks before them.
    Dropped {
        /// How many.
        rows: usize,
    },
    /// Rows that no model accepts were left out: results without their call, calls without their results.
    Unpaired {
        /// How many.
        rows: usize,
    },
    /// Calls at the end were left out, because they lack results.
    Unfinished {
        /// How many rows, results so far included.
        rows: usize,
    },
    /// No person speaks, so only instructions and summaries can stand in the context.
    NoStart,
    /// The last turn does not fit, and was kept as it is.
    Kept {
        /// Tokens needed.
        need: u64,
        /// Tokens available.
        budget: u64,
    },
    /// The middle of a message's texts was cut out.
    Truncated {
        /// The message.
        id: MessageId,
        /// Its tokens before.
        before: u64,
        /// Its tokens now.
        after: u64,
    },
}

impl Fitted {
    /// Returns the rows of the context. `rows` must be those that were given.
    pub fn rows<'a>(&'a self, rows: &'a [StoredMessage]) -> impl Iterator<Item = &'a StoredMessage> {
        self.shown.iter().filter_map(|index| self.shortened.get(index).or_else(|| rows.get(*index)))
    }

    /// Returns the ids of the messages whose texts were cut.
    pub fn truncated(&self) -> impl Iterator<Item = MessageId> {
        self.events.iter().filter_map(|event| match event {
            FitEvent::Truncated { id, .. } => Some(*id),
            _ => None,
        })
    }
}

/// Returns the largest legal tail of `rows`, oldest first, that keeps the budget.
///
/// - All instructions stand at the head, in order, whatever was dropped around them.
/// - After them the tail begins with a person's message, or with summaries followed by one. A message of the model or of a
///   tool never stands before the first person's.
/// - A message with calls is shown only with the results of all its calls right after it. Results without their call are
///   never shown. Instructions in between do not matter, as they move to the head. Calls at the very end that lack results
///   are left out, unless [`FitOptions::keep_unfinished`] is set.
/// - A larger budget never gives a shorter tail. Summaries are the oldest rows, so they go first. To keep one at the cost of
///   messages, take it out of `rows` and reserve its tokens.
/// - Counts are those stored with the rows; `counter` counts only what [`Oversize::TruncateMiddle`] cuts.
///
/// Reads each row once, so it is meant for a page. [`fit_with`] does not.
///
/// # Errors
/// [`Error::OverBudget`] if the reserve exceeds the limit, or if the instructions and the last turn do not fit and `options`
/// do not allow that.
#[doc(alias = "fit_to_window")]
pub fn fit(
    rows: &[StoredMessage],
    budget: &Budget,
    options: &FitOptions,
    counter: &dyn TokenCounter,
) -> Result<Fitted> {
    fit_with(&Ledger::of(rows), rows, budget, options, counter)
}

/// Works like [`fit`], with a ledger of the rows: finds the cut in O(log n), and reads only the rows that it shortens.
///
/// # Errors
/// As [`fit`], and [`Error::Invalid`] if the ledger counts another number of rows.
pub fn fit_with(
    ledger: &Ledger,
    rows: &[StoredMessage],
    budget: &Budget,
    options: &FitOptions,
    counter: &dyn TokenCounter,
) -> Result<Fitted> {
    if ledger.len() != rows.len() {
        return Err(Error::invalid(format!("the ledger counts {} rows, not {}", ledger.len(), rows.len())));
    }
    let cut = ledger.cut(budget, options)?;
    let need = cut.tokens.saturating_add(budget.reserve);
    if !cut.fits && options.oversize == Oversize::Error {
        return Err(Error::OverBudget { need, budget: budget.limit });
    }
    let mut fitted = take(ledger, &cut);
    if cut.fits {
        return Ok(fitted);
    }
    if options.oversize == Oversize::Keep {
        fitted.events.push(FitEvent::Kept { need, budget: budget.limit });
        return Ok(fitted);
    }
    let over = cut.tokens - budget.room()?;
    let turn = fitted.shown.iter().skip(fitted.instructions).filter_map(|index| Some((*index, rows.get(*index)?)));
    let shortened = shrink(turn.collect(), over, counter).ok_or(Error::OverBudget { need, budget: budget.limit })?;
    for (index, row) in shortened {
        let (id, before, after) = (row.id, rows.get(index).map_or(0, |row| row.tokens), row.tokens);
        fitted.events.push(FitEvent::Truncated { id, before, after });
        fitted.shortened.insert(index, row);
    }
    fitted.tokens = fitted.rows(rows).map(|row| row.tokens).fold(0, u64::saturating_add);
    Ok(fitted)
}

fn take(ledger: &Ledger, cut: &Cut) -> Fitted {
    let is_shown = |index: &usize| ledger.class(*index) == Class::InOrder;
    let tail = (cut.start..cut.end).filter(is_shown);
    let head = ledger.instructions().chain(cut.summaries.iter().copied());
    let mut shown = Vec::with_capacity(head.size_hint().0 + cut.end - cut.start);
    shown.extend(head.chain(tail));
    let unfinished = (cut.end..ledger.len()).filter(is_shown).count();
    let dropped = ledger.active() - shown.len();
    let older = dropped - unfinished - ledger.unpaired();
    let mut events = Vec::new();
    if older > 0 {
        events.push(FitEvent::Dropped { rows: older });
    }
    if ledger.unpaired() > 0 {
        events.push(FitEvent::Unpaired { rows: ledger.unpaired() });
    }
    if unfinished > 0 {
        events.push(FitEvent::Unfinished { rows: unfinished });
    }
    if cut.start == cut.end && dropped > 0 {
        events.push(FitEvent::NoStart);
    }
    let (instructions, shortened) = (ledger.instructions().len(), BTreeMap::new());
    Fitted { shown, shortened, instructions, tokens: cut.tokens, dropped, events }
}
