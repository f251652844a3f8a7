//! Index entries of records.

use crate::analysis::Analysis;
use crate::fields::Fields;
use crate::id::{ItemId, Version};
use crate::record::StoredRecord;
use crate::scope::Epoch;
use crate::store::text::TextEntry;

/// Returns the entry of a record: the terms of its text, at its version.
pub fn record_entry(analysis: &Analysis, stored: &StoredRecord, epoch: Epoch) -> TextEntry {
    let StoredRecord { record, version, .. } = stored;
    TextEntry {
        item: ItemId::Record(record.id),
        version: Version { epoch, revision: *version },
        own: analysis.document(&record.text),
        near: Vec::new(),
        fields: Fields::of_record(record),
    }
}
