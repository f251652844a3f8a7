//! Posting lists for text stores that keep them in tables: their bytes, and the evidence read from them.
//!
//! A store keeps an owner's newest documents with their terms (the tail), and folds older ones into segments: a list of
//! documents, and a posting list for each term. Reading checks the bytes; those that no writer made are [`Damaged`].
//!
//! Numbers are varints, 7 bits a byte, low bits first. Ascending numbers are stored as differences. Neighbours' counts are
//! little-endian `f32`, left out if 0.

mod bits;
mod bucket;
mod bytes;
mod candidate;
mod evidence;
mod packed;
mod segment;
mod shape;
mod shares;
mod tail;
mod terms;
#[cfg(test)]
mod tests;

use crate::time::Timestamp;

use bytes::{Reader, put_number, unzigzag, zigzag};

pub use bucket::{pack_lists, visit_lists};
pub use bytes::Damaged;
pub use candidate::{Candidate, take_best};
pub use evidence::{Evidence, Query};
pub use packed::{Packed, pack_postings, unpack_postings, visit_packed};
pub use segment::{List, Lists, Placed, Segment};
pub use shape::Shape;
pub use shares::{Lent, Shares, StoredShares, encode_shares};
pub use tail::{Cut, TailDocument, Totals};
pub use terms::entry_terms;

/// How often a term occurs in a document: in its own text, and in its neighbours', damped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// In its own text.
    pub own: u32,
    /// In its neighbours' texts.
    pub near: f32,
}

/// A document in a term's posting list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posting {
    /// The document's slot in its segment.
    pub slot: u32,
    /// How often it holds the term.
    pub counts: Counts,
}

/// A document of a segment: what scoring and the order of ties need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its slot in the segment; 0 in a tail, which has no slots.
    pub slot: u32,
    /// The number of its item.
    pub item: i64,
    /// Its length.
    pub length: u32,
    /// When the message was said, or the record made.
    pub at: Timestamp,
}

/// Returns the bytes of a posting list in ascending order of slots.
pub fn encode_postings(postings: &[Posting]) -> Vec<u8> {
    let mut out = Vec::with_capacity(postings.len() * 4);
    let mut next = 0;
    for Posting { slot, counts } in postings {
        put_counts(&mut out, u64::from(slot.wrapping_sub(next)), counts);
        next = slot.wrapping_add(1);
    }
    out
}

/// Reads a posting list and gives each posting to `visit`, in ascending order of slots.
///
/// # Errors
/// `Damaged` for invalid bytes. Discard what was visited before.
pub fn visit_postings(bytes: &[u8], mut visit: impl FnMut(Posting)) -> Result<(), Damaged> {
    let mut reader = Reader::new(bytes);
    let mut next = 0_u32;
    while !reader.is_empty() {
        let (gap, counts) = take_counts(&mut reader)?;
        let slot = u32::try_from(gap).ok().and_then(|gap| next.checked_add(gap)).ok_or(Damaged)?;
        next = slot.checked_add(1).ok_or(Damaged)?;
        visit(Posting { slot, counts });
    }
    Ok(())
}

/// Reads a posting list.
///
/// # Errors
/// `Damaged` for invalid bytes.
pub fn decode_postings(bytes: &[u8]) -> Result<Vec<Posting>, Damaged> {
    let mut postings = Vec::new();
    visit_postings(bytes, |posting| postings.push(posting))?;
    Ok(postings)
}

/// Returns the bytes of a segment's documents in ascending order of slots.
pub fn encode_documents(documents: &[Document]) -> Vec<u8> {
    let mut out = Vec::with_capacity(documents.len() * 12);
    let (mut next, mut last_item, mut last_at) = (0, 0_i64, 0_i64);
    for Document { slot, item, length, at } in documents {
        put_number(&mut out, u64::from(slot.wrapping_sub(next)));
        put_number(&mut out, zigzag(item.wrapping_sub(last_item)));
        put_number(&mut out, u64::from(*length));
        put_number(&mut out, zigzag(at.0.wrapping_sub(last_at)));
        (next, last_item, last_at) = (slot.wrapping_add(1), *item, at.0);
    }
    out
}

/// Reads a segment's documents.
///
/// # Errors
/// `Damaged` for invalid bytes.
pub fn decode_documents(bytes: &[u8]) -> Result<Vec<Document>, Damaged> {
    let mut reader = Reader::new(bytes);
    let mut documents = Vec::with_capacity(bytes.len() / 6);
    let (mut next, mut item, mut at) = (0_u32, 0_i64, 0_i64);
    while !reader.is_empty() {
        let slot = next.checked_add(reader.small()?).ok_or(Damaged)?;
        item = item.wrapping_add(unzigzag(reader.number()?));
        let length = reader.small()?;
        at = at.wrapping_add(unzigzag(reader.number()?));
        next = slot.checked_add(1).ok_or(Damaged)?;
        documents.push(Document { slot, item, length, at: Timestamp(at) });
    }
    Ok(documents)
}

/// Returns the bytes of one document's terms in ascending order.
pub fn encode_terms<'t>(terms: impl Iterator<Item = (&'t str, Counts)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (term, counts) in terms {
        put_counts(&mut out, term.len() as u64, &counts);
        out.extend_from_slice(term.as_bytes());
    }
    out
}

/// Reads the terms of one document and gives the bytes of each to `visit`, in ascending order.
///
/// # Errors
/// `Damaged` for invalid bytes, or if `visit` returns it. Discard what was visited before.
pub fn visit_terms<'b>(
    bytes: &'b [u8],
    mut visit: impl FnMut(&'b [u8], Counts) -> Result<(), Damaged>,
) -> Result<(), Damaged> {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let (length, counts) = take_counts(&mut reader)?;
        visit(reader.bytes(usize::try_from(length).map_err(|_| Damaged)?)?, counts)?;
    }
    Ok(())
}

/// Writes `number`, with a low bit that tells whether a neighbours' count follows; then the own count, and perhaps the
/// neighbours'.
fn put_counts(out: &mut Vec<u8>, number: u64, counts: &Counts) {
    let has_near = counts.near != 0.0;
    put_number(out, number << 1 | u64::from(has_near));
    put_number(out, u64::from(counts.own));
    if has_near {
        out.extend_from_slice(&counts.near.to_le_bytes());
    }
}

fn take_counts(reader: &mut Reader<'_>) -> Result<(u64, Counts), Damaged> {
    let number = reader.number()?;
    let own = reader.small()?;
    if number & 1 == 0 {
        return if own > 0 { Ok((number >> 1, Counts { own, near: 0.0 })) } else { Err(Damaged) };
    }
    let near = f32::from_le_bytes(reader.array()?);
    if near > 0.0 && near.is_finite() { Ok((number >> 1, Counts { own, near })) } else { Err(Damaged) }
}
