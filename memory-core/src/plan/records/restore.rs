//! Restoring exported records: finds those that are not stored yet, or are newer than the stored ones.

use std::collections::{BTreeMap, HashMap};

use super::{KnownRecord, Row, Stored};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::RecordId;
use crate::number::stored;
use crate::record::StoredRecord;
use crate::store::records::Replace;

/// Records to be restored, encoded before the transaction.
#[derive(Debug)]
pub struct Restoration<F> {
    /// The records.
    pub records: Vec<Row<F>>,
    beside: Vec<Beside>,
}

/// The version and access statistics of a stored record.
#[derive(Clone, Copy, Debug)]
struct Beside {
    version: i64,
    accessed_at: Option<i64>,
    access_count: i64,
}

impl<F> Restoration<F> {
    /// Encodes records.
    ///
    /// # Errors
    /// As [`Row::encode`]; `Invalid` for numbers that are too large.
    pub fn encode(rows: &[StoredRecord], facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let records = rows.iter().map(|row| Row::encode(&row.record, &facets)).collect::<Result<_>>()?;
        let beside = rows.iter().map(|row| {
            row.check_numbers()?;
            let StoredRecord { record: _, version, accessed_at, access_count } = row;
            let accessed_at = accessed_at.map(|at| at.0);
            Ok(Beside { version: stored(*version)?, accessed_at, access_count: stored(*access_count)? })
        });
        Ok(Self { records, beside: beside.collect::<Result<_>>()? })
    }

    /// Returns the records to store, given the stored ones `known`, in the order of their ids.
    ///
    /// # Errors
    /// `Conflict` for a record that may replace none and is not the same.
    pub fn plan(&self, known: &HashMap<RecordId, KnownRecord>, replace: Replace) -> Result<Vec<Stored<'_, F>>> {
        let mut plan: BTreeMap<RecordId, (&Row<F>, Beside)> = BTreeMap::new();
        for (record, beside) in self.records.iter().zip(&self.beside) {
            let (there, planned) = (known.get(&record.id), plan.get(&record.id));
            let last = planned.map(|(_, beside)| beside.version).or_else(|| there.map(|there| there.version));
            let may_replace = replace == Replace::Older || last.is_none();
            if may_replace && beside.version > last.unwrap_or(0) {
                plan.insert(record.id, (record, *beside));
                continue;
            }
            let stands = planned.map(|(record, _)| &record.digest);
            if stands.or_else(|| there?.digest.as_ref()) != Some(&record.digest) {
                return Err(Error::Conflict);
            }
        }
        let rows = plan.into_values().map(|(record, beside)| {
            let Beside { version, accessed_at, access_count } = beside;
            Stored { record, version, accessed: Some((accessed_at, access_count)) }
        });
        Ok(rows.collect())
    }
}
