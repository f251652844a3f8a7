//! Emptying an index, whatever state it is in: to fill it anew, or because it is not used any more.

use crate::engine::handle::Memory;
use crate::engine::inner::{Index, Inner};
use crate::error::Result;
use crate::store::upkeep::IndexName;

use super::verify::OWNERS;

impl Memory {
    /// Empties an index and notes everything that is stored for it again. Returns whether it was emptied, which is possible only
    /// if this process has it open.
    ///
    /// It mends an index of which a part was damaged or deleted: unlike [`Memory::reindex`] it believes nothing that is there.
    /// Until upkeep has put everything there again, searches find less. May be repeated after a failure, which leaves
    /// everything noted.
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
        let open = self.inner.index(index);
        if let Some(open) = open {
            // Also before, so that a process that ends in between leaves nothing out. Notes that another process carries out
            // meanwhile may be of no use, so everything is noted again.
            self.reindex(index).await?;
            self.inner.turn.take(self.inner.empty(open)).await?;
        }
        self.reindex(index).await?;
        Ok(open.is_some())
    }

    /// Drops an index that is not used any more, with its notes. Returns whether it was emptied too, which is possible only if
    /// this process has it open.
    ///
    /// May be repeated after a failure. This process stops filling it; opening it again fills it anew.
    ///
    /// # Errors
    /// `Invalid` if no such index follows truth; else the failure of a store.
    pub async fn retire(&self, index: &IndexName) -> Result<bool> {
        self.check_follows(index).await?;
        let inner = &self.inner;
        let open = inner.index(index);
        if let Some(open) = open {
            open.let_go();
            inner.turn.take(inner.empty(open)).await?;
        }
        if let Some(extraction) = inner.extraction.as_ref().filter(|extraction| extraction.name == *index) {
            extraction.retire();
        }
        for truth in inner.truths() {
            truth.retire(index).await?;
        }
        Ok(open.is_some())
    }
}

impl Inner {
    /// Clears an index of everybody whom truth lists.
    async fn empty(&self, index: &Index) -> Result<()> {
        let mut last = None;
        loop {
            let owners = self.owners_after(last.as_ref()).await?;
            for owner in &owners {
                index.clear(owner).await?;
            }
            if owners.len() < OWNERS {
                return index.flush().await;
            }
            last = owners.into_iter().next_back();
        }
    }
}
