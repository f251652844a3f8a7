//! Retiring a record: it is true no longer, and stays in the history.

use std::sync::Arc;

use tokio::try_join;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::store::records::{Expect, Put};

use super::tell::ATTEMPTS;

impl Scoped {
    /// Ends the validity of a record now, and returns whether that changed it. From then on it is not current; a search as of an
    /// earlier time finds it. Told again, the fact becomes a new record. May be repeated.
    ///
    /// # Errors
    /// `Invalid` if there is no such record.
    pub async fn retire(&self, id: RecordId) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let (fence, mut found) = try_join!(self.fence(), async { self.stored(&[id]).await })?;
            let stored = found.pop().filter(|stored| !stored.record.doomed);
            let stored = stored.ok_or_else(|| Error::invalid("there is no such record"))?;
            let now = self.inner().clock.now();
            let is_over = stored.record.validity().1.is_some_and(|until| until <= now);
            if is_over || stored.record.superseded.is_some() {
                return Ok(false);
            }
            let put = Put { record: Arc::new(stored.record.until(now)), expect: Expect::Version(stored.version) };
            match self.write(fence, vec![put]).await {
                Err(Error::Conflict) => {}
                outcome => return outcome.map(|_| true),
            }
        }
        Err(Error::Conflict)
    }
}
