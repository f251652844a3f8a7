//! A planned fold: the rows that leave a window, and why.

use crate::id::{MessageId, SeqRange};
use crate::message::StoredMessage;
use crate::model::{SummaryPurpose, SummaryRequest};
use crate::store::chat::{Compaction, Fence, NewMessage};

/// Why rows are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoldReason {
    /// There are too many tokens.
    Tokens,
    /// There are too many messages.
    Messages,
    /// There are too many summaries, or nothing but summaries is left to fold.
    Summaries,
    /// The newest turn alone has too many tokens.
    Turn,
    /// Too many rows stand for messages that left without a summary. What becomes of them has no words either.
    Archives,
}

/// A planned fold: the rows to fold, for the compare-and-set of [`Compaction::Fold`] and for the summariser.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldPlan {
    /// Why.
    pub reason: FoldReason,
    /// The numbers that the summary will cover.
    pub span: SeqRange,
    /// The rows to be folded, oldest first.
    pub rows: Vec<StoredMessage>,
    /// Their tokens.
    pub tokens: u64,
    /// The most tokens that the summary may have.
    pub max_tokens: u64,
}

impl FoldPlan {
    /// Returns the ids of the rows, as the store compares them.
    pub fn ids(&self) -> Vec<MessageId> {
        self.rows.iter().map(|row| row.id).collect()
    }

    /// Returns how many messages leave the window, not counting summaries.
    pub fn messages(&self) -> usize {
        self.rows.iter().filter(|row| row.covers.is_none()).count()
    }

    /// Returns the request to a summariser, which must keep the texts `keep` word for word.
    pub fn request(&self, keep: Vec<String>) -> SummaryRequest {
        let messages = self.rows.iter().filter(|row| !row.is_archive()).cloned().collect();
        SummaryRequest {
            purpose: SummaryPurpose::Window,
            messages,
            records: Vec::new(),
            max_tokens: self.max_tokens,
            keep,
        }
    }

    /// Returns the change that replaces the rows by `summary`, with the fence of the state that they were read with.
    pub fn fold(&self, fence: Fence, summary: NewMessage) -> Compaction {
        Compaction::Fold { fence, span: self.span, ids: self.ids(), summary }
    }
}
