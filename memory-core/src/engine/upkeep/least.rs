//! Which records of an owner go where there are too many: those that matter least. A pure function of the rows.

use std::collections::BinaryHeap;

use crate::engine::forget::is_trace;
use crate::engine::synopsis::synopsis_id;
use crate::id::RecordId;
use crate::rank::{Decay, importance};
use crate::record::{Record, StoredRecord};
use crate::time::Timestamp;

/// How many records an owner has, and which of them matter least.
#[derive(Debug)]
pub(super) struct Least {
    most: u64,
    room: usize,
    now: Timestamp,
    count: u64,
    /// As many as there is room for; the one that matters most is the first to leave.
    least: BinaryHeap<(u32, Timestamp, RecordId)>,
}

impl Least {
    /// Looks for `room` records of an owner, of whose records `most` are kept.
    pub(super) fn of(most: u64, room: usize, now: Timestamp) -> Self {
        Self { most, room, now, count: 0, least: BinaryHeap::new() }
    }

    /// Counts a record. What has expired takes no place, nor does what upkeep makes for itself; what is protected takes one, and
    /// stays.
    pub(super) fn count(&mut self, row: &StoredRecord) {
        let record = &row.record;
        if !takes_a_place(record, self.now) {
            return;
        }
        self.count = self.count.saturating_add(1);
        if record.is_protected() {
            return;
        }
        // The older of equals matters less.
        self.least.push((weight(row, self.now), record.created_at(), record.id));
        if self.least.len() > self.room {
            self.least.pop();
        }
    }

    /// Returns how many records are too many.
    pub(super) fn excess(&self) -> usize {
        usize::try_from(self.count.saturating_sub(self.most)).unwrap_or(usize::MAX)
    }

    /// Returns the records that were found and what they weigh, from the one that matters least.
    pub(super) fn found(self) -> Vec<(RecordId, u32)> {
        self.least.into_sorted_vec().into_iter().map(|(weight, _, id)| (id, weight)).collect()
    }
}

/// Returns how much a record matters. No importance is below zero, so their bits have their order.
pub(super) fn weight(row: &StoredRecord, now: Timestamp) -> u32 {
    importance(row, now, Decay::LONG_TERM).to_bits()
}

/// Returns whether a record counts.
pub(super) fn takes_a_place(record: &Record, now: Timestamp) -> bool {
    let has_expired = !record.hold && record.expires_at().is_some_and(|at| at <= now);
    !(has_expired || record.doomed || is_trace(record) || record.id == synopsis_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Trust;
    use crate::record::Telling;

    fn fact(text: &str, importance: f32, change: impl FnOnce(&mut Record)) -> StoredRecord {
        let telling = Telling { importance: Some(importance), ..Telling::new(Timestamp(0), Trust::User) };
        let mut record = Record { first: telling, ..Record::new("fact", text, Timestamp(0)) };
        change(&mut record);
        StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 0 }
    }

    #[test]
    fn c33_what_is_protected_takes_a_place_and_what_has_expired_takes_none() {
        let rows = [
            fact("tea", 0.9, |_| {}),
            fact("hat", 0.1, |_| {}),
            fact("bird", 0.2, |_| {}),
            fact("nuts", 0.0, |record| record.first.pinned = true),
            fact("court", 0.0, |record| record.hold = true),
            fact("train", 0.0, |record| record.first.expires_at = Some(Timestamp(5))),
            fact("red hat", 0.1, |record| record.first.at = Timestamp(3)),
        ];
        let found = |most: u64, room: usize| {
            let mut least = Least::of(most, room, Timestamp(5));
            rows.iter().for_each(|row| least.count(row));
            let excess = least.excess();
            let text = |id: &RecordId| rows.iter().find(|row| row.record.id == *id).unwrap().record.text.clone();
            (excess, least.found().iter().map(|(id, _)| text(id)).collect::<Vec<String>>())
        };
        let all = ["hat", "red hat", "bird", "tea"].map(str::to_owned);
        assert_eq!(found(6, 10), (0, all.to_vec()));
        assert_eq!(found(4, 10), (2, all.to_vec()));
        assert_eq!(found(1, 2), (5, all[..2].to_vec()));
    }
}
