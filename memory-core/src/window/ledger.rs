//! The ledger: running sums of the tokens of a session's rows, with the places where a context may begin.

#[cfg(test)]
mod tests;

use super::budget::{Budget, FitOptions};
use super::pairing::{Standing, answer};
use crate::error::Result;
use crate::message::StoredMessage;

/// Holds, for each row of a session, its tokens and where it may stand in a context; oldest first.
///
/// Kept beside the rows, it tells where to cut without reading them: appending is O(1) amortised, cutting is O(log n). When
/// rows leave, make a new ledger of those that stay.
///
/// ```
/// use memory_core::window::Ledger;
///
/// let ledger = Ledger::of(&[]); // the rows of a session
/// assert_eq!((ledger.len(), ledger.tokens()), (0, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    rows: Vec<Row>,
    starts: Vec<usize>,
    summaries: Vec<usize>,
    instructions: Vec<usize>,
    instruction_tokens: u128,
    active: usize,
    unpaired: usize,
    tokens: u128,
    /// The running sum after the last row.
    sum: u128,
    /// How many messages there are.
    messages: u64,
    group: Option<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// The tokens of all earlier rows that stand in their order. Never wraps: 2^64 rows of 2^64 tokens fit.
    before: u128,
    /// How many messages there are before, not counting instructions and summaries.
    messages: u64,
    tokens: u64,
    class: Class,
}

/// Where a context shows a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// In its order.
    InOrder,
    /// At the head.
    Instruction,
    /// Nowhere: a result without its call, or a call without its results.
    Unpaired,
    /// Nowhere: it is not in the window.
    Absent,
}

/// A message with calls at the end of the rows, and its results so far.
#[derive(Clone, Debug)]
struct Group {
    position: usize,
    waiting: Vec<Option<String>>,
}

/// A cut: the rows that stand in a context, without the instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The rows before `start` that stay: summaries.
    pub summaries: Vec<usize>,
    /// The first row of the tail; `end` if there is none.
    pub start: usize,
    /// The row after the tail; from there on are calls that lack results.
    pub end: usize,
    /// The tokens of these rows and of the instructions.
    pub tokens: u64,
    /// Whether they fit into the budget. If not, the tail is the last turn.
    pub fits: bool,
}

impl Ledger {
    /// Returns the ledger of `rows`, oldest first.
    pub fn of(rows: &[StoredMessage]) -> Self {
        let mut ledger = Self::default();
        ledger.rows.reserve(rows.len());
        rows.iter().for_each(|row| ledger.push(row));
        ledger
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: &StoredMessage) {
        let position = self.rows.len();
        let place = Standing::of(row);
        if !matches!(place, Standing::Absent | Standing::Instruction | Standing::Result(_) | Standing::Tangled) {
            self.close_group();
        }
        let is_message = !matches!(place, Standing::Absent | Standing::Instruction | Standing::Summary);
        let class = match place {
            Standing::Absent => Class::Absent,
            Standing::Tangled => Class::Unpaired,
            Standing::Result(results) => self.class_of_results(&results),
            Standing::Instruction => {
                self.instructions.push(position);
                self.instruction_tokens += u128::from(row.tokens);
                Class::Instruction
            }
            Standing::Summary => {
                self.summaries.push(position);
                Class::InOrder
            }
            Standing::Start => {
                self.starts.push(position);
                Class::InOrder
            }
            Standing::Reply => Class::InOrder,
            Standing::Call(calls) => {
                let waiting = calls.into_iter().map(|id| id.map(str::to_owned)).collect();
                self.group = Some(Group { position, waiting });
                Class::InOrder
            }
        };
        let row = Row { before: self.sum, messages: self.messages, tokens: row.tokens, class };
        self.sum += row.counted();
        self.messages += u64::from(is_message);
        self.active += usize::from(class != Class::Absent);
        self.unpaired += usize::from(class == Class::Unpaired);
        self.tokens += row.active();
        self.rows.push(row);
    }

    fn class_of_results(&mut self, results: &[Option<&str>]) -> Class {
        let Some(group) = &mut self.group else { return Class::Unpaired };
        let mut waiting = group.waiting.clone();
        if !results.iter().all(|result| answer(&mut waiting, *result)) {
            return Class::Unpaired;
        }
        group.waiting = waiting;
        Class::InOrder
    }

    /// Ends a group of a call and its results. If results are missing, no context shows the group.
    fn close_group(&mut self) {
        let Some(group) = self.group.take().filter(|group| !group.waiting.is_empty()) else { return };
        self.sum = self.before(group.position);
        for row in self.rows.iter_mut().skip(group.position) {
            if row.class == Class::InOrder {
                row.class = Class::Unpaired;
                self.unpaired += 1;
            }
            row.before = self.sum;
        }
    }

    /// Returns how many rows it counts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether it counts no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the tokens of all active rows.
    pub fn tokens(&self) -> u64 {
        clip(self.tokens)
    }

    /// Returns how many messages it counts, without instructions and summaries.
    pub(crate) fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns the cut with the largest legal tail that fits into the budget.
    ///
    /// # Errors
    /// [`crate::Error::OverBudget`] if the reserve exceeds the limit.
    pub fn cut(&self, budget: &Budget, options: &FitOptions) -> Result<Cut> {
        let room = u128::from(budget.room()?);
        let end = match &self.group {
            Some(group) if !group.waiting.is_empty() && !options.keep_unfinished => group.position,
            _ => self.rows.len(),
        };
        let cost = |start: usize| self.instruction_tokens + (self.before(end) - self.before(start));
        let newest = self.starts.last().copied().unwrap_or(end);
        if cost(newest) > room {
            return Ok(Cut { summaries: Vec::new(), start: newest, end, tokens: clip(cost(newest)), fits: false });
        }
        let messages = |position: usize| self.rows.get(position).map_or(self.messages, |row| row.messages);
        let is_too_many =
            |start: usize| options.most_messages.is_some_and(|most| messages(end) - messages(start) > most);
        let fits = self.starts.partition_point(|start| cost(*start) > room || is_too_many(*start));
        let index = self.stepped(fits, options).min(self.starts.len().saturating_sub(1));
        let start = self.starts.get(index).copied().unwrap_or(end);
        let behind = index.checked_sub(1).and_then(|before| self.starts.get(before)).copied().unwrap_or(0);
        let mut tokens = cost(start);
        let mut kept = Vec::new();
        let (Ok(upto) | Err(upto)) = self.summaries.binary_search(&start);
        for position in self.summaries.iter().take(upto).rev().take_while(|position| **position >= behind) {
            let more = tokens + self.rows.get(*position).map_or(0, Row::counted);
            if more > room {
                break;
            }
            tokens = more;
            kept.push(*position);
        }
        kept.reverse();
        Ok(Cut { summaries: kept, start, end, tokens: clip(tokens), fits: true })
    }

    /// Returns the index of the first start at or after the one of `index` that is a step's.
    fn stepped(&self, index: usize, options: &FitOptions) -> usize {
        let (Some(steps), Some(start)) = (options.steps, self.starts.get(index)) else { return index };
        let (step, before) = (u128::from(steps.tokens.max(1)), u128::from(steps.before));
        let anchor = (before + self.before(*start)).div_ceil(step) * step;
        self.starts.partition_point(|start| before + self.before(*start) < anchor)
    }

    /// Returns the tokens of the instructions and of the tail that begins with the row `start`.
    pub(crate) fn tokens_from(&self, start: usize) -> u64 {
        clip(self.instruction_tokens + self.before(self.finished()).saturating_sub(self.before(start)))
    }

    /// Returns the indices of the rows with which a tail may begin, oldest first.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.starts.iter().copied()
    }

    /// Returns the index of the first row with which a tail may begin; the number of rows if there is none.
    pub(crate) fn first_start(&self) -> usize {
        self.starts().next().unwrap_or(self.rows.len())
    }

    /// Returns the index after the last row that does not wait for results.
    pub(crate) fn finished(&self) -> usize {
        let waiting = self.group.as_ref().filter(|group| !group.waiting.is_empty());
        waiting.map_or(self.rows.len(), |group| group.position)
    }

    /// Returns whether a tail shows a row in its order.
    pub(crate) fn is_in_order(&self, index: usize) -> bool {
        self.class(index) == Class::InOrder
    }

    /// Returns whether a row has all the calls and results that it needs.
    pub(crate) fn is_paired(&self, index: usize) -> bool {
        self.class(index) != Class::Unpaired
    }

    /// Returns the indices of the instructions.
    pub(super) fn instructions(&self) -> impl ExactSizeIterator<Item = usize> {
        self.instructions.iter().copied()
    }

    /// Returns how many rows are active.
    pub(super) fn active(&self) -> usize {
        self.active
    }

    /// Returns how many active rows no context can show.
    pub(super) fn unpaired(&self) -> usize {
        self.unpaired
    }

    pub(super) fn class(&self, index: usize) -> Class {
        self.rows.get(index).map_or(Class::Absent, |row| row.class)
    }

    fn before(&self, position: usize) -> u128 {
        self.rows.get(position).map_or(self.sum, |row| row.before)
    }
}

impl Row {
    fn counted(&self) -> u128 {
        if self.class == Class::InOrder { u128::from(self.tokens) } else { 0 }
    }

    fn active(&self) -> u128 {
        if self.class == Class::Absent { 0 } else { u128::from(self.tokens) }
    }
}

fn clip(tokens: u128) -> u64 {
    u64::try_from(tokens).unwrap_or(u64::MAX)
}
