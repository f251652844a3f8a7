//! The tail: the newest documents of a unit, each with its own terms, not yet folded into posting lists.
//!
//! A message is put twice, the second time when its successor arrives, and the last span of a session with every
//! message: in the tail that costs one row each, where posting lists would cost a row for every term. A search reads the
//! tail whole, so it is kept short.

use std::collections::HashSet;

use crate::time::Timestamp;

use super::Shape;

/// A document of the tail.
#[derive(Clone, Debug)]
pub struct TailDocument {
    /// Its item's number.
    pub item: i64,
    /// The order of puts.
    pub stamp: i64,
    /// Its length.
    pub length: u32,
    /// When it was said or made.
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

/// What is known of all documents of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many there are.
    pub documents: i64,
    /// The sum of their lengths.
    pub length: i64,
    /// Bytes of terms in the tail.
    pub tail_bytes: i64,
}

/// A tail that grew too long.
#[derive(Debug)]
pub struct Cut {
    /// What is folded, oldest first.
    pub old: Vec<TailDocument>,
    /// What stays and is not stored yet.
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

    /// Counts documents that are put into the tail, and returns whether it stays short enough.
    pub fn add(&mut self, new: &[TailDocument], shape: &Shape) -> bool {
        for document in new {
            self.documents += 1;
            self.length += i64::from(document.length);
            self.tail_bytes += document.bytes();
        }
        self.tail_bytes <= shape.tail
    }

    /// Counts a document out that was in a segment.
    pub fn remove(&mut self, length: i64) {
        self.documents -= 1;
        self.length -= length;
    }

    /// Counts a document out that was in the tail, where its terms took so many bytes.
    pub fn remove_from_tail(&mut self, length: i64, bytes: i64) {
        self.remove(length);
        self.tail_bytes -= bytes;
    }

    /// Cuts a tail that is too long: its `stored` documents together with the `new` ones, which are counted already.
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

/// Returns how many documents at the end of a tail take no more than `kept` bytes.
fn newest(documents: &[TailDocument], kept: i64) -> usize {
    let sums = documents.iter().rev().scan(0, |sum, document| {
        *sum += document.bytes();
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= kept).count()
}
