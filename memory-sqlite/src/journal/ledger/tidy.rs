//! Moving the log of a journal into its file, and rewriting the file where what was removed must leave no trace.

use memory_core::error::Error;
use sqlx::Row as _;

use super::Ledger;
use crate::error::BACKEND;
use crate::journal::fault::Fault;

impl Ledger {
    /// Moves the log if it is long, or holds what must leave no trace. Answers as [`Ledger::move_log`] does.
    pub(in crate::journal) async fn tidy(&mut self) -> Result<bool, Fault> {
        if self.log.is_due() { self.move_log().await } else { Ok(true) }
    }

    /// Moves the log into the file. If the disk is full it stays for a while: all that was committed is there. Returns whether
    /// nothing remains of what must leave no trace.
    pub(in crate::journal) async fn move_log(&mut self) -> Result<bool, Fault> {
        match self.checkpoint().await {
            Err(Fault::Full) => Ok(self.log.stay()),
            moved => moved,
        }
    }

    /// Moves the log into the file and empties it. Rewrites the file if something was removed that must leave no trace, and returns
    /// whether nothing of that remains. A file that could not be rewritten is left for whoever removes something next.
    pub(in crate::journal) async fn checkpoint(&mut self) -> Result<bool, Fault> {
        #[cfg(test)]
        if let Some(full) = self.full.checked_sub(1) {
            self.full = full;
            return Err(Fault::Full);
        }
        self.empty_log().await?;
        let mut is_gone = true;
        if self.log.is_to_be_rewritten() {
            is_gone = self.rewrite().await;
            // What it wrote stands in the log, also if it failed.
            self.empty_log().await?;
        }
        self.log.moved();
        Ok(is_gone)
    }

    /// Rewrites the file: a deletion clears the place of a row, but not the copies that stayed behind when rows moved between pages.
    /// Returns whether it could; what failed is taken back, and the file holds what it held.
    async fn rewrite(&mut self) -> bool {
        // The copy may be as large as the file, so it is on disk.
        for sql in ["PRAGMA temp_store = FILE", "VACUUM"] {
            if let Err(error) = sqlx::query(sql).execute(&mut self.connection).await {
                tracing::warn!(%error, "the journal cannot be rewritten, and may hold copies of what was removed");
                return false;
            }
        }
        self.log.rewritten();
        true
    }

    async fn empty_log(&mut self) -> Result<(), Fault> {
        let moved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut self.connection).await?;
        if moved.try_get::<i64, _>(0)? != 0 {
            return Err(Fault::Broken(Error::corrupt(BACKEND, "somebody else reads the journal")));
        }
        Ok(())
    }
}
