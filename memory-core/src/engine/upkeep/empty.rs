//! Emptying an index, whatever state it is in: to fill it anew, or because it is not used any more.

use crate::engine::handle::Memory;
use crate::engine::inner::{Index, Inner};
use crate::error::{Error, Result};
use crate::store::upkeep::IndexName;

use super::STEP;
use super::verify::OWNERS;

impl Memory {
    /// Empties an index and notes everything that is stored for it again. Returns whether it was emptied, which is possible only
    /// if this process has it open.
    ///
    /// It mends an index of which a part was damaged or deleted: unlike [`Memory::reindex`] it believes nothing that is there.
    /// Until upkeep has put everything there again, searches find less. Repeat it after a failure. If the process is killed in
    /// the middle while another one fills the index, some entries may be missing: repeat it then too.
    ///
    /// # Errors
    /// `Invalid` if no such index follows truth; else the failure of a store.
    ///
    /// # Examples
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
    /// for index in memory.indexes().await? {
    ///     memory.rebuild(&index).await?;
    /// }
    /// memory.upkeep_once().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn rebuild(&self, index: &IndexName) -> Result<bool> {
        self.check_follows(index).await?;
        let emptied = match self.inner.index(index) {
            Some(open) => self.inner.turn.take(self.inner.empty(open)).await.map(|()| true),
            None => Ok(false),
        };
        // After a failure too: whoever fills it puts back what is gone.
        let noted = self.reindex(index).await;
        let is_emptied = emptied?;
        noted.map(|()| is_emptied)
    }

    /// Drops an index that is not used any more, with its notes. Returns whether it was emptied too, which is possible only if
    /// this process has it open.
    ///
    /// Upkeep runs first, so that an erasure that waits for the index is carried out. May be repeated after a failure. This
    /// process stops filling it; opening it again fills it anew.
    ///
    /// # Errors
    /// `Invalid` if no such index follows truth; `Unsupported` if upkeep left notes for it; else the failure of a store.
    pub async fn retire(&self, index: &IndexName) -> Result<bool> {
        self.check_follows(index).await?;
        let (inner, open) = (&self.inner, self.inner.index(index));
        if open.is_some() {
            self.upkeep_once().await?;
        }
        // No pass may put anything into it between its emptying and the end of its notes.
        let drop_index = async {
            // Nor may anybody find facts by it.
            let _finder_has_ended = match index.finds_facts() {
                true => Some(inner.finding.end(STEP).await),
                false => None,
            };
            inner.drop_index(index, open).await
        };
        inner.turn.take(Box::pin(drop_index)).await?;
        Ok(open.is_some())
    }
}

impl Inner {
    async fn drop_index(&self, name: &IndexName, open: Option<&Index>) -> Result<()> {
        if let Some(open) = open {
            if self.backlog(name).await?.pending > 0 {
                let what = format!("drop {} before all notes for it are carried out", name.as_str());
                return Err(Error::Unsupported { backend: "memory", what });
            }
            self.empty(open).await?;
        }
        for truth in self.truths() {
            truth.retire(name).await?;
        }
        if let Some(open) = open {
            open.let_go();
        }
        if let Some(extraction) = self.extraction.as_ref().filter(|extraction| extraction.name == *name) {
            extraction.retire();
        }
        Ok(())
    }

    /// Clears an index of everybody whom truth lists.
    ///
    /// Meanwhile another process may fill it, and take what is cleared a moment later for done. So truth doubts it before the
    /// first owner, and again behind every few.
    async fn empty(&self, index: &Index) -> Result<()> {
        let mut last = None;
        self.doubt(&index.name).await?;
        loop {
            let owners = self.owners_after(last.as_ref()).await?;
            let mut cleared = Ok(());
            for owner in &owners {
                cleared = index.clear(owner).await;
                if cleared.is_err() {
                    break;
                }
            }
            let doubted = self.doubt(&index.name).await;
            cleared.and(doubted)?;
            if owners.len() < OWNERS {
                return index.flush().await;
            }
            last = owners.into_iter().next_back();
        }
    }
}
