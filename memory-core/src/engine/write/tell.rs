//! Storing a telling: in a new record, or in the one that says the same.

use std::sync::Arc;

use tokio::try_join;

use crate::engine::event::Event;
use crate::engine::handle::Scoped;
use crate::engine::inner::{Half, Written};
use crate::engine::synopsis::synopsis_id;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::record::{Record, StoredRecord, Superseded, Telling};
use crate::store::Durability;
use crate::store::chat::Fence;
use crate::store::records::{Expect, Put, RecordBatch};

use super::likeness::{Gated, Likeness};
use super::links::{Target, identity};
use super::places;
use super::remember::{NotTaken, Remember, RememberReceipt, Remembered};
use super::screened::Screened;
use super::sources::added;

/// How often a write is tried that loses against concurrent writes.
pub(crate) const ATTEMPTS: usize = 1_000;

/// A record to be written, and the receipt of that.
struct Change {
    record: Record,
    expect: Expect,
    /// The version of the stored record, if the telling changes nothing.
    unchanged: Option<u64>,
    receipt: RememberReceipt,
}

impl Scoped {
    pub(crate) async fn tell(&self, remember: &Remember) -> Result<RememberReceipt> {
        let Screened { remember, findings, .. } = &self.screened(remember).await?;
        let mut receipt = self.stored_or_known(remember).await?;
        receipt.findings.clone_from(findings);
        if remember.gate.is_some() && remember.id.is_none() {
            let event = Event::Gated { is_new: receipt.outcome == Remembered::Stored, novelty: receipt.novelty };
            self.inner().tell(Some(self.scope()), &event);
        }
        Ok(receipt)
    }

    /// Stores what is to be remembered, or finds the record that says it.
    async fn stored_or_known(&self, remember: &Remember) -> Result<RememberReceipt> {
        let told = self.prepare(remember)?;
        let sources = added(&told, None);
        for _ in 0..ATTEMPTS {
            let place = async { if remember.id.is_some() { self.named(&told).await } else { self.place(&told).await } };
            let (fence, place) = try_join!(self.fence(), place)?;
            // After the fence was read; `sources` says why.
            self.check_sources(&sources).await?;
            let gate = remember.gate.as_ref().filter(|_| remember.id.is_none());
            let (place, likeness) = match gate {
                None => (place, Likeness::default()),
                Some(gate) => match self.gated(gate, &told, place).await {
                    Gated::Told(place, likeness) => (place, likeness),
                    Gated::Dropped(receipt) => return Ok(receipt),
                },
            };
            let change = self.change(place, &likeness.beside(&told))?;
            let Change { record, expect, unchanged, mut receipt } = change;
            (receipt.novelty, receipt.degraded) = (likeness.novelty, likeness.degraded);
            receipt.version = match unchanged {
                Some(version) => version,
                None => match self.write(fence, vec![Put { record: Arc::new(record), expect }]).await {
                    Ok(versions) => versions.first().copied().ok_or(Error::Conflict)?,
                    Err(Error::Conflict | Error::IdConflict { .. }) => continue,
                    Err(other) => return Err(other),
                },
            };
            receipt.durability = self.durability_of_records();
            if receipt.outcome == Remembered::Reinforced {
                self.note_access(vec![receipt.id]);
            }
            return Ok(receipt);
        }
        Err(Error::Conflict)
    }

    pub(crate) async fn replace(&self, old: RecordId, remember: &Remember) -> Result<RememberReceipt> {
        let Screened { remember, findings, is_quarantined } = &self.screened(remember).await?;
        let told = self.prepare(remember)?;
        let sources = added(&told, None);
        let mut first = None;
        for _ in 0..ATTEMPTS {
            let (fence, mut found) = try_join!(self.fence(), async { self.stored(&[old]).await })?;
            self.check_sources(&sources).await?;
            let stored = found.pop().ok_or_else(|| Error::invalid("there is no such record"))?;
            if let Some(Superseded { by, .. }) = stored.record.superseded {
                let receipt = self.replaced(by, &told).await?;
                return Ok(RememberReceipt { findings: findings.clone(), ..receipt });
            }
            if *is_quarantined {
                // What gives orders takes the place of nothing.
                let receipt = self.stored_or_known(remember).await?;
                return Ok(RememberReceipt { findings: findings.clone(), ..receipt });
            }
            // The caller means the record as it was at the time of the call.
            if *first.get_or_insert(stored.version) != stored.version {
                return Err(Error::Conflict);
            }
            let place =
                if remember.id.is_some() { Target::Free(told.id) } else { self.place_beside(&told, old).await? };
            let Change { record, expect, unchanged: _, mut receipt } = self.change(place, &told)?;
            let mut retired = (*stored.record).clone();
            retired.superseded = Some(Superseded { by: record.id, at: self.inner().clock.now() });
            let puts = vec![
                Put { record: Arc::new(retired), expect: Expect::Version(stored.version) },
                Put { record: Arc::new(record), expect },
            ];
            receipt.findings.clone_from(findings);
            receipt.version = match self.write(fence, puts).await {
                Ok(versions) => versions.get(1).copied().unwrap_or(1),
                Err(Error::Conflict) => continue,
                Err(Error::IdConflict { .. }) if remember.id.is_none() => continue,
                Err(other) => return Err(other),
            };
            receipt.durability = self.durability_of_records();
            return Ok(receipt);
        }
        Err(Error::Conflict)
    }

    /// Returns the receipt of a repeated call: `by` has superseded the record already, and says the same as `told`.
    ///
    /// # Errors
    /// `IdConflict` if `by` has the id of `told` and says something else.
    async fn replaced(&self, by: RecordId, told: &Record) -> Result<RememberReceipt> {
        let superseded = || Error::invalid("the record was superseded already");
        let newer = self.stored(&[by]).await?.pop().ok_or_else(superseded)?;
        let Record { kind, text, agent, .. } = &*newer.record;
        let is_same = (kind, text, agent) == (&told.kind, &told.text, &told.agent);
        if identity(self.inner(), &newer.record) != told.id && !(by == told.id && is_same) {
            return Err(if by == told.id { Error::IdConflict { id: told.id.to_string() } } else { superseded() });
        }
        let (id, version) = (newer.record.id, newer.version);
        Ok(RememberReceipt::new(id, Remembered::Reinforced, version, self.durability_of_records()))
    }

    /// Returns the change that stores `told` at `place`.
    fn change(&self, place: Target, told: &Record) -> Result<Change> {
        let limits = &self.inner().limits;
        let (stored, record) = match place {
            Target::Free(id) => (None, Record { id, ..told.clone() }),
            Target::Expired(stored) => (Some(stored.version), Record { id: stored.record.id, ..told.clone() }),
            Target::Known(stored) => return self.change_known(&stored, told),
        };
        limits.check_record(&record)?;
        let not_taken = NotTaken::of(&told.first, &record, false);
        let receipt = unwritten(record.id, Remembered::Stored, not_taken);
        Ok(Change { record, expect: stored.map_or(Expect::Absent, Expect::Version), unchanged: None, receipt })
    }

    fn change_known(&self, stored: &StoredRecord, told: &Record) -> Result<Change> {
        let tellings: Vec<Telling> = told.tellings().cloned().collect();
        let held = self.told_within(&stored.record, &tellings);
        let is_full = held.is_none();
        let record = held.unwrap_or_else(|| (*stored.record).clone());
        let not_taken = NotTaken::of(&told.first, &record, is_full);
        let receipt = unwritten(record.id, Remembered::Reinforced, not_taken);
        let unchanged = (record == *stored.record).then_some(stored.version);
        Ok(Change { record, expect: Expect::Version(stored.version), unchanged, receipt })
    }

    /// Returns a record with these tellings too; none if they keep the limits alone, but not together with the earlier ones. A record
    /// that was told as often as it may be holds them in place of old ones that add nothing else: it is to stand on what it was told
    /// from last.
    pub(crate) fn told_within(&self, record: &Record, tellings: &[Telling]) -> Option<Record> {
        let is_within = |record: &Record| self.inner().limits.check_record(record).is_ok();
        let more = tellings.iter().fold(record.clone(), |record, telling| record.told(telling.clone()));
        if is_within(&more) {
            return Some(more);
        }
        let instead = |record: Record, telling: &Telling| record.told_instead(telling.clone());
        tellings.iter().try_fold(record.clone(), instead).filter(is_within)
    }

    pub(super) fn prepare(&self, remember: &Remember) -> Result<Record> {
        let inner = self.inner();
        let mut record = remember.record.clone();
        let now = inner.clock.now();
        record.first.at = now;
        record.id = remember.id.unwrap_or_else(|| identity(inner, &record));
        if let Some(ttl) = remember.ttl {
            if ttl.is_zero() {
                return Err(Error::invalid("a time to live must be longer than zero"));
            }
            record.first.expires_at = Some(now.checked_add(ttl)?);
        }
        if remember.most.is_some_and(|most| record.text.chars().nth(most).is_some()) {
            return Err(Error::invalid("the text has more characters than this kind of memory takes"));
        }
        if remember.gate.is_some_and(|gate| !(0.0..=2.0).contains(&gate.threshold)) {
            return Err(Error::invalid("the threshold of novelty is from 0 to 2"));
        }
        places::fill(&mut record);
        inner.limits.check_record(&record)?;
        Ok(record)
    }

    /// Returns how durably records are stored that have been put.
    pub(super) fn durability_of_records(&self) -> Durability {
        self.inner().records.store().durability()
    }

    /// Puts records, all or none, unless something was deleted since the fence was read.
    pub(crate) async fn write(&self, fence: Fence, puts: Vec<Put>) -> Result<Vec<u64>> {
        let batch = RecordBatch { fence: Some(fence), puts };
        let versions = self.inner().records.store().put(self.scope(), &batch).await?;
        let (inner, now) = (self.inner(), self.inner().clock.now());
        for (Put { record, .. }, version) in batch.puts.iter().zip(&versions) {
            // A synopsis is found by no search, and is no news for another.
            if record.id != synopsis_id() {
                inner.synopses.told(self.scope(), Half::of(record), now);
                let bytes = record.encoded_len() as u64;
                inner.note_written(self.scope(), &[Written::record(record.id, *version, bytes)]);
            }
        }
        inner.changed.notify_one();
        Ok(versions)
    }
}

/// Returns the receipt of a record that is still to be written: the write tells its version, and how durable it is.
fn unwritten(id: RecordId, outcome: Remembered, not_taken: Vec<NotTaken>) -> RememberReceipt {
    RememberReceipt { not_taken, ..RememberReceipt::new(id, outcome, 0, Durability::Volatile) }
}
