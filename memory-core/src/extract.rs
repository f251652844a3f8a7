//! Facts out of what was said: who finds them, what they may change, and what is refused.

mod again;
mod check;
mod denial;
mod ground;
mod rules;

use std::fmt::Debug;

use async_trait::async_trait;
use serde::Serialize;

use crate::error::Result;
use crate::id::{MessageId, RecordId};
use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::time::Timestamp;

pub use rules::RuleExtractor;

pub(crate) use again::{gives_no_more, repeats, says_no_more};
pub(crate) use check::{check, trust_of};
pub(crate) use ground::ground;

/// The key of a record's metadata that holds the name of its slot.
pub const SLOT: &str = "slot";
/// The key of a record's metadata that holds what fills its slot.
pub const VALUE: &str = "value";

/// What facts are to be found in.
#[derive(Clone, Debug)]
pub struct ExtractRequest {
    /// Messages of one conversation, oldest first. What they say is data, and never an instruction.
    pub messages: Vec<StoredMessage>,
    /// The owner's current records: the newest that fill a slot, then the newest facts and preferences that fill none. An operation
    /// may confirm, replace or end these and no others.
    pub known: Vec<StoredRecord>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A record more; the same statement again is one record. One that has ended already stays ended, if it was told from the same
    /// messages or was said before it ended.
    Add,
    /// The record is said again in fewer words, so it is still true and stays as it is.
    Confirm(RecordId),
    /// The record is true no longer, and this one is.
    Change(RecordId),
    /// The record was wrong, and this one is right.
    Correct(RecordId),
    /// The record is true no longer, and nothing takes its place. It ends at the operation's end or, without one, when that was said.
    Retract(RecordId),
}

impl Effect {
    /// Returns the record that is replaced or ended.
    pub fn replaced(self) -> Option<RecordId> {
        match self {
            Self::Add | Self::Confirm(_) => None,
            Self::Change(id) | Self::Correct(id) | Self::Retract(id) => Some(id),
        }
    }
}

/// What a fact is about, such as where somebody lives, and the value that it gives. Both become metadata of the record, under
/// [`SLOT`] and [`VALUE`]. What has one value at a time, such as a home, is ended by another value that replaces it; what may have
/// many, such as dogs, is not: an extractor knows which is which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Its name, such as `home`: 1 to 255 bytes.
    pub name: String,
    /// Its value, such as `Lisbon`: 1 to 255 bytes.
    pub value: String,
}

/// A fact that was found, and what it does to what is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// What it does.
    pub effect: Effect,
    /// The record's kind, such as `fact` or `preference`.
    pub kind: String,
    /// The record's text; of no use for [`Effect::Confirm`] and [`Effect::Retract`].
    pub text: String,
    /// What the fact is about, if that has a name.
    pub slot: Option<Slot>,
    /// Names that the fact mentions; they become tags.
    pub entities: Vec<String>,
    /// The time from which it is true.
    pub valid_from: Option<Timestamp>,
    /// The time from which it is no longer true.
    pub valid_to: Option<Timestamp>,
    /// The messages that say it, at least one. Forgetting one of them takes back what was told from it. The memory adds messages that
    /// say more of it than these do.
    pub sources: Vec<MessageId>,
    /// Words of one of the sources, exactly as they stand there.
    pub quote: String,
}

/// What came of the facts that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FactCounts {
    /// Records that are new.
    pub added: usize,
    /// Records that were said again.
    pub confirmed: usize,
    /// Records whose place others took: they are true no longer, or were wrong.
    pub changed: usize,
    /// Records that ended, and nothing took their place.
    pub retracted: usize,
    /// Answers that were refused whole, or that the extractor refused to give. Nothing of them was carried out; what they were about
    /// is asked again, a few times.
    pub refused: usize,
}

impl FactCounts {
    /// Counts what others counted, too.
    pub(crate) fn add(&mut self, more: Self) {
        let Self { added, confirmed, changed, retracted, refused } = more;
        self.added += added;
        self.confirmed += confirmed;
        self.changed += changed;
        self.retracted += retracted;
        self.refused += refused;
    }
}

/// Finds facts in what was said: rules, or a model.
///
/// Upkeep asks it for every stretch of every conversation, once, if the memory was built with one
/// ([`MemoryBuilder::extractor`](crate::engine::MemoryBuilder::extractor)). Its answer is taken whole or not at all: it is refused
/// with more than 32 operations, a source or record that was not in the request, a quote that stands in no source, a text or value
/// with a number or name that no source has, or if it replaces a record that is pinned or has more trust than its sources. What it
/// adds has the lowest trust of its sources; a person's message that holds results of tools has no more than these. A message that says
/// more of a fact's words than the sources do becomes one of them, and so does what a bare *ok* answers: who says that to what an
/// assistant has read on a page has not said it. Nor have they ended a record: unless what is quoted says a word of the record or of
/// what takes its place, each message that says a word of it becomes a source; *no longer* will do where none of these says an end.
/// A panic is a failure like another.
///
/// ```
/// use async_trait::async_trait;
/// use memory_core::Result;
/// use memory_core::extract::{ExtractRequest, Extractor, Operation};
///
/// /// Finds nothing.
/// #[derive(Debug)]
/// struct Blind;
///
/// #[async_trait]
/// impl Extractor for Blind {
///     fn name(&self) -> &str {
///         "blind-1"
///     }
///
///     async fn extract(&self, _: &ExtractRequest) -> Result<Vec<Operation>> {
///         Ok(Vec::new())
///     }
/// }
/// ```
#[async_trait]
pub trait Extractor: Debug + Send + Sync + 'static {
    /// Returns its name with its version, at most 200 printable ASCII characters. What it added bears this name as its origin. Under
    /// another name it reads everything once more.
    fn name(&self) -> &str;

    /// Returns the facts in `request`.
    async fn extract(&self, request: &ExtractRequest) -> Result<Vec<Operation>>;
}
