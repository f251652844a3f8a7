//! The window: the part of a session that was read for a context, and the rows of it that fit.

mod inherit;
mod past;
mod reading;
mod shape;
mod told;

use std::sync::Arc;

use foldhash::HashSet;

use crate::error::Result;
use crate::id::{MessageId, Seq, SessionId};
use crate::message::{Link, Message, StoredMessage};
use crate::model::TokenCounter;
use crate::store::chat::{Page, SessionState};
use crate::window::{Budget, FitOptions, Ledger, Oversize, answers_calls, begins_turn, fit_with, speaks};

use super::shown::Shown;
use super::unfold::Under;

use past::Past;
pub(crate) use shape::Shape;

/// The next page to be read, and the conversation that holds it, if it is not the one of the window.
pub(crate) type Older = (Option<SessionId>, Page);

/// The part of a session that was read: its instructions, its newest summary, and its tail; of a branch also the past that it shares, whose
/// rows are those of other conversations and stand before its own.
#[derive(Debug)]
pub(crate) struct Window {
    /// All but the newest summary.
    pub(crate) rows: Vec<StoredMessage>,
    ledger: Ledger,
    /// The newest summary. It takes precedence over older messages, although it covers the oldest ones.
    summary: Option<StoredMessage>,
    pub(crate) state: SessionState,
    pub(crate) complete: bool,
    /// How many of its rows were recounted, because another counter had counted them.
    pub(crate) recounted: u64,
    /// From this number on, every row of the window was read.
    first: Seq,
    /// How many rows were read from there on.
    read: u64,
    /// Whether these are all rows of the window, without the past that it shares.
    is_own_whole: bool,
    /// What begins a branch, until the past was read.
    link: Option<Link>,
    past: Option<Past>,
    /// The rows before the newest summary, to be shown in its place where there is room.
    log: Option<Vec<StoredMessage>>,
    /// Whether there are more instructions than were read.
    lacks_instructions: bool,
    /// Instructions that were read but do not fit.
    instructions_left_out: HashSet<MessageId>,
    under: Option<Under>,
    /// How many rows were read that are no messages: they stand for others, which left without a summary, or begin a branch.
    archives: u64,
    /// Before this number the newest summary is to be looked for: what stands there is newer, and no summary. With how many rows of the
    /// window were read from there on.
    lost: Option<(Seq, u64)>,
    shape: Shape,
}

impl Window {
    /// Returns the summaries of the window that were read.
    fn summaries(&self) -> impl Iterator<Item = &StoredMessage> {
        self.rows.iter().filter(|row| row.covers.is_some()).chain(&self.summary)
    }

    /// Returns how many of `left` tokens the instructions leave.
    pub(crate) fn beside_instructions(&self, left: u64) -> u64 {
        let instructions = self.rows.iter().filter(|row| is_instruction(row)).map(|row| row.tokens);
        instructions.fold(left, u64::saturating_sub)
    }

    /// Returns what [`Window::fit_window`] does and, as far as they fit, messages under its summaries, the newest first. A
    /// summary makes way if all its messages are shown.
    pub(crate) fn fit(&self, budget: u64, counter: &dyn TokenCounter) -> Result<Fitted> {
        self.fit_or(budget, self.shape.oversize, counter)
    }

    fn fit_or(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted> {
        let fitted = self.fit_window(budget, oversize, counter)?;
        let unfolded = self.under.as_ref().and_then(|under| self.unfolded(under, &fitted, budget));
        Ok(unfolded.unwrap_or(fitted))
    }

    /// Returns whether instructions and the last turn fit into `budget` tokens.
    pub(crate) fn holds_last_turn(&self, budget: u64, counter: &dyn TokenCounter) -> bool {
        self.fit_messages(budget, Oversize::Error, counter).is_ok()
    }

    /// Returns `fitted` with messages under its summaries; none if none fit, or if a message of `fitted` would have to go,
    /// because its call or result is among them.
    fn unfolded(&self, under: &Under, fitted: &Fitted, budget: u64) -> Option<Fitted> {
        if fitted.truncated > 0 || self.unshown(fitted).no_room > 0 {
            return None;
        }
        let opening = under.opening(budget, self.first_message(fitted))?;
        let stays = |row: &StoredMessage| under.stays(row, opening);
        let summaries = self.rows.iter().enumerate().filter(|(_, row)| row.covers.is_some() && stays(row));
        let summaries = summaries.map(|(index, row)| (Shown::Row(index), row));
        let newest = self.summary.iter().filter(|row| stays(row)).map(|row| (Shown::Summary, row));
        let mut behind: Vec<Shown> = under.tail(opening).collect();
        for (summary, row) in summaries.chain(newest) {
            let place = self.place_of(row, &behind);
            behind.insert(place, summary);
        }
        let instructions = fitted.shown.iter().take(fitted.instructions).filter_map(|shown| match shown {
            Shown::Row(index) => Some(Shown::Row(*index)),
            _ => None,
        });
        let shown: Vec<Shown> = instructions.chain(behind).collect();
        let tokens = shown.iter().filter_map(|shown| self.row(shown)).map(|row| row.tokens).sum();
        let unfolded = Fitted { shown, tokens, instructions: fitted.instructions, truncated: 0, is_by_count: false };
        self.ids(&unfolded).is_superset(&self.ids(fitted)).then_some(unfolded)
    }

    /// Returns the place of a summary among rows in their order: behind those that were said before what it covers, as its question is,
    /// and not between a call and its results.
    fn place_of(&self, summary: &StoredMessage, shown: &[Shown]) -> usize {
        let first = summary.covers.filter(|_| self.is_own(summary)).map_or(Seq(0), |covers| covers.first);
        let rows = || shown.iter().map(|shown| self.row(shown));
        let before = rows().take_while(|row| row.is_some_and(|row| self.number(row) < first)).count();
        let answers = |message: &Arc<Message>| message.role.is_result() || answers_calls(message);
        let is_result = |row: &StoredMessage| row.message.as_ref().is_some_and(answers);
        before + rows().skip(before).take_while(|row| row.is_some_and(is_result)).count()
    }

    /// Returns the number of the first message in `fitted` that is neither instruction nor summary.
    fn first_message(&self, fitted: &Fitted) -> Seq {
        let behind = fitted.shown.iter().skip(fitted.instructions).filter_map(|shown| self.row(shown));
        behind.filter(|row| row.covers.is_none()).map(|row| self.number(row)).min().unwrap_or(Seq(u64::MAX))
    }

    /// Returns the number of a row among those of this conversation; 0 for one of the past that it shares.
    fn number(&self, row: &StoredMessage) -> Seq {
        if self.is_own(row) { row.seq } else { Seq(0) }
    }

    /// Returns whether a row is this conversation's, and not inherited.
    pub(crate) fn is_own(&self, row: &StoredMessage) -> bool {
        row.session == self.state.session
    }

    /// Returns whether everything was read that the window may show.
    fn is_whole(&self) -> bool {
        self.is_own_whole && self.past.as_ref().is_none_or(Past::is_whole)
    }

    /// Returns the largest legal part of the window within `budget` tokens. The newest summary goes in if it takes at most half
    /// and leaves room for the last turn, or if everything fits.
    fn fit_window(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted> {
        let all = self.ledger.tokens_from(0);
        let has_room = |summary: &&StoredMessage| {
            summary.tokens <= budget / 2 || self.is_whole() && all.saturating_add(summary.tokens) <= budget
        };
        if let Some(summary) = self.summary.as_ref().filter(has_room)
            && let Ok(mut fitted) = self.fit_messages(budget - summary.tokens, Oversize::Error, counter)
        {
            let is_before = |row: &StoredMessage| self.number(row) < self.number(summary);
            let behind = fitted.shown.iter().skip(fitted.instructions);
            let older = behind.take_while(|shown| self.row(shown).is_some_and(is_before)).count();
            fitted.tokens += summary.tokens;
            fitted.shown.insert(fitted.instructions + older, Shown::Summary);
            return Ok(fitted);
        }
        self.fit_messages(budget, oversize, counter)
    }

    /// Returns the largest legal part of the window within `budget` tokens, without its newest summary.
    fn fit_messages(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted> {
        let is_all = self.is_whole() && self.ledger.tokens() <= budget;
        let options = self.shape.options(oversize, |step| self.before(step), is_all);
        let mut fitted = fit_with(&self.ledger, &self.rows, &Budget::new(budget), &options, counter)?;
        let is_by_count = self.is_cut_by_count(budget, &options)?;
        let truncated = fitted.shortened.len() as u64;
        let shown =
            |index| fitted.shortened.remove(&index).map_or(Shown::Row(index), |row| Shown::Copy(index, Box::new(row)));
        let shown = fitted.shown.into_iter().map(shown).collect();
        Ok(Fitted { shown, tokens: fitted.tokens, instructions: fitted.instructions, truncated, is_by_count })
    }

    /// Returns whether older messages would fit into `budget` tokens, but are more than the window may show.
    fn is_cut_by_count(&self, budget: u64, options: &FitOptions) -> Result<bool> {
        let Some(most) = options.most_messages else { return Ok(false) };
        let start = |options: &FitOptions| self.ledger.cut(&Budget::new(budget), options).map(|cut| cut.start);
        let unlimited = start(&options.with_most_messages(None))?;
        // Where so many were read, no older ones were.
        let is_unread = !self.is_whole() && self.ledger.messages() >= most && unlimited == self.ledger.first_start();
        Ok(is_unread || start(options)? > unlimited)
    }

    /// Works like [`Window::fit`] within `left - share` tokens, or within `left` if the last turn needs more.
    pub(crate) fn fit_beside(&self, left: u64, share: u64, counter: &dyn TokenCounter) -> Result<Fitted> {
        let room = self.shape.within(left - share);
        if room < left
            && let Ok(fitted) = self.fit_or(room, Oversize::Error, counter)
        {
            return Ok(fitted);
        }
        self.fit(left, counter)
    }

    /// Fits again into `budget`. Keeps `first`, which shows the messages `shown`, unless the new part shows all of those.
    pub(crate) fn grow(
        &self,
        first: Fitted,
        shown: HashSet<MessageId>,
        budget: u64,
        counter: &dyn TokenCounter,
    ) -> Result<(Fitted, HashSet<MessageId>)> {
        if budget <= first.tokens || !self.shape.grows() {
            return Ok((first, shown));
        }
        // A summary that fits only now would take the room of messages.
        for fitted in [self.fit(budget, counter)?, self.fit_messages(budget, self.shape.oversize, counter)?] {
            let grown = self.ids(&fitted);
            if grown.is_superset(&shown) {
                return Ok((fitted, grown));
            }
        }
        Ok((first, shown))
    }

    /// Returns the newest message if it is a person's and says `text`. Only calls, results without words of a person beside them, and
    /// summaries may follow it.
    pub(crate) fn said(&self, text: &str) -> Option<MessageId> {
        let row = self.rows.iter().rfind(|row| speaks(row)).filter(|row| begins_turn(row))?;
        let message = row.message.as_ref()?;
        (message.text() == text).then_some(row.id)
    }

    /// Returns the ids of the messages in `fitted`, without summaries.
    pub(crate) fn ids(&self, fitted: &Fitted) -> HashSet<MessageId> {
        let rows = fitted.shown.iter().filter_map(|shown| self.row(shown));
        rows.filter(|row| row.covers.is_none()).map(|row| row.id).collect()
    }

    fn row<'a>(&'a self, shown: &'a Shown) -> Option<&'a StoredMessage> {
        match shown {
            Shown::Row(index) => self.rows.get(*index),
            Shown::Summary => self.summary.as_ref(),
            Shown::Under(index) => self.under.as_ref()?.rows.get(*index),
            Shown::Copy(_, row) => Some(row),
        }
    }

    /// Returns a row, and takes its message out of it.
    pub(crate) fn take<'a>(&'a mut self, shown: &'a mut Shown) -> Option<(&'a StoredMessage, Arc<Message>)> {
        let row = match shown {
            Shown::Row(index) => self.rows.get_mut(*index)?,
            Shown::Summary => self.summary.as_mut()?,
            Shown::Under(index) => self.under.as_mut()?.rows.get_mut(*index)?,
            Shown::Copy(_, row) => row,
        };
        let message = row.message.take()?;
        Some((row, message))
    }
}

fn is_instruction(row: &StoredMessage) -> bool {
    row.covers.is_none() && row.message.as_ref().is_some_and(|message| message.is_instruction())
}

/// The part of a window that goes into a context.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// The rows in order.
    pub(crate) shown: Vec<Shown>,
    pub(crate) tokens: u64,
    instructions: usize,
    pub(crate) truncated: u64,
    /// Whether older messages would fit, but are more than the window may show.
    is_by_count: bool,
}
