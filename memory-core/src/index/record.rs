//! Index entries of records.

use crate::analysis::Analysis;
use crate::fields::Fields;
use crate::id::{ItemId, Version};
use crate::record::{Record, StoredRecord};
use crate::scope::Epoch;
use crate::store::text::{Term, TextEntry};

/// Returns the terms of a record: those of its text.
pub(crate) fn record_terms(analysis: &Analysis, record: &Record) -> Vec<(Term, u32)> {
    analysis.document(&record.text)
}

/// Returns the entry of a record: its terms, at its version.
pub fn record_entry(analysis: &Analysis, stored: &StoredRecord, epoch: Epoch) -> TextEntry {
    let StoredRecord { record, version, .. } = stored;
    TextEntry {
        item: ItemId::Record(record.id),
        version: Version { epoch, revision: *version },
        own: record_terms(analysis, record),
        near: Vec::new(),
        fields: Fields::of_record(record),
    }
}
