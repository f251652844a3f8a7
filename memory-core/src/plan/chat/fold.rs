//! Folding: checks whether a summary may replace a span.

use super::{KnownRow, Position, Row, id_conflict};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::{MessageId, SeqRange, SessionId};
use crate::store::chat::{Compaction, Fence};

/// A change of the window, with its summary encoded before the transaction.
#[derive(Debug)]
pub enum Change<F> {
    /// As [`Compaction::Fold`].
    Fold {
        /// The fence that the caller saw.
        fence: Fence,
        /// The span.
        span: SeqRange,
        /// The active rows in it.
        ids: Vec<MessageId>,
        /// The summary that replaces them.
        summary: Row<F>,
    },
    /// As [`Compaction::Unfold`].
    Unfold {
        /// The summary that is removed.
        summary: MessageId,
    },
}

/// A fold that the stored rows allow.
#[derive(Debug)]
pub struct Fold<'a> {
    /// The first number of the span.
    pub first: i64,
    /// The last number of the span.
    pub last: i64,
    ids: &'a [MessageId],
}

impl<F: Default> Change<F> {
    /// Encodes a change of `session`.
    ///
    /// # Errors
    /// As [`Row::encode`].
    pub fn encode(session: &SessionId, change: &Compaction, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        Ok(match change {
            Compaction::Fold { fence, span, ids, summary } => {
                let summary = Row::encode(session, summary, facets)?;
                Self::Fold { fence: *fence, span: *span, ids: ids.clone(), summary }
            }
            Compaction::Unfold { summary } => Self::Unfold { summary: *summary },
        })
    }
}

impl<'a> Fold<'a> {
    /// Returns the fold of `ids` in a session up to `head`; none if the summary is already `there`.
    ///
    /// # Errors
    /// `IdConflict` if something else is there, `Conflict` for a span outside the session.
    pub fn plan<F>(
        (span, ids, summary): (SeqRange, &'a [MessageId], &Row<F>),
        there: Option<&KnownRow>,
        head: i64,
    ) -> Result<Option<Self>> {
        if let Some(there) = there {
            let is_repeat = there.is_summary && !there.is_forgotten && there.digest == summary.digest;
            return if is_repeat { Ok(None) } else { Err(id_conflict(summary.id)) };
        }
        let (Ok(first), Ok(last)) = (i64::try_from(span.first.0), i64::try_from(span.last.0)) else {
            return Err(Error::Conflict);
        };
        if first == 0 || first > last || last > head || ids.is_empty() {
            return Err(Error::Conflict);
        }
        Ok(Some(Self { first, last, ids }))
    }

    /// Returns `Ok` if the `active` rows in the span are the ones named, and none of them begins before it.
    ///
    /// Each is given by its id and, for a summary, the first number it covers. No active summary after the span may cover its
    /// last number either; the adapter checks that with a query of its own.
    ///
    /// # Errors
    /// `Conflict`.
    pub fn check(&self, active: &[(MessageId, Option<i64>)]) -> Result<()> {
        let is_cut = active.iter().any(|(_, start)| start.is_some_and(|start| start < self.first));
        let is_named = active.iter().map(|(id, _)| id).eq(self.ids);
        if is_named && !is_cut { Ok(()) } else { Err(Error::Conflict) }
    }

    /// Returns the position of the summary.
    pub fn position(&self, layer: i64) -> Position {
        Position { seq: self.last, layer, first: Some(self.first), archived_by: None }
    }
}
