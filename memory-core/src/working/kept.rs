//! A note as the tier holds it: its content, hashes of its terms, its vectors, and how many bytes that takes.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::fields::Fields;
use crate::id::ItemId;
use crate::record::{Record, StoredRecord};
use crate::scope::Epoch;
use crate::store::text::Term;
use crate::time::Timestamp;
use crate::vector::{Direction, Similarity};

/// What an `Arc` counts besides its content, and a queue for each element.
const POINTERS: usize = 3 * size_of::<usize>();

/// A note to be kept.
#[derive(Clone, Debug)]
pub(crate) struct NewNote {
    pub(crate) record: Arc<Record>,
    /// The owner's epoch in truth.
    pub(crate) epoch: Epoch,
    pub(crate) terms: Vec<(Term, u32)>,
    /// The directions of its pieces; none if it was not embedded.
    pub(crate) pieces: Vec<Direction>,
}

/// A note that is kept.
pub(super) struct Kept {
    pub(super) stored: StoredRecord,
    pub(super) fields: Fields,
    pub(super) epoch: Epoch,
    /// Hashes of its terms in order, with their counts.
    terms: Box<[(u64, u32)]>,
    pub(super) length: u32,
    pieces: Box<[Direction]>,
    /// The bytes that it takes in memory.
    pub(super) bytes: u64,
}

impl Kept {
    pub(super) fn new(note: NewNote, hasher: &RandomState) -> Self {
        let NewNote { record, epoch, terms, pieces } = note;
        let mut hashed: Vec<(u64, u32)> = terms.iter().map(|(term, count)| (hasher.hash_one(term), *count)).collect();
        hashed.sort_unstable();
        let (terms, pieces) = (hashed.into_boxed_slice(), pieces.into_boxed_slice());
        let length = terms.iter().fold(0, |sum: u32, (_, count)| sum.saturating_add(*count));
        let fields = Fields::of_record(&record);
        let vectors: usize = pieces.iter().map(|piece| size_of_val(piece) + piece.bytes()).sum();
        let bytes = size_of::<Self>() + POINTERS + bytes_of(&record) + size_of_val(&*terms) + vectors;
        let stored = StoredRecord { record, version: 1, accessed_at: None, access_count: 0 };
        Self { stored, fields, epoch, terms, length, pieces, bytes: bytes as u64 }
    }

    /// Returns how often it holds the term with this hash.
    pub(super) fn count(&self, hash: u64) -> u32 {
        let place = self.terms.binary_search_by_key(&hash, |(hash, _)| *hash).ok();
        place.and_then(|place| self.terms.get(place)).map_or(0, |(_, count)| *count)
    }

    /// Returns its piece that is nearest to what is sought, with how near it is.
    pub(super) fn nearest(&self, sought: &Direction) -> Option<(u32, Similarity)> {
        let near = self.pieces.iter().map(|piece| sought.cosine(piece));
        (0..).zip(near).max_by(|(_, one), (_, other)| one.value().total_cmp(&other.value()))
    }

    pub(super) fn item(&self) -> ItemId {
        ItemId::Record(self.stored.record.id)
    }

    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        self.fields.expires_at.is_some_and(|at| at <= now)
    }
}

/// Returns the bytes of a record, and of what filters see of it, behind their pointers.
fn bytes_of(record: &Record) -> usize {
    let telling = &record.first;
    let sources = size_of_val(telling.sources.as_slice());
    let names = 2 * record.kind.len() + telling.origin.as_ref().map_or(0, String::len);
    POINTERS + size_of::<Record>() + record.text.len() + names + 2 * sources
}
