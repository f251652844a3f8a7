//! The id under which a statement is stored: the one derived from its content or, if the record there is retired, that of its next
//! link.
//!
//! The links of a statement are numbered, and their ids are derived from the numbers. If many tasks add a link at once, only one
//! succeeds. Any link may be missing, because it was forgotten or retention took it. So each gets the lowest number that is free, and
//! where the first one is missing or retired, one call asks for all low numbers. A few more find the newest of any number of links.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::engine::handle::Scoped;
use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::novelty::{fingerprint, fingerprint_before};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// All links below this number are asked for where the first one is missing or retired. Only a statement that keeps more retired records
/// has others.
const LOW: u64 = 32;

/// Of the links from there to number 64, every eighth is asked for. Their records show that there are more.
const APART: usize = 8;

/// Numbers below this are given again once their records are gone.
const NEAR: u64 = 64;

/// If there are more, the links numbered 128, 256, and so on, are asked for, up to this power of two.
const LARGEST: u32 = 40;

/// How many links each further probe asks for.
const PROBES: u64 = 63;

/// How many ids are asked for in one call.
const TOGETHER: usize = 512;

/// How many such calls are made at once.
const AT_ONCE: usize = 4;

/// Where a telling is to be stored.
#[derive(Debug)]
pub(crate) enum Target {
    /// In a new record under this id, which is free.
    Free(RecordId),
    /// In this record, which says the same.
    Known(StoredRecord),
    /// In place of this record, which said the same and has expired. None of its tellings are kept.
    Expired(StoredRecord),
}

/// The records of a statement.
#[derive(Debug)]
pub(crate) struct Links {
    /// Those of its links that were found, by number.
    found: BTreeMap<u64, StoredRecord>,
}

impl Links {
    /// Returns the number of the next link: the lowest that is free, or else the one above all others.
    fn next(&self) -> u64 {
        let free = (0..NEAR).find(|number| !self.found.contains_key(number));
        free.unwrap_or_else(|| self.last().map_or(0, |last| last + 1))
    }

    fn last(&self) -> Option<u64> {
        self.found.keys().next_back().copied()
    }

    /// Returns the newest of the records that followed the first one, and the first.
    pub(crate) fn ends(mut self) -> (Option<StoredRecord>, Option<StoredRecord>) {
        let first = self.found.remove(&0);
        (self.found.into_values().max_by_key(|stored| stored.record.created_at()), first)
    }
}

/// Returns the id that is derived from a record's content and agent.
pub(crate) fn identity(inner: &Inner, record: &Record) -> RecordId {
    let said = fingerprint(&inner.analysis, &record.kind, &record.text);
    match &record.agent {
        Some(agent) => RecordId::of_content(&[said.0.as_bytes().as_slice(), agent.as_bytes()].concat()),
        None => said,
    }
}

fn link(identity: RecordId, number: u64) -> RecordId {
    match number {
        0 => identity,
        _ => RecordId::of_content(&[identity.0.as_bytes().as_slice(), &number.to_le_bytes()].concat()),
    }
}

/// Returns the numbers of the links that are asked for to find a statement's records. If it has any, one of these is among them, unless
/// it had more than 32 and the first 32 are gone.
fn signs() -> impl Iterator<Item = u64> {
    (0..LOW).chain((LOW..=NEAR).step_by(APART))
}

/// Returns ids of which one is taken if a statement has records, but for the first and the one that an earlier version made.
pub(super) fn later_signs(statement: RecordId) -> impl Iterator<Item = RecordId> {
    signs().skip(1).map(move |number| link(statement, number))
}

/// Returns the id that earlier versions derived: their fingerprints ignored the order of words. None of their records has an agent.
pub(super) fn identity_before(inner: &Inner, record: &Record) -> Option<RecordId> {
    record.agent.is_none().then(|| fingerprint_before(&inner.analysis, &record.kind, &record.text))
}

impl Scoped {
    /// Returns where a record with an id of the caller's is to be stored.
    ///
    /// # Errors
    /// `IdConflict` if the id holds other content.
    pub(crate) async fn named(&self, told: &Record) -> Result<Target> {
        let Some(stored) = self.stored(&[told.id]).await?.pop() else { return Ok(Target::Free(told.id)) };
        let Record { kind, text, agent, .. } = &*stored.record;
        if (kind, text, agent) != (&told.kind, &told.text, &told.agent) {
            return Err(Error::IdConflict { id: told.id.to_string() });
        }
        Ok(if self.is_over(&stored) { Target::Expired(stored) } else { Target::Known(stored) })
    }

    /// Returns where `told`, whose id is its identity, is to be stored.
    pub(crate) async fn place(&self, told: &Record) -> Result<Target> {
        self.place_unless(told, |_| false).await
    }

    /// Returns where `told` is to be stored if it supersedes `old`.
    pub(crate) async fn place_beside(&self, told: &Record, old: RecordId) -> Result<Target> {
        self.place_unless(told, |stored| stored.record.id == old).await
    }

    async fn place_unless(&self, told: &Record, gives_way: impl Fn(&StoredRecord) -> bool) -> Result<Target> {
        let inner = self.inner();
        let identity = told.id;
        let before = identity_before(inner, told);
        let mut stored = self.stored(&[&[identity], before.as_slice()].concat()).await?;
        let first = stored.iter().position(|stored| stored.record.id == identity);
        let first = first.map(|place| stored.swap_remove(place));
        let before = stored.pop();
        // Another text may have been put there since.
        let says_it = |stored: &StoredRecord| self::identity(inner, &stored.record) == identity;
        // What was over when it was told is the same fact, however often it is told.
        let is_of_other_times = |stored: &StoredRecord| {
            self.is_past(stored.record.validity().1) && stored.record.validity() != told.validity()
        };
        let is_current = |stored: &StoredRecord| {
            !gives_way(stored) && !self.is_closed(stored) && !is_of_other_times(stored) && says_it(stored)
        };
        let is_now = |stored: &StoredRecord| is_current(stored) && !self.is_over(stored);
        // What an earlier version made is older than all links.
        let known = if first.is_some() { &first } else { &before };
        if let Some(stored) = known.as_ref().filter(|stored| is_now(stored)) {
            return Ok(Target::Known(stored.clone()));
        }
        let links = self.links(identity, first).await?;
        let free = link(identity, links.next());
        let current = links.found.into_values().filter(is_current).min_by_key(|stored| self.is_over(stored));
        if let Some(stored) = current {
            return Ok(self.place_of(stored));
        }
        Ok(before.filter(is_now).map_or(Target::Free(free), Target::Known))
    }

    /// Returns the links of those of the statements that have any.
    pub(crate) async fn links_of(&self, statements: &[RecordId]) -> Result<Vec<Links>> {
        let asked = statements.iter().flat_map(|statement| signs().map(move |number| link(*statement, number)));
        let stored = self.stored_of(&asked.collect::<Vec<RecordId>>()).await?;
        let mut stored: HashMap<RecordId, StoredRecord> =
            stored.into_iter().map(|stored| (stored.record.id, stored)).collect();
        let mut begun = Vec::new();
        for statement in statements {
            let found = signs().filter_map(|number| Some((number, stored.remove(&link(*statement, number))?)));
            let links = Links { found: found.collect() };
            if !links.found.is_empty() {
                begun.push((*statement, links));
            }
        }
        try_join_all(begun.into_iter().map(|(statement, links)| self.and_more(statement, links))).await
    }

    /// Returns which of these ids are taken.
    pub(super) async fn taken(&self, ids: &[RecordId]) -> Result<BTreeSet<RecordId>> {
        Ok(self.stored_of(ids).await?.into_iter().map(|stored| stored.record.id).collect())
    }

    /// Returns the records with these ids, however many.
    async fn stored_of(&self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let calls: Vec<_> = ids.chunks(TOGETHER).map(|ids| self.stored(ids)).collect();
        let found: Vec<Vec<StoredRecord>> = stream::iter(calls).buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the links of a statement whose first one is `first`. One call, unless there are many.
    async fn links(&self, statement: RecordId, first: Option<StoredRecord>) -> Result<Links> {
        let mut found = self.probe(statement, &signs().skip(1).collect::<Vec<u64>>()).await?;
        found.extend(first.map(|stored| (0, stored)));
        self.and_more(statement, Links { found }).await
    }

    /// Returns the links of a statement, of which its signs were found: if these show that there are more, all that are there below 64
    /// and the newest of the later ones.
    async fn and_more(&self, statement: RecordId, mut links: Links) -> Result<Links> {
        if links.last().is_none_or(|last| last < LOW) {
            return Ok(links);
        }
        let others = (LOW..NEAR).chain((NEAR.ilog2() + 1..LARGEST).map(|power| 1 << power));
        let others: Vec<u64> = others.filter(|number| !links.found.contains_key(number)).collect();
        links.found.extend(self.probe(statement, &others).await?);
        let mut last = links.last().unwrap_or_default();
        // A number above the last that no link has. The near ones are known, of the others the powers of two.
        let mut free = if last + 1 < NEAR { last + 1 } else { (last + 1).next_power_of_two() };
        while free - last > 1 {
            let step = (free - last).div_ceil(PROBES + 1);
            let between: Vec<u64> =
                (1..=PROBES).map(|place| last + place * step).take_while(|number| *number < free).collect();
            let more = self.probe(statement, &between).await?;
            last = more.keys().next_back().copied().unwrap_or(last);
            free = between.into_iter().find(|number| *number > last).unwrap_or(free);
            links.found.extend(more);
        }
        Ok(links)
    }

    /// Returns those that are there of the links with these numbers.
    async fn probe(&self, statement: RecordId, numbers: &[u64]) -> Result<BTreeMap<u64, StoredRecord>> {
        let ids: Vec<RecordId> = numbers.iter().map(|number| link(statement, *number)).collect();
        let stored = self.stored(&ids).await?;
        let mut stored: HashMap<RecordId, StoredRecord> =
            stored.into_iter().map(|stored| (stored.record.id, stored)).collect();
        Ok(numbers.iter().zip(&ids).filter_map(|(number, id)| Some((*number, stored.remove(id)?))).collect())
    }

    fn place_of(&self, stored: StoredRecord) -> Target {
        if self.is_over(&stored) { Target::Expired(stored) } else { Target::Known(stored) }
    }

    /// Returns whether the record has expired and may be replaced: it is neither superseded nor on hold.
    pub(crate) fn is_over(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        record.superseded.is_none() && !record.hold && self.is_past(record.expires_at())
    }

    /// Returns whether the record is no longer current: the same statement becomes a new record, unless the truth of both was over at
    /// the same time.
    pub(crate) fn is_retired(&self, stored: &StoredRecord) -> bool {
        self.is_closed(stored) || self.is_past(stored.record.validity().1)
    }

    /// Returns whether the record takes no more tellings: it is superseded, or has expired and is on hold.
    fn is_closed(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        record.superseded.is_some() || record.hold && self.is_past(record.expires_at())
    }

    fn is_past(&self, at: Option<Timestamp>) -> bool {
        at.is_some_and(|at| at <= self.inner().clock.now())
    }
}
