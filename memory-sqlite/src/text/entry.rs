//! From core's entries to what is stored of them.

use std::collections::BTreeMap;

use memory_core::Error;
use memory_core::text::{Rejected, TextEntry};

use crate::index::Incoming;
use crate::index::items::digest;
use crate::posting::{Counts, encode_terms};

/// What is searched of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) length: u32,
    /// The terms with their counts, as [`encode_terms`] writes them.
    pub(super) bytes: Vec<u8>,
}

/// Returns the entry in the form in which it is stored.
///
/// # Errors
/// The refusal, for a neighbours' count that is no count.
pub(super) fn prepare(entry: &TextEntry) -> Result<Incoming<Terms>, Rejected> {
    let TextEntry { item, version, own, near, fields } = entry;
    let mut terms: BTreeMap<&str, Counts> = BTreeMap::new();
    for (term, count) in own {
        let counts = terms.entry(term.as_str()).or_default();
        counts.own = counts.own.saturating_add(*count);
    }
    for (term, count) in near {
        terms.entry(term.as_str()).or_default().near += *count;
    }
    if near.iter().any(|(_, count)| *count < 0.0) || terms.values().any(|counts| !counts.near.is_finite()) {
        let error = Error::invalid("a neighbours' count must be a number of 0 or more");
        return Err(Rejected { item: item.clone(), error });
    }
    terms.retain(|_, counts| counts.own > 0 || counts.near > 0.0);
    let (length, bytes) = (entry.length(), encode_terms(terms.into_iter()));
    // The time is in the digest because it stands beside the terms, for the order of ties.
    let digest = digest(&[&length.to_le_bytes(), &fields.at.0.to_le_bytes(), &bytes]);
    let content = Terms { length, bytes };
    Ok(Incoming { item: item.clone(), version: *version, fields: fields.clone(), digest, content })
}
