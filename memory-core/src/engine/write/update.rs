//! Updating a record: its statement stays, what was told with it changes.

use std::sync::Arc;

use tokio::try_join;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};
use crate::store::records::{Expect, Put};

use super::sources::added;
use super::tell::ATTEMPTS;

impl Scoped {
    /// Changes a record's tags, importance, times, metadata, pin or hold in place, and returns the record as it is stored now.
    /// `change` is called with the stored record, and again with a newer one if somebody else wrote it meanwhile; so it must not
    /// rely on what it saw in an earlier call. A change that changes nothing writes nothing.
    ///
    /// What a record states does not change: another text is a new record that supersedes it ([`Scoped::supersede`]).
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    ///
    /// let told = ada.remember(Remember::fact("Ada's flight leaves at nine").with_tag("travel")).await?;
    /// let stored = ada.update(told.id, |record| {
    ///     record.tellings_mut().for_each(|telling| telling.pinned = true);
    /// });
    /// assert!(stored.await?.record.is_pinned());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` if there is no such record, if the change touches its id, kind, text, agent or what superseded it, adds a source
    /// that is not stored, or goes beyond the limits.
    #[tracing::instrument(name = "update", level = "debug", skip_all)]
    pub async fn update(&self, id: RecordId, change: impl Fn(&mut Record) + Send + Sync) -> Result<StoredRecord> {
        for _ in 0..ATTEMPTS {
            let (fence, mut found) = try_join!(self.fence(), async { self.stored(&[id]).await })?;
            let stored = found.pop().filter(|stored| !stored.record.doomed);
            let stored = stored.ok_or_else(|| Error::invalid("there is no such record"))?;
            let mut record = (*stored.record).clone();
            change(&mut record);
            if record == *stored.record {
                return Ok(stored);
            }
            check_statement(&stored.record, &record)?;
            self.inner().limits.check_record(&record)?;
            // After the fence was read; `sources` says why.
            self.check_sources(&added(&record, Some(&stored.record))).await?;
            let record = Arc::new(record);
            let put = Put { record: Arc::clone(&record), expect: Expect::Version(stored.version) };
            match self.write(fence, vec![put]).await {
                Err(Error::Conflict) => {}
                outcome => {
                    let version = outcome?.first().copied().ok_or(Error::Conflict)?;
                    return Ok(StoredRecord { record, version, ..stored });
                }
            }
        }
        Err(Error::Conflict)
    }
}

/// Returns `Ok` if both records state the same, and are at the same stage of life.
fn check_statement(old: &Record, new: &Record) -> Result<()> {
    let statement = |record: &Record| {
        let Record { id, kind, text, agent, superseded, doomed, .. } = record.clone();
        (id, kind, text, agent, superseded, doomed)
    };
    if statement(old) == statement(new) {
        return Ok(());
    }
    Err(Error::invalid("an update changes what was told with a record, not what it states: supersede it"))
}
