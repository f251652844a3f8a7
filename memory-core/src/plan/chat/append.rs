//! Appending: encodes a batch, and finds the messages that it holds twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Row, id_conflict};
use crate::error::Result;
use crate::fields::Fields;
use crate::id::{MessageId, SessionId};
use crate::number::stored;
use crate::store::chat::{Append, Fence, Placement};

/// A batch, encoded before the transaction.
#[derive(Debug)]
pub struct Batch<F> {
    /// The fence that the caller saw.
    pub fence: Option<Fence>,
    /// The largest budget that contexts asked for.
    pub asked: i64,
    /// The messages, each once.
    pub rows: Vec<Row<F>>,
    /// The row of each message of the call.
    pub places: Places,
}

/// For each message of a call, its row, and whether it is a repetition.
#[derive(Debug)]
pub struct Places(Vec<(usize, bool)>);

impl<F: Default> Batch<F> {
    /// Encodes the messages, and finds those that the batch holds twice.
    ///
    /// # Errors
    /// `IdConflict` if two messages have one id, `Invalid` as for [`Row::encode`].
    pub fn encode(session: &SessionId, batch: &Append, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let Append { fence, asked, messages } = batch;
        let mut seen: HashMap<MessageId, usize> = HashMap::with_capacity(messages.len());
        let mut rows: Vec<Row<F>> = Vec::with_capacity(messages.len());
        let mut places = Vec::with_capacity(messages.len());
        for new in messages {
            let row = Row::encode(session, new, &facets)?;
            match seen.entry(row.id) {
                Entry::Vacant(free) => {
                    places.push((*free.insert(rows.len()), false));
                    rows.push(row);
                }
                Entry::Occupied(first) => {
                    if rows.get(*first.get()).is_none_or(|first| first.digest != row.digest) {
                        return Err(id_conflict(row.id));
                    }
                    places.push((*first.get(), true));
                }
            }
        }
        Ok(Self { fence: *fence, asked: stored(*asked)?, rows, places: Places(places) })
    }
}

impl Places {
    /// Returns how many messages the call has.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the placement of each message of the call, from those of the rows.
    pub fn spread(&self, rows: &[Placement]) -> Vec<Placement> {
        let placement = |(row, is_repeated): &(usize, bool)| match rows.get(*row) {
            Some(Placement::Added(seq)) if *is_repeated => Placement::Already(*seq),
            Some(placement) => *placement,
            None => Placement::Forgotten,
        };
        self.0.iter().map(placement).collect()
    }
}
