//! The tail: the newest documents of a unit, each with its own terms, not yet folded into posting lists.
//!
//! A message is put again when a successor arrives, and the last span of a session is put with every message. In the tail a put
//! costs one row, while in posting lists it would cost a row for every term. A search reads the whole tail, so it is kept
//! short.

use std::collections::HashSet;

use crate::time::Timestamp;

use super::Shape;

/// A document of the tail.
#[derive(Clone, Debug)]
pub struct TailDocument {
    /// The number of its item.
    pub item: i64,
    /// Its place in the order of puts.
    pub stamp: i64,
    /// Its length.
    pub length: u32,
    /// When the message was said, or the record made.
    pub at: Timestamp,
    /// Its terms, as [`super::encode_terms`] writes them.
    pub terms: Vec<u8>,
}

impl TailDocument {
    /// Returns how many bytes its terms take.
    pub fn bytes(&self) -> i64 {
        self.terms.len() as i64
    }
}

/// The totals over all documents of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many documents there are.
    pub documents: i64,
    /// The sum of their lengths.
    pub length: i64,
    /// Bytes of terms in the tail.
    pub tail_bytes: i64,
}

/// A tail that grew too long, cut in two.
#[derive(Debug)]
pub struct Cut {
    /// The documents to fold, oldest first.
    pub old: Vec<TailDocument>,
    /// The documents that stay and are not stored yet.
    pub fresh: Vec<TailDocument>,
}

impl Totals {
    /// Returns how many documents there are.
    pub fn count(&self) -> u64 {
        u64::try_from(self.documents).unwrap_or(0)
    }

    /// Returns their mean length; 0 without any.
    pub fn mean_length(&self) -> f32 {
        let documents = self.count();
        if documents == 0 { 0.0 } else { (self.length as f64 / documents as f64) as f32 }
    }

    /// Adds documents that are put into the tail, and returns whether it stays short enough.
    pub fn add(&mut self, new: &[TailDocument], shape: &Shape) -> bool {
        for document in new {
            self.documents += 1;
            self.length += i64::from(document.length);
            self.tail_bytes += document.bytes();
        }
        self.tail_bytes <= shape.tail
    }

    /// Subtracts a document of a segment.
    pub fn remove(&mut self, length: i64) {
        self.documents -= 1;
        self.length -= length;
    }

    /// Subtracts a document of the tail, whose terms took this many bytes.
    pub fn remove_from_tail(&mut self, length: i64, bytes: i64) {
        self.remove(length);
        self.tail_bytes -= bytes;
    }

    /// Cuts a tail that is too long: its `stored` documents and the `new` ones, which are already counted.
    pub fn cut(&mut self, stored: Vec<TailDocument>, new: &[TailDocument], shape: &Shape) -> Cut {
        let new_items: HashSet<i64> = new.iter().map(|document| document.item).collect();
        let mut old = stored;
        old.extend_from_slice(new);
        old.sort_unstable_by_key(|document| document.stamp);
        let mut fresh = old.split_off(old.len() - newest(&old, shape.kept));
        self.tail_bytes = fresh.iter().map(TailDocument::bytes).sum();
        fresh.retain(|document| new_items.contains(&document.item));
        Cut { old, fresh }
    }
}

/// Returns how many documents at the end of a tail take at most `kept` bytes.
fn newest(documents: &[TailDocument], kept: i64) -> usize {
    let sums = documents.iter().rev().scan(0, |sum, document| {
        *sum += document.bytes();
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= kept).count()
}
