//! Reading a window: its pages, how their rows are merged, and how they are recounted.

use foldhash::HashSet;

use crate::engine::counted::recount;
use crate::engine::past::no_instructions;
use crate::engine::recall::unfold::Under;
use crate::engine::recall::window::{Shape, Window};
use crate::error::{Error, Result};
use crate::filter::{Field, Filter};
use crate::id::Seq;
use crate::message::{Link, StoredMessage, Trust};
use crate::model::TokenCounter;
use crate::store::chat::{Page, SessionState, Slice, View};
use crate::window::{Budget, FitOptions, Ledger, Oversize};

use super::past::Past;
use super::{Older, is_instruction};

/// How many instructions a context reads at most: the newest ones, besides those at the head of the session.
pub(super) const INSTRUCTIONS: usize = 256;
/// How many rows are read at the head of a session that has more instructions.
pub(super) const HEAD: usize = 8;
/// How many rows of the tail are read at most. The budget usually ends the page long before.
pub(super) const TAIL: usize = 20_000;
/// How many rows are read in one page to find the newest summary behind rows that stand for none.
pub(super) const LOST: usize = 512;
/// How many times the budget such a page holds at the most, if one of the rows behind it may stand for several messages.
pub(super) const LOOK: u64 = 2;
/// How many older rows are read in one page, if the first pages leave room.
const MORE: usize = 64;
/// Instructions are read up to this many times the budget, because another counter may have counted them.
pub(super) const SLACK: u64 = 8;

impl Window {
    /// Returns the pages that a window is read from: the pinned rows, and the newest rows.
    pub(crate) fn pages(limit: u64, shape: &Shape) -> (Page, Page) {
        let pinned = Page { view: View::Pinned, ..Page::newest(INSTRUCTIONS + 2) };
        let most = shape.most_messages.and_then(|most| usize::try_from(most).ok()?.checked_add(HEAD));
        let tail = Page::newest(most.map_or(TAIL, |most| most.min(TAIL)));
        (pinned.within(limit.saturating_mul(SLACK)), tail.within(limit))
    }

    /// Takes what is no instruction, although it has the role of one, out of a page of pinned rows. Returns the page of what it took the
    /// room of: there each row is an instruction or a summary.
    pub(crate) fn next_pinned(page: &Page, slice: &mut Slice) -> Option<Page> {
        let (first, rows) = (slice.messages.first()?.seq, slice.messages.len());
        let is_full = rows >= page.limit || page.tokens.is_some_and(|most| tokens_of(&slice.messages) > most);
        slice.messages.retain(|row| row.covers.is_some() || is_instruction(row));
        if !is_full || slice.messages.len() == rows {
            return None;
        }
        let limit = page.limit.checked_sub(slice.messages.len()).filter(|limit| *limit > 0)?;
        let next = Page::before(first, limit, View::Pinned).matching(is_trusted_or_summary());
        match page.tokens {
            None => Some(next),
            Some(most) => Some(next.within(most.checked_sub(tokens_of(&slice.messages))?)),
        }
    }

    /// Builds the window from its [`Window::pages`].
    pub(crate) fn new(
        limit: u64,
        shape: Shape,
        mut pinned: Slice,
        mut tail: Slice,
        counter: &dyn TokenCounter,
    ) -> Self {
        let size = tokens_of(&pinned.messages);
        let is_cut = pinned.messages.len() > INSTRUCTIONS + 1 || size > limit.saturating_mul(SLACK);
        let first = tail.messages.first().map_or(Seq(u64::MAX), |row| row.seq);
        let read = tail.messages.len() as u64;
        let is_own_whole = read == tail.state.active_messages;
        let is_archive = pinned.messages.iter().any(StoredMessage::is_archive);
        [&mut pinned, &mut tail].into_iter().for_each(|page| page.messages.retain(|row| !row.is_archive()));
        let mut archives = read - tail.messages.len() as u64;
        let links = [&mut pinned, &mut tail].map(|page| take_link(&mut page.messages));
        archives += u64::from(links.iter().any(Option::is_some));
        let link = links.into_iter().flatten().next();
        let mut recounted = recount(&mut tail.messages, counter);
        let is_summary = |row: &&StoredMessage| row.covers.is_some();
        // Pinned rows that stand in the tail are counted with it.
        pinned.messages.retain(|row| row.seq < first);
        recounted += recount(&mut pinned.messages, counter);
        let summary = tail.messages.iter().rfind(is_summary).or(pinned.messages.iter().rfind(is_summary)).cloned();
        let lost = ((is_archive || is_cut) && summary.is_none() && !is_own_whole).then_some((first, read));
        let instructions = pinned.messages.into_iter().filter(is_instruction);
        let mut rows = tail.messages;
        rows.splice(..0, instructions);
        if let Some(summary) = &summary {
            rows.retain(|row| row.id != summary.id);
        }
        Self {
            ledger: Ledger::of(&rows),
            rows,
            summary,
            complete: pinned.complete && tail.complete,
            state: tail.state,
            recounted,
            first,
            read,
            is_own_whole,
            link,
            past: None,
            log: None,
            lacks_instructions: is_cut && !is_own_whole,
            instructions_left_out: HashSet::default(),
            under: None,
            archives,
            lost,
            shape,
        }
    }

    /// Returns the page in which to look for the newest summary, where rows that stand for none hide it. If no row stands for several
    /// messages, there is hardly a summary, and the look ends behind as much again as a context of `limit` tokens reads.
    pub(crate) fn lost_summary(&self, limit: u64) -> Option<Page> {
        let (before, read) = self.lost?;
        let budgets = if may_be_folded_before(&self.state, before, read) { LOOK } else { 1 };
        Some(Page::before(before, LOST, View::Active).within(limit.saturating_mul(budgets)))
    }

    /// Takes the newest summary from its [`Window::lost_summary`], or goes on looking.
    pub(crate) fn find_summary(&mut self, page: Slice, counter: &dyn TokenCounter) {
        let Some((_, read)) = self.lost.take() else { return };
        let read = read.saturating_add(page.messages.len() as u64);
        let first = page.messages.first().map(|row| row.seq);
        let summary = page.messages.into_iter().rfind(|row| row.covers.is_some() && !row.is_archive());
        let Some(mut summary) = summary else {
            let goes_on = |before: &Seq| may_be_folded_before(&self.state, *before, read);
            self.lost = first.filter(goes_on).map(|before| (before, read));
            return;
        };
        self.recounted += recount([&mut summary], counter);
        self.summary = Some(summary);
    }

    /// Returns the page of the next older rows, if what was read leaves some of `budget`. That happens because rows that no
    /// context can hold count for the page, but not for the context, and where the past of a branch begins.
    pub(crate) fn older(&self, budget: u64) -> Option<Older> {
        // Without the newest summary, which may find no room.
        let room = budget.saturating_sub(self.ledger.tokens_from(0));
        // As many messages as the first page has: some of them no context can hold.
        let has_room =
            self.shape.most_messages.is_none_or(|most| self.ledger.messages() < most.saturating_add(HEAD as u64));
        if room == 0 || !has_room {
            return None;
        }
        if !self.is_own_whole {
            return Some((None, Page::before(self.first, MORE, View::Active)));
        }
        self.older_past(room).filter(|_| self.goes_into_past()).map(|(session, page)| (Some(session), page))
    }

    /// Returns the page of the next older rows, if the last turn begins before what was read. It is then larger than `budget`, or another
    /// counter counted it larger, or no context can hold all of its rows.
    ///
    /// # Errors
    /// [`Error::OverBudget`] if such a turn is an error, or if most of its rows can be in no context and it does not begin among as many as
    /// are read at most.
    pub(crate) fn rest_of_turn(&self, budget: u64) -> Result<Option<Older>> {
        let tokens = self.ledger.tokens_from(0);
        if self.is_whole() || self.ledger.starts().next().is_some() {
            return Ok(None);
        }
        if tokens < budget && self.shape.most_messages.is_none() {
            return self.more_of_turn(budget);
        }
        // Instructions may make room for it.
        let instructions = self.rows.iter().filter(|row| is_instruction(row)).map(|row| row.tokens);
        let turn = instructions.fold(tokens, u64::saturating_sub);
        if self.shape.oversize == Oversize::Error && turn >= budget {
            return Err(Error::OverBudget { need: tokens.saturating_add(1), budget });
        }
        // As much again as was read, because the rows are merged anew with each page.
        let room = self.ledger.tokens().max(budget);
        if !self.is_own_whole {
            return Ok(Some((None, Page::before(self.first, TAIL, View::Active).within(room))));
        }
        Ok(self.older_past(room).map(|(session, page)| (Some(session), page)))
    }

    /// Returns the page of the next older rows of a last turn that may fit: at most as many again as were read.
    fn more_of_turn(&self, budget: u64) -> Result<Option<Older>> {
        let inherited = self.past.as_ref().map_or(0, |past| past.read);
        let read = usize::try_from(self.read.saturating_add(inherited)).unwrap_or(usize::MAX);
        if read >= TAIL {
            return Err(Error::OverBudget { need: budget.saturating_add(1), budget });
        }
        if self.is_own_whole {
            return Ok(self.older(budget));
        }
        let page = Page::before(self.first, read.max(MORE), View::Active);
        Ok(Some((None, page.within(budget.saturating_mul(SLACK)))))
    }

    /// Puts older rows before those that were read.
    pub(crate) fn add_older(&mut self, mut older: Slice, counter: &dyn TokenCounter) {
        self.read += older.messages.len() as u64;
        self.is_own_whole = older.messages.is_empty() || self.read == self.state.active_messages;
        self.complete &= older.complete;
        self.first = older.messages.first().map_or(self.first, |row| row.seq);
        let is_newest = |row: &StoredMessage| self.summary.as_ref().is_some_and(|summary| summary.id == row.id);
        let rows = older.messages.len();
        older.messages.retain(|row| !row.is_archive());
        self.archives += (rows - older.messages.len()) as u64;
        // It was read with the pinned rows.
        take_link(&mut older.messages);
        older.messages.retain(|row| !is_newest(row) && !self.instructions_left_out.contains(&row.id));
        let known = self.rows.partition_point(|row| self.number(row) < self.first);
        let behind = older.messages.last().map_or(self.first, |row| Seq(row.seq.0.saturating_add(1)));
        let upto = self.rows.partition_point(|row| self.number(row) < behind);
        // Instructions in this range are pinned, so they were read and counted before.
        let pinned: Vec<StoredMessage> = self.rows.splice(known..upto, []).collect();
        for row in &mut older.messages {
            if let Some(read) = pinned.iter().find(|read| read.id == row.id) {
                *row = read.clone();
            }
        }
        self.recounted += recount(&mut older.messages, counter);
        self.rows.splice(known..known, older.messages);
        self.ledger = Ledger::of(&self.rows);
    }

    /// Returns the page of the head of the session, if there are too many instructions to have read those there.
    pub(crate) fn head(&self) -> Option<Page> {
        self.lacks_instructions.then(|| Page::after(Seq(0), HEAD, View::Active))
    }

    /// Puts the instructions that open the session before the others.
    pub(crate) fn add_head(&mut self, mut head: Slice, counter: &dyn TokenCounter) {
        let first = self.rows.first().map_or(Seq(u64::MAX), |row| row.seq);
        head.messages.retain(|row| row.seq < first);
        if let Some(link) = take_link(&mut head.messages).filter(|_| self.link.is_none()) {
            self.archives += 1;
            self.link = Some(link);
        }
        let instructions = head.messages.iter().take_while(|row| is_instruction(row)).count();
        head.messages.truncate(instructions);
        self.recounted += recount(&mut head.messages, counter);
        self.rows.splice(..0, head.messages);
        self.ledger = Ledger::of(&self.rows);
    }

    /// Leaves out instructions that do not fit into `budget` beside the last turn, the oldest first. Those that open the session
    /// stay.
    pub(crate) fn keep_instructions_within(&mut self, budget: u64) -> Result<()> {
        let cut = self.ledger.cut(&Budget::new(budget), &FitOptions::default())?;
        let mut over = cut.tokens.saturating_sub(budget);
        if cut.fits || over == 0 {
            return Ok(());
        }
        let (mut opening, root) = (Seq(1), self.root());
        self.rows.retain(|row| {
            if !is_instruction(row) || over == 0 {
                return true;
            }
            if row.seq == opening && row.session == root {
                opening.0 += 1;
                return true;
            }
            over = over.saturating_sub(row.tokens);
            self.instructions_left_out.insert(row.id);
            false
        });
        self.ledger = Ledger::of(&self.rows);
        Ok(())
    }

    /// Returns the page of the messages under the window's summaries, as far as they fit into `budget`.
    pub(crate) fn folded(&self, budget: u64) -> Option<Page> {
        let newest = self.summary.as_ref().filter(|_| self.is_own_whole && self.shape.unfolds())?;
        let taken = self.ledger.tokens().saturating_add(newest.tokens);
        let room = budget.checked_sub(taken).filter(|room| *room > 0)?;
        let summaries = self.summaries().map(|row| row.tokens).fold(0, u64::saturating_add);
        let page = Page::before(Seq(newest.seq.0.saturating_add(1)), TAIL, View::Log);
        Some(page.within(room.saturating_add(summaries)))
    }

    /// Takes in the messages under the summaries, which may replace these.
    pub(crate) fn add_log(&mut self, mut log: Slice, counter: &dyn TokenCounter) {
        self.recounted += recount(log.messages.iter_mut().filter(|row| row.archived_by.is_some()), counter);
        self.complete &= log.complete;
        self.log = Some(log.messages);
    }

    /// Ends the reading: what may stand for summaries, or is summarised, is decided by what was read.
    pub(crate) fn finish(&mut self, counter: &dyn TokenCounter) {
        if let Some(log) = self.log.take() {
            let is_whole = self.past.as_ref().is_none_or(Past::is_whole);
            self.under = Under::new(log, &self.rows, self.summaries(), |row| self.number(row), is_whole);
        }
        self.summarise_past(counter);
    }
}

fn tokens_of(rows: &[StoredMessage]) -> u64 {
    rows.iter().map(|row| row.tokens).fold(0, u64::saturating_add)
}

/// Returns the filter for what of the pinned rows a context may show.
fn is_trusted_or_summary() -> Filter {
    // What is pinned and no instruction is a summary.
    Filter::Or(vec![Filter::eq(Field::Trust, Trust::System as i64), no_instructions()])
}

/// Returns whether a row of the window may stand for several messages. One that stands for a single message, as for a replaced one, leaves
/// the window as many rows as there are messages.
pub(super) fn may_be_folded(state: &SessionState) -> bool {
    state.active_messages < state.head.0
}

/// Returns whether a row of the window before this number may stand for several messages, if `read` rows stand behind it: the others are
/// then fewer than the numbers.
fn may_be_folded_before(state: &SessionState, before: Seq, read: u64) -> bool {
    let left = state.active_messages.saturating_sub(read);
    left > 0 && left < before.0.saturating_sub(1)
}

/// Takes the row that begins a branch out of the rows of a page, oldest first.
fn take_link(rows: &mut Vec<StoredMessage>) -> Option<Link> {
    let link = rows.first().and_then(Link::of)?;
    rows.remove(0);
    Some(link)
}
