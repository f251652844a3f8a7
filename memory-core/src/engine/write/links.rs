//! The id under which a statement is stored: the one derived from its content or, if the record there is retired, that of its next
//! link.
//!
//! The links of a statement are numbered, and their ids are derived from the numbers. If many tasks add a link at once, only one
//! succeeds. Any link may be missing, because it was forgotten or retention took it. So one call asks for all of the first numbers,
//! and a few more find the newest of any number of links.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::try_join_all;

use crate::engine::handle::Scoped;
use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::novelty::{fingerprint, fingerprint_before};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// So many links are asked for whether or not those between are there. Numbers below this are given again once their records are
/// gone, so only a statement that keeps more retired records has others.
const NEAR: u64 = 64;

/// The first probe asks for the later links numbered 64, 128, and so on, up to this power of two.
const LARGEST: u32 = 40;

/// How many links each further probe asks for.
const PROBES: u64 = 63;

/// The links by which it shows whether a statement has records, where many are asked for at once: the first ones, and of the others
/// so many that no eight in a row are missed.
const SIGNS: [u64; 11] = [0, 1, 2, 3, 8, 16, 24, 32, 40, 48, 56];

/// How many ids are asked for together.
const TOGETHER: usize = 256;

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
    /// The one that an earlier version made of it.
    before: Option<StoredRecord>,
}

impl Links {
    /// Returns the number of the next link: above all others, or else one of the first that is free.
    fn next(&self) -> u64 {
        let next = self.found.keys().next_back().map_or(0, |last| last + 1);
        let free = (0..NEAR).find(|number| !self.found.contains_key(number));
        if next < NEAR { next } else { free.unwrap_or(next) }
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

/// Returns ids of which one is taken if the statement has records, but for those that an earlier version made.
pub(super) fn signs(statement: RecordId) -> impl Iterator<Item = RecordId> {
    SIGNS.into_iter().map(move |number| link(statement, number))
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
        let links = self.links(identity, identity_before(inner, told)).await?;
        let free = link(identity, links.next());
        // Another text may have been put there since.
        let says_it = |stored: &StoredRecord| self::identity(inner, &stored.record) == identity;
        let is_current = |stored: &StoredRecord| !gives_way(stored) && !self.is_retired(stored) && says_it(stored);
        let Links { found, before } = links;
        let current = found.into_values().filter(is_current).min_by_key(|stored| self.is_over(stored));
        if let Some(stored) = current {
            return Ok(self.place_of(stored));
        }
        let known = before.filter(|stored| is_current(stored) && !self.is_over(stored));
        Ok(known.map_or(Target::Free(free), Target::Known))
    }

    /// Returns the links of those of the statements that have any.
    pub(crate) async fn links_of(&self, statements: &[RecordId]) -> Result<Vec<Links>> {
        let asked: Vec<RecordId> = statements.iter().flat_map(|statement| signs(*statement)).collect();
        let taken = self.taken(&asked).await?;
        let begun = statements.iter().filter(|statement| signs(**statement).any(|id| taken.contains(&id)));
        try_join_all(begun.map(|statement| self.links(*statement, None))).await
    }

    /// Returns which of these ids are taken.
    pub(super) async fn taken(&self, ids: &[RecordId]) -> Result<BTreeSet<RecordId>> {
        let mut taken = BTreeSet::new();
        for ids in ids.chunks(TOGETHER) {
            taken.extend(self.stored(ids).await?.into_iter().map(|stored| stored.record.id));
        }
        Ok(taken)
    }

    /// Returns the links of a statement, all that are there of the first ones and the newest of the later ones, and its record under
    /// the id `before`. One call, unless there are later ones.
    async fn links(&self, statement: RecordId, before: Option<RecordId>) -> Result<Links> {
        let first: Vec<u64> = (0..NEAR).chain((NEAR.ilog2()..LARGEST).map(|power| 1 << power)).collect();
        let Links { mut found, before } = self.probe(statement, &first, before).await?;
        let newest = |found: &BTreeMap<u64, StoredRecord>| found.keys().next_back().copied();
        let mut last = newest(&found).unwrap_or_default();
        // A number above the last that no link has. The near ones are known, of the others the powers of two.
        let mut free = if last + 1 < NEAR { last + 1 } else { (last + 1).next_power_of_two() };
        while free - last > 1 {
            let step = (free - last).div_ceil(PROBES + 1);
            let between: Vec<u64> =
                (1..=PROBES).map(|place| last + place * step).take_while(|number| *number < free).collect();
            let more = self.probe(statement, &between, None).await?.found;
            last = newest(&more).unwrap_or(last);
            free = between.into_iter().find(|number| *number > last).unwrap_or(free);
            found.extend(more);
        }
        Ok(Links { found, before })
    }

    /// Returns those that are there of the links with these numbers, and of the record under the id `before`.
    async fn probe(&self, statement: RecordId, numbers: &[u64], before: Option<RecordId>) -> Result<Links> {
        let ids: Vec<RecordId> = numbers.iter().map(|number| link(statement, *number)).chain(before).collect();
        let stored = self.stored(&ids).await?;
        let mut stored: HashMap<RecordId, StoredRecord> =
            stored.into_iter().map(|stored| (stored.record.id, stored)).collect();
        let found = numbers.iter().zip(&ids).filter_map(|(number, id)| Some((*number, stored.remove(id)?))).collect();
        Ok(Links { found, before: before.and_then(|id| stored.remove(&id)) })
    }

    fn place_of(&self, stored: StoredRecord) -> Target {
        if self.is_over(&stored) { Target::Expired(stored) } else { Target::Known(stored) }
    }

    /// Returns whether the record has expired and may be replaced: it is neither superseded nor on hold.
    pub(crate) fn is_over(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        record.superseded.is_none() && !record.hold && self.is_past(record.expires_at())
    }

    /// Returns whether the record takes no more tellings, so that the same statement becomes a new record.
    pub(crate) fn is_retired(&self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        let is_held = record.hold && self.is_past(record.expires_at());
        record.superseded.is_some() || is_held || self.is_past(record.validity().1)
    }

    fn is_past(&self, at: Option<Timestamp>) -> bool {
        at.is_some_and(|at| at <= self.inner().clock.now())
    }
}
