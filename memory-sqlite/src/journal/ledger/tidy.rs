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
            moved => moved.map(|()| true),
        }
    }

    /// Moves the log into the file and empties it. Rewrites the file if something was removed that must leave no trace.
    pub(in crate::journal) async fn checkpoint(&mut self) -> Result<(), Fault> {
        #[cfg(test)]
        if let Some(full) = self.full.checked_sub(1) {
            self.full = full;
            return Err(Fault::Full);
        }
        self.empty_log().await?;
        if self.log.is_to_be_rewritten() {
            // A deletion clears the place of a row, but not the copies that stayed behind when rows moved between pages.
            sqlx::query("VACUUM").execute(&mut self.connection).await?;
            self.log.rewritten();
            self.empty_log().await?;
        }
        self.log.moved();
        Ok(())
    }

    async fn empty_log(&mut self) -> Result<(), Fault> {
        let moved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut self.connection).await?;
        if moved.try_get::<i64, _>(0)? != 0 {
            return Err(Fault::Broken(Error::corrupt(BACKEND, "somebody else reads the journal")));
        }
        Ok(())
    }
}
