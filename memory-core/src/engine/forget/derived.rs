//! What falls with its sources: the records derived from what is forgotten, those derived from them, and so on.

use std::collections::{HashSet, VecDeque};

use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, RecordId, SessionId};

use super::{BATCH, Scoped};

/// How many sources one look asks for: fewer than the clauses that a store takes in a filter.
const SOURCES: usize = 1_000;

/// How often is looked for what somebody derived meanwhile.
const LOOKS: usize = 8;

/// Items that are forgotten together.
#[derive(Debug, Default)]
pub(super) struct Fall {
    /// What is forgotten, and what has fallen with it so far.
    pub(super) items: Vec<ItemId>,
    /// The session whose records fall too.
    pub(super) session: Option<SessionId>,
    /// How many records fell because they belong to the session.
    pub(super) of_session: u64,
    /// How many records fell because they were derived.
    pub(super) derived: u64,
}

impl Fall {
    pub(super) fn of(items: impl Iterator<Item = ItemId>) -> Self {
        Self { items: items.collect(), ..Self::default() }
    }

    pub(super) fn records(&self) -> Vec<ItemId> {
        self.items.iter().filter(|item| matches!(item, ItemId::Record(_))).cloned().collect()
    }
}

/// Records in the order in which they were found, each once: each after one that it was derived from.
#[derive(Default)]
struct Found {
    order: Vec<RecordId>,
    seen: HashSet<RecordId>,
}

impl Scoped {
    /// Deletes all that falls with `fall`, and adds it there. Returns whether there was anything.
    ///
    /// What was found last goes first: wherever this is cut off, each record that is left was derived from one that is
    /// left, or from what is forgotten itself, so that a repeat finds it.
    pub(super) async fn fell(&self, fall: &mut Fall) -> Result<bool> {
        let (mut found, of_session) = self.look(fall).await?;
        fall.of_session += of_session as u64;
        fall.derived += (found.len() - of_session) as u64;
        fall.items.extend(found.iter().copied().map(ItemId::Record));
        found.reverse();
        for batch in found.chunks(BATCH) {
            self.inner().records.store().delete(self.scope(), batch).await?;
        }
        Ok(!found.is_empty())
    }

    /// Goes on until a look finds nothing that is derived from `fall`; returns whether one did.
    ///
    /// To be called when what is forgotten is gone: from then on nothing new can be derived from it.
    pub(super) async fn settle(&self, fall: &mut Fall) -> Result<bool> {
        for _ in 0..LOOKS {
            if !self.fell(fall).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns what falls with `fall`, in the order in which it was found, and how many of them, the first ones, because
    /// they belong to the session.
    async fn look(&self, fall: &Fall) -> Result<(Vec<RecordId>, usize)> {
        let known = fall.items.iter().filter_map(|item| match item {
            ItemId::Record(id) => Some(*id),
            _ => None,
        });
        let mut found = Found { order: Vec::new(), seen: known.collect() };
        if let Some(session) = &fall.session {
            self.find(&Filter::eq(Field::Session, session.name()), &mut found).await?;
        }
        let of_session = found.order.len();
        let mut sources: VecDeque<ItemId> = fall.items.iter().cloned().collect();
        let mut followed = 0;
        loop {
            sources.extend(found.order.iter().skip(followed).copied().map(ItemId::Record));
            followed = found.order.len();
            if sources.is_empty() {
                return Ok((found.order, of_session));
            }
            let batch = sources.drain(..sources.len().min(SOURCES)).map(|source| Scalar::Text(source.key()));
            let filter = Filter::In(Field::Source, batch.collect());
            self.find(&filter, &mut found).await?;
        }
    }

    /// Adds the records that match, read in batches.
    async fn find(&self, filter: &Filter, found: &mut Found) -> Result<()> {
        let mut after = None;
        loop {
            let rows = self.inner().records.store().scan(self.scope(), filter, after, BATCH).await?;
            for row in &rows {
                if found.seen.insert(row.record.id) {
                    found.order.push(row.record.id);
                }
            }
            after = rows.last().map(|row| row.record.id);
            if rows.len() < BATCH {
                return Ok(());
            }
        }
    }
}
