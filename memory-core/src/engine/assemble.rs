//! What a context holds: the rule by which a budget is shared out, as functions of values.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId};
use crate::message::{Message, Role, StoredMessage};
use crate::model::TokenCounter;
use crate::time::Timestamp;
use crate::window::Budget;

use super::hydrate::as_record;
use super::receipt::{ContextReceipt, History, Included, LeftOut, Reason, SearchReceipt, Tokens};
use super::render;
use super::search::Hit;
use super::window::{Fitted, Window};

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
    mut window: Window,
    fitted: Fitted,
    block: Block,
    room: Room,
    counter: &dyn TokenCounter,
    search: SearchReceipt,
) -> Context {
    let mut parts = Vec::with_capacity(fitted.shown.len() + 2);
    let mut included = Vec::with_capacity(fitted.shown.len() + block.hits.len());
    let mut tokens = Tokens { limit: room.limit, reserved: room.reserved, ..Tokens::default() };
    let mut history = History {
        window_messages: window.state.active_messages,
        window_tokens: window.state.active_tokens,
        kept_messages: fitted.shown.len() as u64,
        kept_tokens: fitted.tokens,
        truncated: fitted.truncated,
        ..History::default()
    };
    for mut shown in fitted.shown {
        let Some((row, message)) = window.take(&mut shown) else { continue };
        let part = part(row, message);
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

fn part(row: &StoredMessage, message: Arc<Message>) -> Part {
    if let Some(covers) = row.covers {
        return Part {
            kind: PartKind::Summary,
            message: Arc::new(render::summary(&message, covers)),
            tokens: row.tokens,
        };
    }
    let kind = if message.is_instruction() { PartKind::Instruction } else { PartKind::History };
    Part { kind, message, tokens: row.tokens }
}
