//! The records of an owner that are too many: they are counted once, and what is found is forgotten over as many steps as it takes.
//!
//! Until then the ids are kept, and each is looked at again when its turn comes. A record stays that matters more by then, or from
//! which one was derived that is kept, and the next least goes in its place. So whatever falls with a record was to go anyway, and
//! counts as gone. If somebody else has forgotten records since they were counted, fewer are too many, and they are counted again.

use std::collections::{HashMap, HashSet};

use crate::engine::forget::Forget;
use crate::engine::handle::Scoped;
use crate::engine::inner::Excess;
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{ItemId, RecordId};
use crate::record::StoredRecord;

use super::least::{Least, takes_a_place, weight};
use super::report::UpkeepReport;
use super::room::{ROWS, Room};

/// How many of the records that matter least a count finds. What is too many beyond them waits for the next count; so does all that
/// is too many, if every one of them has to stay.
const FOUND: usize = 50_000;

/// What is left of what a count found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// As far as there was room, it is forgotten.
    More,
    /// Somebody else has forgotten records since: they are to be counted again.
    Outdated,
}

impl Scoped {
    /// Counts the records of the owner, if this walk does, and keeps which of them may go. Returns whether that is done.
    pub(super) async fn count_records(&self, room: &mut Room) -> Result<bool> {
        let inner = self.inner();
        let most = inner.lapses.retentions.of(self.scope()).records.filter(|_| inner.lapses.is_counting());
        let Some(most) = most else { return Ok(true) };
        if room.counted == 0 {
            return Ok(false);
        }
        // First: what is forgotten while they are counted may have been counted.
        let seen = Some(inner.bare.records.fence(self.scope()).await?);
        let (mut least, mut after) = (Least::of(most, FOUND, inner.clock.now()), None);
        loop {
            if inner.turn.is_ending() {
                return Ok(false);
            }
            let rows = inner.records.store().scan(self.scope(), &Filter::All, after, ROWS).await?;
            room.counted = room.counted.saturating_sub(rows.len());
            rows.iter().for_each(|row| least.count(row));
            after = rows.last().map(|row| row.record.id);
            if rows.len() < ROWS {
                break;
            }
        }
        let (owner, count) = (self.scope().clone(), least.excess());
        inner.lapses.found(Excess { owner, seen, count, found: least.found().into() });
        Ok(true)
    }

    /// Forgets what the count found, as far as there is room and it still holds. Returns what is left of it.
    pub(super) async fn lapse_excess(&self, room: &mut Room, report: &mut UpkeepReport) -> Result<Left> {
        let (inner, scope, now) = (self.inner(), self.scope(), self.inner().clock.now());
        loop {
            if room.is_out() || inner.turn.is_ending() {
                return Ok(Left::More);
            }
            let going = inner.lapses.too_many(scope);
            let (next, goes) = inner.lapses.take_next(scope, ROWS);
            if next.is_empty() {
                return Ok(Left::Nothing);
            }
            room.rows = room.rows.saturating_sub(next.len());
            let counted: HashMap<RecordId, u32> = next.iter().copied().collect();
            let next: Vec<RecordId> = next.into_iter().map(|(id, _)| id).collect();
            let rows = self.stored(&next).await?;
            // What is gone by now was counted.
            let goes = goes.saturating_sub(next.len().saturating_sub(rows.len()));
            // It weighs more if it was told or recalled since.
            let is_as_counted =
                |row: &StoredRecord| counted.get(&row.record.id).is_some_and(|was| weight(row, now) <= *was);
            let free = rows.iter().filter(|row| !row.record.is_protected() && is_as_counted(row));
            let free: HashSet<RecordId> = free.map(|row| row.record.id).collect();
            let named = free.iter().map(|id| (ItemId::Record(*id), ItemId::Record(*id)));
            let stays = |row: &StoredRecord| {
                let is_left = takes_a_place(&row.record, now) && !going.contains(&row.record.id);
                is_left || row.record.is_protected()
            };
            let held = self.sources_of(named, stays).await?;
            let may_go = |id: &RecordId| free.contains(id) && !held.contains(&ItemId::Record(*id));
            let records: Vec<RecordId> = next.into_iter().filter(may_go).take(goes).collect();
            let count = records.len();
            if inner.lapses.is_outdated(scope, inner.bare.records.fence(scope).await?) {
                return Ok(Left::Outdated);
            }
            inner.lapses.spare(scope, goes.saturating_sub(count));
            if count == 0 {
                continue;
            }
            self.let_go(None, Forget::Records(records), count, room, report).await?;
            inner.lapses.went(scope, inner.bare.records.fence(scope).await?);
        }
    }
}
