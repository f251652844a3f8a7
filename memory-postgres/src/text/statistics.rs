//! The statistics that scores need, per unit, among the totals of an owner.

use memory_core::Unit;

use crate::index::Owner;

/// What is known of all documents of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) documents: i64,
    pub(super) length: i64,
    /// Bytes of terms in the tail.
    pub(super) tail_bytes: i64,
}

impl Totals {
    /// Returns those of a unit.
    pub(super) fn of(owner: &Owner, unit: Unit) -> Self {
        let [documents, length, tail_bytes] = places(unit).map(|place| owner.total(place));
        Self { documents, length, tail_bytes }
    }

    /// Sets those of a unit.
    pub(super) fn set(self, owner: &mut Owner, unit: Unit) {
        let Self { documents, length, tail_bytes } = self;
        for (place, total) in places(unit).into_iter().zip([documents, length, tail_bytes]) {
            owner.set_total(place, total);
        }
    }
}

/// Returns where the owner's totals have the three of a unit.
pub(super) fn places(unit: Unit) -> [usize; 3] {
    let first = match unit {
        Unit::Message => 0,
        Unit::Record => 3,
        Unit::Span => 6,
    };
    [first, first + 1, first + 2]
}
