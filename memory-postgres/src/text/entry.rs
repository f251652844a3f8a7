//! From core's entries to what is stored of them.

use memory_core::text::{Rejected, TextEntry};
use memory_core::{Digest, Error};

use super::posting::{Counts, encode_terms};
use crate::index::Incoming;

/// What is searched of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) length: u32,
    /// The terms with their counts, as [`encode_terms`] writes them.
    pub(super) bytes: Vec<u8>,
    /// Stands for the content: equal digests, equal content.
    pub(super) digest: Vec<u8>,
}

/// Returns the entry in the form in which it is stored.
///
/// # Errors
/// The refusal, for a neighbours' count that is no count.
pub(super) fn prepare(entry: &TextEntry) -> Result<Incoming<Terms>, Rejected> {
    let TextEntry { item, version, own, near, fields } = entry;
    let own = own.iter().map(|(term, count)| (term.as_str(), Counts { own: *count, near: 0.0 }));
    let near = near.iter().map(|(term, count)| (term.as_str(), Counts { own: 0, near: *count }));
    let mut terms: Vec<_> = own.chain(near).collect();
    let is_count = |counts: &Counts| counts.near >= 0.0 && counts.near.is_finite();
    let are_counts = terms.iter().all(|(_, counts)| is_count(counts));
    terms.sort_by_key(|(term, _)| *term);
    terms.dedup_by(|(next, more), (kept, counts)| {
        let is_same = next == kept;
        if is_same {
            counts.own = counts.own.saturating_add(more.own);
            counts.near += more.near;
        }
        is_same
    });
    if !are_counts || !terms.iter().all(|(_, counts)| is_count(counts)) {
        let error = Error::invalid("a neighbours' count must be a number of 0 or more");
        return Err(Rejected { item: item.clone(), error });
    }
    terms.retain(|(_, counts)| counts.own > 0 || counts.near > 0.0);
    let (length, bytes) = (entry.length(), encode_terms(terms.into_iter()));
    // The time is in the digest because it stands beside the terms, for the order of ties.
    let digest = Digest::of(&[&length.to_le_bytes(), &fields.at.0.to_le_bytes(), &bytes]);
    let digest = digest.0.iter().copied().take(16).collect();
    let content = Terms { length, bytes, digest };
    Ok(Incoming { item: item.clone(), version: *version, fields: fields.clone(), content })
}
