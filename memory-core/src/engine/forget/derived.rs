//! What falls with its sources: the records derived from what is forgotten, those derived from them, and so on. A record
//! that was told from elsewhere too stays with those tellings.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, RecordId, SessionId};
use crate::record::{StoredRecord, Telling};

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

/// What was found.
struct Found<'f> {
    session: Option<&'f SessionId>,
    /// The records that fall, in the order in which they were found, each once: each after one that it was derived from.
    order: Vec<RecordId>,
    /// What is forgotten and what falls.
    gone: HashSet<ItemId>,
    /// The records that stay, without some of their tellings.
    left: BTreeMap<RecordId, StoredRecord>,
}

impl Found<'_> {
    fn takes_back(&self, telling: &Telling) -> bool {
        let is_of_session = self.session.is_some() && telling.session.as_ref() == self.session;
        is_of_session || telling.sources.iter().any(|source| self.gone.contains(source))
    }

    fn add(&mut self, row: StoredRecord) {
        let (id, item) = (row.record.id, ItemId::Record(row.record.id));
        if self.gone.contains(&item) {
            return;
        }
        if row.record.tellings().all(|telling| self.takes_back(telling)) {
            self.left.remove(&id);
            self.gone.insert(item);
            self.order.push(id);
        } else {
            self.left.insert(id, row);
        }
    }
}

impl Scoped {
    /// Deletes all that falls with `fall`, and adds it there. Returns whether there was anything to be deleted or taken back.
    ///
    /// Tellings are taken back before, because nothing falls with them. Then what was found last goes first: wherever this is cut off, each record that is left was derived from one that is
    /// left, or from what is forgotten itself, so that a repeat finds it.
    pub(super) async fn fell(&self, fall: &mut Fall) -> Result<bool> {
        let (mut found, of_session) = self.look(fall).await?;
        let is_any = !found.order.is_empty() || !found.left.is_empty();
        for stored in std::mem::take(&mut found.left).into_values() {
            // One that has none left meanwhile is found by the next look.
            self.take_back(stored, |telling| found.takes_back(telling)).await?;
        }
        let mut order = found.order;
        order.reverse();
        for batch in order.chunks(BATCH) {
            self.inner().records.store().delete(self.scope(), batch).await?;
        }
        fall.of_session += of_session as u64;
        fall.derived += (order.len() - of_session) as u64;
        fall.items.extend(order.into_iter().rev().map(ItemId::Record));
        Ok(is_any)
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
    async fn look<'f>(&self, fall: &'f Fall) -> Result<(Found<'f>, usize)> {
        let gone = fall.items.iter().cloned().collect();
        let mut found = Found { session: fall.session.as_ref(), order: Vec::new(), gone, left: BTreeMap::new() };
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
                return Ok((found, of_session));
            }
            let batch = sources.drain(..sources.len().min(SOURCES)).map(|source| Scalar::Text(source.key()));
            let filter = Filter::In(Field::Source, batch.collect());
            self.find(&filter, &mut found).await?;
        }
    }

    /// Adds the records that match, read in batches.
    async fn find(&self, filter: &Filter, found: &mut Found<'_>) -> Result<()> {
        let mut after = None;
        loop {
            let rows = self.inner().records.store().scan(self.scope(), filter, after, BATCH).await?;
            let is_last = rows.len() < BATCH;
            after = rows.last().map(|row| row.record.id);
            rows.into_iter().for_each(|row| found.add(row));
            if is_last {
                return Ok(());
            }
        }
    }
}
