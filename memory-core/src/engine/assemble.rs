//! What a context holds: the rule by which a budget is shared out, as functions of values.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::chat::{SessionState, Slice};
use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId, Seq};
use crate::message::{Message, Role, StoredMessage};
use crate::model::TokenCounter;
use crate::time::Timestamp;
use crate::window::{Budget, FitOptions, Ledger, Oversize, fit_with};

use super::counted::Counted;
use super::hydrate::as_record;
use super::receipt::{ContextReceipt, History, Included, LeftOut, Reason, SearchReceipt, Tokens};
use super::render;
use super::search::Hit;

/// The most tokens of a message that is counted only to know whose counts are stored.
const SAMPLE: u64 = 1_000;
/// The fewest tokens that a recalled item takes with what is said about it.
const LEAST: u64 = 8;
/// The most bytes of words that one token stands for; only runs of blanks have more.
const BYTES: u64 = 64;

/// The part of a context that a message stands in, in the order of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Instructions at the head of the session.
    Instruction,
    /// A summary of older messages.
    Summary,
    /// A message word for word.
    History,
    /// The block of recalled items.
    Recalled,
    /// What the person says now.
    Query,
}

/// One message of a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where it stands.
    pub kind: PartKind,
    /// The message as it is to be sent.
    pub message: Arc<Message>,
    /// Its tokens.
    pub tokens: u64,
}

/// What to send to a model, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The messages.
    pub parts: Vec<Part>,
    /// What went in, what was left out and why.
    pub receipt: ContextReceipt,
}

impl Context {
    /// Returns the messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.parts.iter().map(|part| part.message.as_ref())
    }

    /// Returns the messages as OpenAI chat JSON.
    pub fn to_openai(&self) -> Vec<Value> {
        self.messages().map(Message::to_openai).collect()
    }

    /// Returns the tokens of all parts together.
    pub fn tokens(&self) -> u64 {
        self.receipt.tokens.total
    }
}

/// The room there is, with the query that has to go in.
#[derive(Debug)]
pub(super) struct Room {
    /// Tokens of the whole context, the reserve taken off.
    limit: u64,
    reserved: u64,
    query: Option<Part>,
}

impl Room {
    pub(super) fn new(budget: &Budget, query: Option<Message>, counter: &dyn TokenCounter) -> Result<Self> {
        let limit = budget.room()?;
        let query = query.map(|message| {
            let tokens = counter.count(&message);
            Part { kind: PartKind::Query, message: Arc::new(message), tokens }
        });
        let room = Self { limit, reserved: budget.reserve, query };
        if room.query_tokens() > limit {
            return Err(Error::OverBudget { need: room.query_tokens(), budget: limit });
        }
        Ok(room)
    }

    /// What the window and the recalled items may take together.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.query_tokens())
    }

    /// Leaves the query out if it is the newest message of the window already.
    pub(super) fn drop_query_if_said(&mut self, window: &Window) {
        let newest = window.rows.last().and_then(|row| row.message.as_ref());
        let said = |query: &Part| newest.is_some_and(|m| m.role == Role::User && m.text() == query.message.text());
        self.query = self.query.take().filter(|query| !said(query));
    }

    fn query_tokens(&self) -> u64 {
        self.query.as_ref().map_or(0, |query| query.tokens)
    }
}

/// The part of a session that was read: instructions at its head, its newest summary, and its tail.
#[derive(Debug)]
pub(super) struct Window {
    /// All but the newest summary.
    pub(super) rows: Vec<StoredMessage>,
    ledger: Ledger,
    /// It goes in before older messages do, although it stands for the oldest.
    summary: Option<StoredMessage>,
    state: SessionState,
    complete: bool,
    recounted: bool,
}

impl Window {
    pub(super) fn new(mut head: Slice, mut tail: Slice, counter: &dyn TokenCounter, counted: &Counted) -> Self {
        let recounted = is_of_another_counter(&tail.messages, counter, counted);
        if recounted {
            head.messages.iter_mut().chain(&mut tail.messages).for_each(|row| row.tokens = count(row, counter));
        }
        let first = tail.messages.first().map_or(Seq(u64::MAX), |row| row.seq);
        let is_instruction = |row: &StoredMessage| row.message.as_ref().is_some_and(|m| m.role.is_instruction());
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
    pub(super) fn fit(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted<'_>> {
        if let Some(summary) = self.summary.as_ref().filter(|summary| summary.tokens <= budget / 2)
            && let Ok(mut fitted) = self.fit_rows(budget - summary.tokens, Oversize::Error, counter)
        {
            let is_before = |row: &StoredMessage| row.covers.is_some() && row.seq < summary.seq;
            let older = fitted.rows.iter().skip(fitted.instructions).take_while(|row| is_before(row)).count();
            fitted.tokens += summary.tokens;
            fitted.rows.insert(fitted.instructions + older, Cow::Borrowed(summary));
            return Ok(fitted);
        }
        self.fit_rows(budget, oversize, counter)
    }

    fn fit_rows(&self, budget: u64, oversize: Oversize, counter: &dyn TokenCounter) -> Result<Fitted<'_>> {
        let options = FitOptions::default().with_oversize(oversize);
        let fitted = fit_with(&self.ledger, &self.rows, &Budget::new(budget), &options, counter)?;
        let truncated = fitted.truncated().count() as u64;
        Ok(Fitted { tokens: fitted.tokens, instructions: fitted.instructions, truncated, rows: fitted.rows })
    }

    /// As [`Window::fit`] within `left - share`, but within all of `left` if the last turn needs it.
    pub(super) fn fit_beside(
        &self,
        left: u64,
        share: u64,
        oversize: Oversize,
        counter: &dyn TokenCounter,
    ) -> Result<Fitted<'_>> {
        if share > 0
            && let Ok(fitted) = self.fit(left - share, Oversize::Error, counter)
        {
            return Ok(fitted);
        }
        self.fit(left, oversize, counter)
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
pub(super) struct Fitted<'a> {
    pub(super) rows: Vec<Cow<'a, StoredMessage>>,
    pub(super) tokens: u64,
    instructions: usize,
    truncated: u64,
}

impl Fitted<'_> {
    pub(super) fn ids(&self) -> HashSet<MessageId> {
        self.rows.iter().map(|row| row.id).collect()
    }
}

/// The block of recalled items and its size.
#[derive(Debug, Default)]
pub(super) struct Block {
    hits: Vec<Hit>,
    /// How many tokens each hit has added.
    shares: Vec<u64>,
    message: Option<Message>,
    pub(super) tokens: u64,
}

impl Block {
    /// Takes hits, best first, as long as the whole block keeps `share` tokens; the others are left out.
    pub(super) fn fill(
        hits: Vec<Hit>,
        share: u64,
        counter: &dyn TokenCounter,
        now: Timestamp,
        receipt: &mut SearchReceipt,
    ) -> Self {
        let mut block = Self::default();
        for hit in hits {
            let (item, signals) = (hit.item.clone(), hit.signals);
            if !block.takes(hit, share, counter, now) {
                receipt.left_out.push(LeftOut::new(&item, Reason::NoRoom, signals));
            }
        }
        block
    }

    /// Takes a hit if the whole block keeps `share` tokens with it.
    fn takes(&mut self, hit: Hit, share: u64, counter: &dyn TokenCounter, now: Timestamp) -> bool {
        let left = share.saturating_sub(self.tokens);
        // The block is counted anew with each hit, so what surely does not fit is told without that.
        if left < LEAST || left < u64::MAX / BYTES && hit.content.text().len() as u64 > left * BYTES {
            return false;
        }
        self.hits.push(hit);
        let message = render::recalled(self.hits.iter().map(|hit| &hit.content), now);
        let tokens = counter.count(&message);
        if tokens > share {
            self.hits.pop();
            return false;
        }
        self.shares.push(tokens.saturating_sub(self.tokens));
        (self.message, self.tokens) = (Some(message), tokens);
        true
    }

    /// Returns the records in the block.
    pub(super) fn records(&self) -> Vec<RecordId> {
        self.hits.iter().filter_map(|hit| as_record(&hit.item)).collect()
    }

    /// Takes out what stands in the window.
    pub(super) fn without(
        self,
        window: &HashSet<MessageId>,
        counter: &dyn TokenCounter,
        now: Timestamp,
        receipt: &mut SearchReceipt,
    ) -> Self {
        let is_shown = |hit: &Hit| matches!(&hit.item, ItemId::Message(id) if window.contains(id));
        let (shown, rest): (Vec<Hit>, Vec<Hit>) = self.hits.iter().cloned().partition(is_shown);
        if shown.is_empty() {
            return self;
        }
        receipt.left_out.extend(shown.iter().map(|hit| LeftOut::new(&hit.item, Reason::InWindow, hit.signals)));
        Self::fill(rest, u64::MAX, counter, now, receipt)
    }
}

/// Puts the parts of a context in order and writes its receipt.
pub(super) fn assemble(
    window: &Window,
    fitted: Fitted<'_>,
    block: Block,
    room: Room,
    counter: &dyn TokenCounter,
    search: SearchReceipt,
) -> Context {
    let mut parts = Vec::with_capacity(fitted.rows.len() + 2);
    let mut included = Vec::with_capacity(fitted.rows.len() + block.hits.len());
    let mut tokens = Tokens { limit: room.limit, reserved: room.reserved, ..Tokens::default() };
    let mut history = History {
        window_messages: window.state.active_messages,
        window_tokens: window.state.active_tokens,
        kept_messages: fitted.rows.len() as u64,
        kept_tokens: fitted.tokens,
        truncated: fitted.truncated,
        ..History::default()
    };
    for row in fitted.rows {
        let Some(part) = part(&row) else { continue };
        let share = match part.kind {
            PartKind::Instruction => &mut tokens.instructions,
            PartKind::Summary => &mut tokens.summaries,
            _ => &mut tokens.history,
        };
        *share += part.tokens;
        if part.kind != PartKind::Instruction {
            history.first = history.first.or(Some(row.covers.map_or(row.seq, |covers| covers.first)));
            history.last = Some(row.seq);
        }
        let item = ItemId::Message(row.id);
        included.push(Included { item, part: part.kind, tokens: part.tokens, signals: None });
        parts.push(part);
    }
    if let Some(message) = block.message {
        tokens.recalled = block.tokens;
        included.extend(block.hits.iter().zip(block.shares).map(|(hit, tokens)| {
            let (item, signals) = (hit.item.clone(), Some(hit.signals));
            Included { item, part: PartKind::Recalled, tokens, signals }
        }));
        parts.push(Part { kind: PartKind::Recalled, message: Arc::new(message), tokens: block.tokens });
    }
    if let Some(query) = room.query {
        tokens.query = query.tokens;
        parts.push(query);
    }
    tokens.total = parts.iter().map(|part| part.tokens).sum();
    let (counter, complete) = (counter.name().to_owned(), window.complete);
    let recounted = window.recounted;
    let receipt = ContextReceipt { tokens, counter, recounted, history, included, search, complete, took_micros: 0 };
    Context { parts, receipt }
}

fn part(row: &StoredMessage) -> Option<Part> {
    let message = row.message.as_ref()?;
    if let Some(covers) = row.covers {
        let message = Arc::new(render::summary(message, covers));
        return Some(Part { kind: PartKind::Summary, message, tokens: row.tokens });
    }
    let kind = if message.role.is_instruction() { PartKind::Instruction } else { PartKind::History };
    Some(Part { kind, message: Arc::clone(message), tokens: row.tokens })
}
