//! Retiring: empties an index that is not used any more, and stops it from following truth.

use crate::engine::handle::Memory;
use crate::engine::inner::{Index, Inner};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::{ItemId, Version};
use crate::index::session_version;
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::text::Deletion;
use crate::store::upkeep::IndexName;

/// How many owners, sessions or records are read in one call.
const PAGE: usize = 256;

impl Memory {
    /// Drops an index that is not used any more, with its notes. Returns whether it was emptied too, which is possible only if
    /// this process has it open.
    ///
    /// Upkeep runs first, so that what was forgotten leaves the index; then everything that is stored is deleted from it. May be
    /// repeated after a failure. This process stops filling it; opening it again fills it anew.
    ///
    /// # Errors
    /// `Invalid` if no such index follows truth; `Unsupported` if upkeep left notes for it; else the failure of a store.
    pub async fn retire(&self, index: &IndexName) -> Result<bool> {
        self.check_follows(index).await?;
        let inner = &self.inner;
        let open = inner.index(index);
        if let Some(open) = open {
            self.upkeep_once().await?;
            if inner.backlog(index).await?.pending > 0 {
                let what = format!("empty {} before all notes for it are carried out", index.as_str());
                return Err(Error::Unsupported { backend: "memory", what });
            }
            open.let_go();
            inner.empty(open).await?;
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
    /// Deletes everything that truth holds from an index.
    async fn empty(&self, index: &Index) -> Result<()> {
        for truth in self.truths() {
            let mut after: Option<Scope> = None;
            loop {
                let owners = truth.owners(after.as_ref(), PAGE).await?;
                let Some(last) = owners.last().cloned() else { break };
                for owner in &owners {
                    self.empty_of(index, owner).await?;
                }
                after = Some(last);
            }
        }
        index.flush().await
    }

    async fn empty_of(&self, index: &Index, scope: &Scope) -> Result<()> {
        let mut after = None;
        loop {
            let page = self.bare.chat.sessions(scope, after.as_ref(), PAGE).await?;
            let Some(last) = page.last().map(|state| state.session.clone()) else { break };
            for state in page {
                let through = session_version(&state, u64::MAX);
                index.delete(scope, &Deletion::Session(state.session, through)).await?;
            }
            after = Some(last);
        }
        let (epoch, mut after) = (self.records.upkeep().epoch(scope).await?, None);
        loop {
            let page = self.records.store().scan(scope, &Filter::All, after, PAGE).await?;
            let Some(last) = page.last().map(|row| row.record.id) else { return Ok(()) };
            let item = |row: &StoredRecord| (ItemId::Record(row.record.id), Version { epoch, revision: row.version });
            let items = page.iter().map(item).collect();
            index.delete(scope, &Deletion::Items(items)).await?;
            after = Some(last);
        }
    }
}
