//! What of a conversation fits into a budget.

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

/// What of a conversation stands in a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The rows, by where they stand among those that were given: instructions, then summaries and messages, each oldest
    /// first.
    pub shown: Vec<usize>,
    /// Copies of those of them whose texts lost their middle, for this context only.
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

/// Something that a context does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitEvent {
    /// Older rows were left out: they do not fit, or no person speaks before them.
    Dropped {
        /// How many.
        rows: usize,
    },
    /// Rows were left out that no model accepts: results without their call, calls without their results.
    Unpaired {
        /// How many.
        rows: usize,
    },
    /// Calls at the end were left out because results are missing yet.
    Unfinished {
        /// How many rows, results so far included.
        rows: usize,
    },
    /// No person speaks: nothing but instructions and summaries can stand in a context.
    NoStart,
    /// The last turn does not fit, and was kept as it is.
    Kept {
        /// Tokens needed.
        need: u64,
        /// Tokens there are.
        budget: u64,
    },
    /// A text lost its middle.
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
    /// Returns the rows of the context; `rows` are those that were given.
    pub fn rows<'a>(&'a self, rows: &'a [StoredMessage]) -> impl Iterator<Item = &'a StoredMessage> {
        self.shown.iter().filter_map(|index| self.shortened.get(index).or_else(|| rows.get(*index)))
    }

    /// Returns the ids of the messages whose texts lost their middle.
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
/// - Behind them the tail begins with a person's message, or with summaries before it. Never does a message of the
///   model or of a tool stand before the first person's.
/// - A message with calls stands there with the results of all its calls right behind it, or not at all; results
///   without their call never do. Instructions between them are no hindrance, as they move to the head. Calls at the
///   very end whose results are missing yet are left out, unless [`FitOptions::keep_unfinished`] says otherwise.
/// - A larger budget never gives a shorter tail. Summaries are the oldest rows, so they are the first to go; who wants
///   one before older messages takes it out of `rows` and reserves its tokens.
/// - Counts are those stored with the rows; `counter` counts only what [`Oversize::TruncateMiddle`] cuts.
///
/// Reads each row once: meant for a page. [`fit_with`] does not.
///
/// # Errors
/// [`Error::OverBudget`] if more is reserved than there is, or if the instructions and the last turn do not fit and
/// `options` do not say what to do.
#[doc(alias = "fit_to_window")]
pub fn fit(
    rows: &[StoredMessage],
    budget: &Budget,
    options: &FitOptions,
    counter: &dyn TokenCounter,
) -> Result<Fitted> {
    fit_with(&Ledger::of(rows), rows, budget, options, counter)
}

/// Does as [`fit`] over rows whose ledger is at hand: finds the cut in O(log n) and reads only the rows it shortens.
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
