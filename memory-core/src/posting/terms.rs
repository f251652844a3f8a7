//! Encoding the terms of an entry.

use crate::error::Error;
use crate::store::text::{Rejected, TextEntry};

use super::{Counts, encode_terms};

/// Returns the terms of an entry, own and neighbours', as [`encode_terms`] writes them.
///
/// # Errors
/// The refusal of an entry with an invalid neighbours' count.
pub fn entry_terms(entry: &TextEntry) -> Result<Vec<u8>, Rejected> {
    let own = entry.own.iter().map(|(term, count)| (term.as_str(), Counts { own: *count, near: 0.0 }));
    let near = entry.near.iter().map(|(term, count)| (term.as_str(), Counts { own: 0, near: *count }));
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
        return Err(Rejected { item: entry.item.clone(), error });
    }
    terms.retain(|(_, counts)| counts.own > 0 || counts.near > 0.0);
    Ok(encode_terms(terms.into_iter()))
}
