//! Remembering many things in one call: what nobody has told yet is written together.

use std::collections::{BTreeSet, HashMap};
use std::iter;
use std::sync::Arc;

use tokio::try_join;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::{ItemId, RecordId};
use crate::record::Record;
use crate::store::chat::Fence;
use crate::store::records::{Expect, Put};

use super::links::{identity_before, later_signs};
use super::remember::{NotTaken, Remember, RememberReceipt, Remembered};

/// How many records are written together.
const TOGETHER: usize = 256;

impl Scoped {
    /// Remembers all of this, each as [`Scoped::remember`] does; the receipts come in its order.
    ///
    /// New statements are written together, in transactions of 256 records; those that are known already, occur twice or pass a
    /// gate are written one by one. Everything is checked before anything is stored. If the call fails later, some of it is stored;
    /// the same call completes it.
    ///
    /// # Errors
    /// As [`Scoped::remember`].
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    ///
    /// let told = ada.remember_all(vec![Remember::fact("Ada has a cat"), Remember::preference("Ada likes tea")]).await?;
    /// assert_eq!(told.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "batch_store")]
    pub async fn remember_all(&self, all: Vec<Remember>) -> Result<Vec<RememberReceipt>> {
        let all: Vec<Remember> = all.into_iter().map(|remember| self.inner().defaults.gated(remember)).collect();
        let told = all.iter().map(|remember| self.prepare(remember)).collect::<Result<Vec<Record>>>()?;
        let ids: Vec<RecordId> = told.iter().flat_map(|record| self.ids_of(record)).collect();
        let (fence, known) = try_join!(self.fence(), self.taken(&ids))?;
        // After the fence was read; `sources` says why.
        let sources: BTreeSet<&ItemId> = told.iter().flat_map(Record::sources).collect();
        let sources: Vec<ItemId> = sources.into_iter().cloned().collect();
        let plain = all.iter().zip(&told).filter(|(remember, _)| is_plain(remember)).map(|(_, record)| record);
        let unknown = plain.filter(|record| self.ids_of(record).all(|id| !known.contains(&id)));
        let unknown: BTreeSet<RecordId> = unknown.map(|record| record.id).collect();
        let ((), new) = try_join!(self.check_sources(&sources), self.untold(unknown))?;
        let mut seen = BTreeSet::new();
        let is_new = |(remember, record): &(&Remember, &Record)| is_plain(remember) && new.contains(&record.id);
        let is_first = |(_, (_, record)): &(usize, (&Remember, &Record))| seen.insert(record.id);
        let pairs = all.iter().zip(&told).enumerate();
        let fresh = pairs.filter(|(_, pair)| is_new(pair)).filter(is_first).map(|(place, (_, record))| (place, record));
        let fresh: Vec<(usize, &Record)> = fresh.collect();
        let mut written = HashMap::new();
        for records in fresh.chunks(TOGETHER) {
            written.extend(self.put_new(fence, records).await?);
        }
        let mut receipts = Vec::with_capacity(all.len());
        for (place, remember) in all.iter().enumerate() {
            receipts.push(match written.remove(&place) {
                Some(receipt) => receipt,
                None => self.tell(remember).await?,
            });
        }
        Ok(receipts)
    }

    /// Returns ids of which one is taken if somebody has told what the record says, unless its first record is gone.
    fn ids_of(&self, record: &Record) -> impl Iterator<Item = RecordId> {
        iter::once(record.id).chain(identity_before(self.inner(), record))
    }

    /// Returns those of the statements, none of which has a first record, that have no later ones either.
    async fn untold(&self, statements: BTreeSet<RecordId>) -> Result<BTreeSet<RecordId>> {
        let later: Vec<RecordId> = statements.iter().flat_map(|statement| later_signs(*statement)).collect();
        let taken = self.taken(&later).await?;
        let is_untold = |statement: &RecordId| later_signs(*statement).all(|id| !taken.contains(&id));
        Ok(statements.into_iter().filter(is_untold).collect())
    }

    /// Writes records that nobody has told yet, and returns their receipts with their places. None of them are written if somebody tells
    /// one of them meanwhile.
    async fn put_new(&self, fence: Fence, records: &[(usize, &Record)]) -> Result<Vec<(usize, RememberReceipt)>> {
        let puts =
            records.iter().map(|(_, record)| Put { record: Arc::new((*record).clone()), expect: Expect::Absent });
        let versions = match self.write(fence, puts.collect()).await {
            Err(Error::Conflict | Error::IdConflict { .. }) => return Ok(Vec::new()),
            versions => versions?,
        };
        let durability = self.durability_of_records();
        let receipt = |((place, record), version): (&(usize, &Record), u64)| {
            let not_taken = NotTaken::of(&record.first, record, false);
            let receipt = RememberReceipt::new(record.id, Remembered::Stored, version, durability);
            (*place, RememberReceipt { not_taken, ..receipt })
        };
        Ok(records.iter().zip(versions).map(receipt).collect())
    }
}

/// Returns whether a statement is stored as it is, if nobody has told it yet.
fn is_plain(remember: &Remember) -> bool {
    remember.gate.is_none() && remember.screen.is_none()
}
