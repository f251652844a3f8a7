//! What falls with its sources: the records derived from forgotten items, those derived from them, and so on. A record that
//! was also told from other sources stays, with those tellings.
//!
//! A record is doomed before it is deleted. From then on nothing can be derived from it, and another look finds what was derived
//! before. Without this mark a record could be derived from it between the look and the deletion. If the forget were cut off
//! then, no chain of sources would lead to that record any more.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::filter::{Field, Filter, Scalar};
use crate::id::{ItemId, RecordId, SessionId};
use crate::record::{Record, StoredRecord, Telling};
use crate::store::records::{Expect, Put, RecordBatch};

use super::bounds::{ATTEMPTS, BATCH};
use super::trace::is_trace;

/// How many sources one query names: fewer than the clauses that a store allows in a filter.
const SOURCES: usize = 1_000;

/// How often a look is repeated for what was derived meanwhile.
const LOOKS: usize = 8;

/// What becomes of a record that is pinned or on hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Protected {
    /// It falls as others do.
    #[default]
    Falls,
    /// It stays, and so does everything that it was derived from: nothing falls.
    Stops,
    /// It stays. What it was derived from is gone.
    Stays,
}

/// Items that are forgotten together, with what falls with them.
#[derive(Debug, Default)]
pub(super) struct Fall {
    /// What is forgotten, and what has fallen with it so far.
    pub(super) items: Vec<ItemId>,
    /// A session whose records fall too.
    pub(super) session: Option<SessionId>,
    /// Records that the caller deletes itself, after all others have fallen.
    pub(super) last: HashSet<RecordId>,
    /// How many records fell because they belong to the session.
    pub(super) of_session: u64,
    /// How many records fell because they were derived.
    pub(super) derived: u64,
    /// What becomes of records that are pinned or on hold.
    pub(super) protected: Protected,
    /// Whether such a record has stopped it.
    pub(super) is_stopped: bool,
    /// Whether the last look found such a record, which stays.
    pub(super) has_spared: bool,
    /// How many items the caller named.
    pub(super) named: usize,
}

impl Fall {
    pub(super) fn of(items: impl Iterator<Item = ItemId>, protected: Protected) -> Self {
        let items: Vec<ItemId> = items.collect();
        Self { named: items.len(), items, protected, ..Self::default() }
    }

    /// Notes that what was named is gone: from now on a protected record stays alone, and stops nothing.
    pub(super) fn note_gone(&mut self) {
        if self.protected == Protected::Stops {
            self.protected = Protected::Stays;
        }
    }

    /// Returns what has fallen besides what the caller named.
    pub(super) fn fallen(&self) -> &[ItemId] {
        self.items.get(self.named..).unwrap_or_default()
    }

    pub(super) fn records(&self) -> Vec<ItemId> {
        self.items.iter().filter(|item| matches!(item, ItemId::Record(_))).cloned().collect()
    }
}

/// The result of a look.
struct Derived<'f> {
    fall: &'f Fall,
    /// The records that fall, with their versions, in the order found: each stands after one that it was derived from.
    order: Vec<(RecordId, u64)>,
    /// Those of them that are not doomed yet.
    free: Vec<(RecordId, u64)>,
    /// All items that are forgotten, fell before, or fall now.
    gone: HashSet<ItemId>,
    /// The records in `order`. A record that fell before and was told again since falls again.
    falling: HashSet<RecordId>,
    /// The records that stay but lose some of their tellings.
    left: BTreeMap<RecordId, StoredRecord>,
    /// Whether a record was found that is pinned or on hold, and not to fall.
    has_protected: bool,
}

impl Derived<'_> {
    fn takes_back(&self, telling: &Telling) -> bool {
        let Fall { session, .. } = self.fall;
        let is_of_session = session.is_some() && telling.session == *session;
        is_of_session || telling.sources.iter().any(|source| self.gone.contains(source))
    }

    fn add(&mut self, row: StoredRecord) {
        let id = row.record.id;
        // A trace is deleted when nothing is left of what it leads to.
        if self.fall.last.contains(&id) || self.falling.contains(&id) || is_trace(&row.record) {
            return;
        }
        if self.fall.protected != Protected::Falls && row.record.is_protected() {
            self.has_protected = true;
        } else if row.record.tellings().all(|telling| self.takes_back(telling)) {
            self.left.remove(&id);
            self.gone.insert(ItemId::Record(id));
            self.falling.insert(id);
            self.order.push((id, row.version));
            if !row.record.doomed {
                self.free.push((id, row.version));
            }
        } else {
            self.left.insert(id, row);
        }
    }
}

impl Scoped {
    /// Deletes everything that falls with `fall`, and adds it to `fall`. Returns whether there was anything to delete or take
    /// back. Where a look finds a protected record that stops the fall, nothing more of it is deleted.
    pub(super) async fn fell(&self, fall: &mut Fall) -> Result<bool> {
        let mut is_any = false;
        for _ in 0..ATTEMPTS {
            match self.fell_once(fall).await {
                // They are doomed now, or one of them was told again meanwhile: look again.
                Err(Error::Conflict) => is_any = true,
                other => return other.map(|is_more| is_any || is_more),
            }
        }
        Err(Error::Conflict)
    }

    /// Deletes what one look finds, once all of it is doomed. Tellings are taken back first, because nothing falls with them. Then
    /// the records found last go first. So wherever this is cut off, each record left was derived from one that is left, or from a
    /// forgotten item, and a repeat finds it.
    async fn fell_once(&self, fall: &mut Fall) -> Result<bool> {
        let (mut found, of_session) = self.look(fall).await?;
        if found.has_protected && fall.protected == Protected::Stops {
            let doomed: Vec<RecordId> = found.order.iter().map(|(id, _)| *id).collect();
            self.spare(&doomed).await?;
            fall.is_stopped = true;
            return Ok(false);
        }
        let (is_any, has_spared) = (!found.order.is_empty() || !found.left.is_empty(), found.has_protected);
        if !found.free.is_empty() {
            self.doom_found(&found.free).await?;
            return Err(Error::Conflict);
        }
        self.take_back_found(&mut found).await?;
        let mut order = found.order;
        fall.has_spared = has_spared;
        while !order.is_empty() {
            let batch = order.split_off(order.len().saturating_sub(BATCH));
            let latest_first: Vec<(RecordId, u64)> = batch.iter().rev().copied().collect();
            self.inner().records.store().delete(self.scope(), &latest_first).await?;
            let derived = batch.len().min((order.len() + batch.len()).saturating_sub(of_session));
            fall.derived += derived as u64;
            fall.of_session += (batch.len() - derived) as u64;
            fall.items.extend(batch.into_iter().map(|(id, _)| ItemId::Record(id)));
        }
        Ok(is_any)
    }

    /// Takes back the tellings found of the records that stay.
    async fn take_back_found(&self, found: &mut Derived<'_>) -> Result<()> {
        for stored in std::mem::take(&mut found.left).into_values() {
            // The next look finds a record that has no tellings left by now.
            self.take_back(stored, |telling| found.takes_back(telling)).await?;
        }
        Ok(())
    }

    /// Dooms the records found, except those that have changed since.
    async fn doom_found(&self, free: &[(RecordId, u64)]) -> Result<()> {
        for batch in free.chunks(BATCH) {
            let ids: Vec<RecordId> = batch.iter().map(|(id, _)| *id).collect();
            let mut rows = self.stored(&ids).await?;
            rows.retain(|row| batch.contains(&(row.record.id, row.version)));
            self.put_doomed(&rows).await?;
        }
        self.outrun_puts().await
    }

    /// Dooms records, so that nothing can be derived from them any more, and returns their new versions.
    pub(super) async fn doom(&self, rows: &[StoredRecord]) -> Result<HashMap<RecordId, u64>> {
        let doomed = self.put_doomed(rows).await?;
        if !doomed.is_empty() {
            self.outrun_puts().await?;
        }
        let versions = rows.iter().map(|row| (row.record.id, row.version));
        Ok(versions.chain(doomed).collect())
    }

    /// Takes back that records are doomed, each by itself. One that was told again meanwhile is not doomed any more.
    pub(super) async fn spare(&self, ids: &[RecordId]) -> Result<()> {
        for stored in self.stored(ids).await?.iter().filter(|stored| stored.record.doomed) {
            let puts = vec![marked(stored, false)];
            match self.inner().records.store().put(self.scope(), &RecordBatch { fence: None, puts }).await {
                Ok(_) | Err(Error::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Dooms those of the records that are not doomed, all or none, and returns their new versions.
    async fn put_doomed(&self, rows: &[StoredRecord]) -> Result<Vec<(RecordId, u64)>> {
        let puts: Vec<Put> = rows.iter().filter(|row| !row.record.doomed).map(|row| marked(row, true)).collect();
        if puts.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<RecordId> = puts.iter().map(|put| put.record.id).collect();
        let versions = self.inner().records.store().put(self.scope(), &RecordBatch { fence: None, puts }).await?;
        Ok(ids.into_iter().zip(versions).collect())
    }

    /// Repeats the look until one finds nothing derived from `fall`; returns whether one did.
    ///
    /// Call it when the forgotten items are gone: from then on nothing new can be derived from them.
    pub(super) async fn settle(&self, fall: &mut Fall) -> Result<bool> {
        for _ in 0..LOOKS {
            if !self.fell(fall).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns what falls with `fall`, in the order found, and how many of the records fall because they belong to the session;
    /// these stand first.
    async fn look<'f>(&self, fall: &'f Fall) -> Result<(Derived<'f>, usize)> {
        let gone = fall.items.iter().cloned().collect();
        let mut found = Derived {
            fall,
            order: Vec::new(),
            free: Vec::new(),
            gone,
            falling: HashSet::new(),
            left: BTreeMap::new(),
            has_protected: false,
        };
        if let Some(session) = &fall.session {
            self.find(&Filter::eq(Field::Session, session.name()), &mut found).await?;
        }
        let of_session = found.order.len();
        let mut sources: VecDeque<ItemId> = fall.items.iter().cloned().collect();
        let mut followed = 0;
        loop {
            sources.extend(found.order.iter().skip(followed).map(|(id, _)| ItemId::Record(*id)));
            followed = found.order.len();
            if sources.is_empty() {
                return Ok((found, of_session));
            }
            let batch = sources.drain(..sources.len().min(SOURCES)).map(|source| Scalar::Text(source.key()));
            let filter = Filter::In(Field::Source, batch.collect());
            self.find(&filter, &mut found).await?;
        }
    }

    /// Adds the records that match to `found`, reading them in batches.
    async fn find(&self, filter: &Filter, found: &mut Derived<'_>) -> Result<()> {
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

/// Returns the change that dooms a record, or takes that back.
fn marked(row: &StoredRecord, doomed: bool) -> Put {
    let record = Arc::new(Record { doomed, ..Record::clone(&row.record) });
    Put { record, expect: Expect::Version(row.version) }
}
