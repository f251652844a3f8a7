//! Putting: finds which records change, and the version of each.

use std::collections::{HashMap, HashSet};

use super::{KnownRecord, Row, Stored};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::RecordId;
use crate::store::chat::Fence;
use crate::store::records::{Expect, Put, RecordBatch};

/// A batch, encoded before the transaction.
#[derive(Debug)]
pub struct Batch<F> {
    fence: Option<Fence>,
    /// The records.
    pub records: Vec<Row<F>>,
    expected: Vec<Expect>,
}

/// The plan of a put.
#[derive(Debug)]
pub struct Planned<'a, F> {
    /// The version of each record of the batch afterwards.
    pub versions: Vec<u64>,
    /// The records that change.
    pub changed: Vec<Stored<'a, F>>,
}

impl<F> Batch<F> {
    /// Encodes the records.
    ///
    /// # Errors
    /// As [`Row::encode`].
    pub fn encode(batch: &RecordBatch, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let RecordBatch { fence, puts } = batch;
        let records =
            puts.iter().map(|Put { record, expect: _ }| Row::encode(record, &facets)).collect::<Result<_>>()?;
        let expected = puts.iter().map(|Put { record: _, expect }| *expect).collect();
        Ok(Self { fence: *fence, records, expected })
    }

    /// Returns `Ok` if the batch can be put in the epoch of `now`, whatever is stored.
    ///
    /// # Errors
    /// `Fenced` if it was made in another epoch, `Invalid` if it puts a record twice.
    pub fn check(&self, now: Fence) -> Result<()> {
        if self.fence.is_some_and(|seen| seen.epoch != now.epoch) {
            return Err(Error::Fenced);
        }
        let mut seen = HashSet::with_capacity(self.records.len());
        if !self.records.iter().all(|record| seen.insert(record.id)) {
            return Err(Error::invalid("a batch puts a record once"));
        }
        Ok(())
    }

    /// Returns the plan of the batch, given the stored records `known`.
    ///
    /// # Errors
    /// As [`crate::store::records::RecordStore::put`].
    pub fn plan(&self, known: &HashMap<RecordId, KnownRecord>, now: Fence) -> Result<Planned<'_, F>> {
        let is_outrun = self.fence.is_some_and(|seen| seen != now);
        let mut plan = Planned { versions: Vec::with_capacity(self.records.len()), changed: Vec::new() };
        for (record, expect) in self.records.iter().zip(&self.expected) {
            let last = known.get(&record.id).map_or(0, |there| there.version);
            let digest = known.get(&record.id).and_then(|there| there.digest.as_ref());
            if digest == Some(&record.digest) {
                plan.versions.push(last.unsigned_abs());
                continue;
            }
            check(record.id, *expect, digest.map(|_| last.unsigned_abs()), is_outrun)?;
            let version = last.saturating_add(1);
            plan.versions.push(version.unsigned_abs());
            plan.changed.push(Stored { record, version, accessed: None });
        }
        Ok(plan)
    }
}

/// Returns `Ok` if other content may replace the version `there`, as `expect` says. Nothing may change if a deletion has come
/// between (`is_outrun`).
///
/// # Errors
/// `Conflict`, or `IdConflict` if the record was expected to be absent.
pub(crate) fn check(id: RecordId, expect: Expect, there: Option<u64>, is_outrun: bool) -> Result<()> {
    match (expect, there) {
        _ if is_outrun => Err(Error::Conflict),
        (Expect::Anything, _) | (Expect::Absent, None) => Ok(()),
        (Expect::Absent, Some(_)) => Err(Error::IdConflict { id: id.to_string() }),
        (Expect::Version(version), Some(there)) if version == there => Ok(()),
        (Expect::Version(_), _) => Err(Error::Conflict),
    }
}
