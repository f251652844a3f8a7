//! The id under which a statement is stored: the one derived from its content or, if the record there is retired, its next link.
//!
//! The links of a statement are numbered, and their ids are derived from the numbers. So a few calls find the newest of any
//! number of links, and if many tasks add a link at once, only one succeeds.

use std::collections::HashMap;

use crate::engine::handle::Scoped;
use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::novelty::{fingerprint, fingerprint_before};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// The first probe asks for the links numbered 1, 2, 4, and so on: so many powers of two.
const LARGEST: u32 = 40;

/// How many links each further probe asks for.
const PROBES: u64 = 63;

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
        let mut found = self.stored(&[&[identity], before.as_slice()].concat()).await?;
        // Another text may have been put there since.
        let says_it = |stored: &StoredRecord| self::identity(inner, &stored.record) == identity;
        let is_current = |stored: &StoredRecord| !gives_way(stored) && !self.is_retired(stored) && says_it(stored);
        match found.iter().position(|stored| stored.record.id == identity) {
            Some(first) if is_current(found.get(first).ok_or(Error::Conflict)?) => {
                return Ok(self.place_of(found.swap_remove(first)));
            }
            Some(_) => {}
            None => {
                let known = found.pop().filter(|stored| is_current(stored) && !self.is_over(stored));
                return Ok(known.map_or(Target::Free(identity), Target::Known));
            }
        }
        let (number, newest) = self.newest_link(identity).await?;
        Ok(match newest {
            Some(newest) if is_current(&newest) => self.place_of(newest),
            _ => Target::Free(link(identity, number + 1)),
        })
    }

    /// Returns the number of the newest link and its record; 0 and no record if there is no link.
    pub(crate) async fn newest_link(&self, identity: RecordId) -> Result<(u64, Option<StoredRecord>)> {
        let (mut last, mut newest, mut free) = (0, None, 1 << LARGEST);
        let mut probes: Vec<u64> = (0..LARGEST).map(|power| 1 << power).collect();
        loop {
            let ids: Vec<RecordId> = probes.iter().map(|number| link(identity, *number)).collect();
            let found = self.stored(&ids).await?;
            let mut found: HashMap<RecordId, StoredRecord> =
                found.into_iter().map(|stored| (stored.record.id, stored)).collect();
            for (number, id) in probes.iter().zip(&ids).rev() {
                if let Some(stored) = found.remove(id) {
                    (last, newest) = (*number, Some(stored));
                    break;
                }
                free = *number;
            }
            if free - last <= 1 {
                return Ok((last, newest));
            }
            let step = (free - last).div_ceil(PROBES + 1);
            probes = (1..=PROBES).map(|place| last + place * step).take_while(|number| *number < free).collect();
        }
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
