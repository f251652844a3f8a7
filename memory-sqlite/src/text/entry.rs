//! Preparing core's entries for storage.

use memory_core::posting::entry_terms;
use memory_core::store::text::{Rejected, TextEntry};

use crate::index::Incoming;
use crate::index::items::digest;

/// The searched terms of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) length: u32,
    /// The terms with their counts, as [`memory_core::posting::encode_terms`] writes them.
    pub(super) bytes: Vec<u8>,
}

/// Returns the entry in the form in which it is stored.
///
/// # Errors
/// The refusal of an entry with an invalid neighbours' count.
pub(super) fn prepare(entry: &TextEntry) -> Result<Incoming<Terms>, Rejected> {
    let TextEntry { item, version, fields, .. } = entry;
    let (length, bytes) = (entry.length(), entry_terms(entry)?);
    // The time is in the digest because it is stored with the terms, for the order of ties.
    let digest = digest(&[&length.to_le_bytes(), &fields.at.0.to_le_bytes(), &bytes]);
    let content = Terms { length, bytes };
    Ok(Incoming { item: item.clone(), version: *version, fields: fields.clone(), digest, content })
}
