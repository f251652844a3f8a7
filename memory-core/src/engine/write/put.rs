//! Putting a whole record, compared with the version that the caller saw.

use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::record::Record;
use crate::store::records::{Expect, Put};

use super::sources::added;
use super::tell::ATTEMPTS;

impl Scoped {
    /// Puts a record under its id if what is stored there is as `expect` says, and returns its version.
    ///
    /// Nothing is merged: the record is stored as it is given, with its tellings. For a fact that may be known already, take
    /// [`Scoped::remember`]; to keep the old text in the history, [`Scoped::supersede`]. If the text was changed, `remember`
    /// no longer finds the record, and stores its old text anew. May be repeated: what is stored with equal content
    /// succeeds, whatever is expected.
    ///
    /// # Errors
    /// `Conflict` if the expected version is not the stored one; `IdConflict` if there should be no record but there is;
    /// `Invalid` beyond the limits, or if a source is not stored that the expected version did not have; `Fenced` after an
    /// erasure.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped, id: memory_core::RecordId) -> memory_core::Result<()> {
    /// use memory_core::store::records::Expect;
    ///
    /// for stored in ada.get(&[id]).await? {
    ///     let mut record = (*stored.record).clone();
    ///     record.first.tags.push("seen".to_owned());
    ///     ada.put(record, Expect::Version(stored.version)).await?; // unless somebody changed it meanwhile
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[tracing::instrument(name = "put", level = "debug", skip_all)]
    pub async fn put(&self, record: Record, expect: Expect) -> Result<u64> {
        let record = Arc::new(Record { doomed: false, ..record });
        self.inner().limits.check_record(&record)?;
        for _ in 0..ATTEMPTS {
            let fence = self.fence().await?;
            // After the fence was read; `sources` says why.
            let stored = match expect {
                Expect::Version(_) => self.stored(&[record.id]).await?.pop(),
                _ => None,
            };
            self.check_sources(&added(&record, stored.as_ref().map(|stored| &*stored.record))).await?;
            match self.write(fence, vec![Put { record: Arc::clone(&record), expect }]).await {
                // Perhaps only because another record was deleted meanwhile.
                Err(Error::Conflict) if self.fence().await? != fence => {}
                outcome => return outcome?.first().copied().ok_or(Error::Conflict),
            }
        }
        Err(Error::Conflict)
    }
}
