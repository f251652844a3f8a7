//! Taking back tellings: the record stays, with the other tellings.

use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::record::{StoredRecord, Telling};
use crate::store::records::{Expect, Put};

/// How often a record is read again because it was written concurrently.
const ATTEMPTS: usize = 1_000;

impl Scoped {
    /// Takes tellings back, and returns whether the record has any left. A record with none left stays as it is, and the
    /// caller deletes it.
    pub(crate) async fn take_back(
        &self,
        mut stored: StoredRecord,
        is_taken_back: impl Fn(&Telling) -> bool,
    ) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let Some(left) = stored.record.without(&is_taken_back) else { return Ok(false) };
            if left == *stored.record {
                return Ok(true);
            }
            // First: if this is cut off, the next forget of the owner still lets the indexes follow.
            self.inner().taken_back.note(self.scope(), stored.record.id, stored.version);
            let put = Put { record: Arc::new(left), expect: Expect::Version(stored.version) };
            match self.write(self.fence().await?, vec![put]).await {
                Err(Error::Conflict) => {}
                other => {
                    // Again: where there are very many, another forget may have looked before this was written, and be done.
                    self.inner().taken_back.note(self.scope(), stored.record.id, stored.version);
                    return other.map(|_| true);
                }
            }
            // The record was written concurrently, or the fence was raised by another forget.
            let Some(now) = self.stored(&[stored.record.id]).await?.pop() else { return Ok(true) };
            stored = now;
        }
        Err(Error::Conflict)
    }
}
