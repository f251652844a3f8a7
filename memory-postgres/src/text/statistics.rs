//! The statistics of each unit, which scores need, among the totals of an owner.

use memory_core::Unit;
use memory_core::posting::Totals;

use crate::index::Owner;

/// Returns the statistics of a unit.
pub(super) fn of(owner: &Owner, unit: Unit) -> Totals {
    let [documents, length, tail_bytes] = places(unit).map(|place| owner.total(place));
    Totals { documents, length, tail_bytes }
}

/// Sets the statistics of a unit.
pub(super) fn set(owner: &mut Owner, unit: Unit, totals: Totals) {
    let Totals { documents, length, tail_bytes } = totals;
    for (place, total) in places(unit).into_iter().zip([documents, length, tail_bytes]) {
        owner.set_total(place, total);
    }
}

/// Returns the places of a unit's three numbers among the owner's totals.
pub(super) fn places(unit: Unit) -> [usize; 3] {
    let first = match unit {
        Unit::Message => 0,
        Unit::Record => 3,
        Unit::Span => 6,
    };
    [first, first + 1, first + 2]
}
