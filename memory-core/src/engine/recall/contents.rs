//! The contents of a context: its parts in order, their tokens, and the receipt. No I/O.

use std::sync::Arc;

use foldhash::HashMap;
use serde_json::Value;

use crate::engine::hit::Hit;
use crate::engine::receipt::{
    ContextReceipt, Degraded, History, Included, PartKind, SearchReceipt, Signals, Stage, SynopsisShown, Tokens,
};
use crate::engine::synopsis::synopsis_id;
use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId};
use crate::message::{Chat, Message, StoredMessage, as_openai, to_anthropic, to_openai};
use crate::model::TokenCounter;
use crate::window::{Budget, framed};

use super::block::Block;
use super::told::{Part, Told};
use super::window::{Fitted, Window};

/// What a receipt says of a branch whose past is incomplete.
const GONE: &str = "a part of the past that this branch shares is gone: its conversation was deleted";

/// What to send to a model, in order.
///
/// # Examples
/// ```
/// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
/// let context = session.context("Where is my order?", 2_000).await?;
/// assert!(context.tokens() <= 2_000);
/// for message in context.to_openai() {
///     println!("{message}");
/// }
/// for part in &context.receipt.included {
///     println!("{:?}: {} tokens", part.part, part.tokens);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The messages.
    pub parts: Vec<Part>,
    /// What went in, what was left out and why.
    pub receipt: ContextReceipt,
}

impl Context {
    /// Puts the parts of a context in order and writes its receipt.
    pub(crate) fn of(
        mut window: Window,
        fitted: Fitted,
        recalled: Recalled,
        told: Told,
        room: Room,
        counter: &dyn TokenCounter,
        mut search: SearchReceipt,
    ) -> Self {
        let Recalled { hits, mut block, in_window } = recalled;
        let (mut parts, Told { part: mut synopsis, shown }) = (Parts::default(), told);
        let (mut history, folds) = (window.history(&fitted), window.folds(&fitted));
        let session = window.state.session.clone();
        for mut shown in fitted.shown {
            let Some((row, message)) = window.take(&mut shown) else { continue };
            let is_query = room.said == Some(row.id);
            history.folded_asides += u64::from(!message.aside.is_empty());
            if is_query {
                parts.push_block(&mut block, &hits);
            }
            let (part, is_own) = (part(row, message, is_query), row.session == session);
            if part.kind != PartKind::Instruction {
                parts.push_synopsis(&mut synopsis);
            }
            if part.kind != PartKind::Instruction && is_own {
                history.first = history.first.or(Some(row.covers.map_or(row.seq, |covers| covers.first)));
                history.last = Some(row.seq);
            }
            let (item, signals) = (ItemId::Message(row.id), in_window.get(&row.id).copied());
            parts.included.push(Included { item, part: part.kind, tokens: part.tokens, signals, shared_by: None });
            parts.list.push(part);
        }
        parts.push_synopsis(&mut synopsis);
        parts.push_block(&mut block, &hits);
        if window.gone() > 0 {
            search.degraded.push(Degraded { stage: Stage::Chat, why: GONE.to_owned() });
        }
        let (complete, recounted) = (window.complete, window.recounted);
        let context = parts.sealed(room, counter, shown, search);
        let receipt = ContextReceipt { history, folds, complete, recounted, ..context.receipt };
        Self { receipt, ..context }
    }

    /// Puts the parts of a context without a conversation in order and writes its receipt.
    pub(crate) fn alone(
        recalled: Recalled,
        told: Told,
        room: Room,
        counter: &dyn TokenCounter,
        search: SearchReceipt,
    ) -> Self {
        let (Recalled { hits, mut block, .. }, Told { part: mut synopsis, shown }) = (recalled, told);
        let mut parts = Parts::default();
        parts.push_synopsis(&mut synopsis);
        parts.push_block(&mut block, &hits);
        parts.sealed(room, counter, shown, search)
    }

    /// Returns the messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.parts.iter().map(|part| part.message.as_ref())
    }

    /// Returns the messages as OpenAI chat JSON. Several tool results in one message, as in Anthropic's dialect, become one
    /// message each. What only another provider's model can use, such as signed thinking, is left out.
    pub fn to_openai(&self) -> Vec<Value> {
        to_openai(self.messages())
    }

    /// Returns the messages as [`Context::to_openai`] does, to be serialized: most without a [`Value`] between.
    pub fn as_openai(&self) -> Vec<Chat<'_>> {
        as_openai(self.messages())
    }

    /// Returns the members of a request to Anthropic's API: `messages`, with alternating roles and each call directly followed
    /// by its result, and `system`, if there are instructions.
    ///
    /// Call ids that the API does not accept are replaced. Content that it does not accept, such as sound, is named in words.
    pub fn to_anthropic(&self) -> Value {
        to_anthropic(self.messages())
    }

    /// Returns the tokens of all parts together.
    pub fn tokens(&self) -> u64 {
        self.receipt.tokens.total
    }
}

/// The room in a context, and the query that has to go in.
#[derive(Debug)]
pub(crate) struct Room {
    /// The tokens of the whole context, without the reserve.
    limit: u64,
    reserved: u64,
    query: Option<Part>,
    /// The message of the window that is the query.
    said: Option<MessageId>,
}

impl Room {
    pub(crate) fn new(budget: &Budget, query: Option<Message>, counter: &dyn TokenCounter) -> Result<Self> {
        let limit = budget.room()?;
        let query = query.map(|message| {
            let tokens = counter.count(&message);
            Part { kind: PartKind::Query, message: Arc::new(message), tokens }
        });
        Ok(Self { limit, reserved: budget.reserve, query, said: None })
    }

    /// Returns the tokens that the window and the recalled items may take together.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.query_tokens())
    }

    /// Returns `Ok` if the query fits. A query already in the session is not counted here; the oversize policy handles it.
    ///
    /// # Errors
    /// `OverBudget` if the query alone needs more tokens than there are.
    pub(crate) fn check(&self) -> Result<()> {
        let (need, budget) = (self.query_tokens(), self.limit);
        if need <= budget { Ok(()) } else { Err(Error::OverBudget { need, budget }) }
    }

    /// Leaves the query out if the window ends with it already. Asked again when older rows were read, among which it may stand.
    pub(crate) fn leave_query_to(&mut self, window: &Window) {
        let Some(query) = &self.query else { return };
        self.said = window.said(&query.message.text());
        if self.said.is_some() {
            self.query = None;
        }
    }

    fn query_tokens(&self) -> u64 {
        self.query.as_ref().map_or(0, |query| query.tokens)
    }
}

/// What was recalled beside a window.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    pub(crate) hits: Vec<Hit>,
    pub(crate) block: Block,
    /// The messages of the window that the search found too.
    pub(crate) in_window: HashMap<MessageId, Signals>,
}

/// The parts of a context so far.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    included: Vec<Included>,
}

impl Parts {
    /// Returns them as a context that ends with the query, and shows nothing of a conversation yet.
    fn sealed(
        mut self,
        room: Room,
        counter: &dyn TokenCounter,
        synopsis: Option<SynopsisShown>,
        search: SearchReceipt,
    ) -> Context {
        self.list.extend(room.query);
        let receipt = ContextReceipt {
            tokens: tokens_of(&self.list, room.limit, room.reserved),
            counter: counter.name().to_owned(),
            recounted: 0,
            history: History::default(),
            folds: Vec::new(),
            synopsis,
            included: self.included,
            search,
            prefix_reuse_ratio: None,
            complete: true,
            took_micros: 0,
        };
        Context { parts: self.list, receipt }
    }

    /// Adds the synopsis, unless it was added before.
    fn push_synopsis(&mut self, synopsis: &mut Option<Part>) {
        let Some(part) = synopsis.take() else { return };
        let item = ItemId::Record(synopsis_id());
        let (signals, shared_by) = (None, None);
        self.included.push(Included { item, part: part.kind, tokens: part.tokens, signals, shared_by });
        self.list.push(part);
    }

    /// Adds the block of recalled items, unless it was added before.
    fn push_block(&mut self, block: &mut Block, hits: &[Hit]) {
        let Some(message) = block.message.take() else { return };
        self.included.extend(block.included(hits));
        self.list.push(Part { kind: PartKind::Recalled, message: Arc::new(message), tokens: block.tokens });
    }
}

fn tokens_of(parts: &[Part], limit: u64, reserved: u64) -> Tokens {
    let mut tokens = Tokens { limit, reserved, ..Tokens::default() };
    for part in parts {
        let share = match part.kind {
            PartKind::Instruction => &mut tokens.instructions,
            PartKind::Synopsis => &mut tokens.synopsis,
            PartKind::Summary => &mut tokens.summaries,
            PartKind::History => &mut tokens.history,
            PartKind::Recalled => &mut tokens.recalled,
            PartKind::Query => &mut tokens.query,
        };
        *share = share.saturating_add(part.tokens);
        tokens.total = tokens.total.saturating_add(part.tokens);
    }
    tokens
}

fn part(row: &StoredMessage, mut message: Arc<Message>, is_query: bool) -> Part {
    let tokens = row.tokens;
    if let Some(covers) = row.covers {
        return Part { kind: PartKind::Summary, message: Arc::new(framed(&message, covers)), tokens };
    }
    if !message.aside.is_empty() {
        Arc::make_mut(&mut message).aside.clear();
    }
    let kind = match (message.is_instruction(), is_query) {
        (true, _) => PartKind::Instruction,
        (false, true) => PartKind::Query,
        (false, false) => PartKind::History,
    };
    Part { kind, message, tokens }
}
