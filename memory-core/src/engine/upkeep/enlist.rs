//! Enlisting: truth notes everything for an index that is new, or whose data was lost, emptied or moved.

use std::sync::Arc;

use crate::engine::handle::Memory;
use crate::engine::inner::{EnlistmentState, Index, Inner, NOTED_IN_ONE_STEP};
use crate::error::{Error, Result};
use crate::recent::RECENT;
use crate::store::upkeep::{Enlisted, IndexName, Upkeep};
use crate::time::Timestamp;

use super::report::UpkeepReport;

impl Memory {
    /// Returns the names of the indexes that follow truth, sorted, including those that no process has open any more.
    ///
    /// # Errors
    /// The failure of a truth store.
    pub async fn indexes(&self) -> Result<Vec<IndexName>> {
        self.inner.following().await
    }

    /// Notes everything that is stored for an index again. The next upkeep of any process that has it open puts it there.
    ///
    /// Meanwhile searches find what the index holds. Call it after changes that truth cannot know of: an index was restored from
    /// a backup, or lost entries. A store may leave an entry as it is whose content it believes to hold already; what is damaged
    /// inside is mended by [`Memory::rebuild`].
    ///
    /// # Errors
    /// `Invalid` if no such index follows truth; else the failure of a truth store.
    pub async fn reindex(&self, index: &IndexName) -> Result<()> {
        self.check_follows(index).await?;
        self.inner.doubt(index).await?;
        if let Some(enlistment) = self.inner.index(index).and_then(|index| index.enlistment.as_ref()) {
            enlistment.set(EnlistmentState { is_noted: false, ..enlistment.known() });
        }
        if let Some(extraction) = self.inner.extraction.as_ref().filter(|extraction| extraction.name == *index) {
            extraction.set_enlisted(None);
        }
        self.inner.changed.notify_one();
        Ok(())
    }

    pub(crate) async fn check_follows(&self, index: &IndexName) -> Result<()> {
        if self.indexes().await?.contains(index) {
            return Ok(());
        }
        Err(Error::invalid(format!("no index {} follows what is stored", index.as_str())))
    }
}

impl Inner {
    pub(crate) fn truths(&self) -> [&Arc<dyn Upkeep>; 2] {
        [self.chat.upkeep(), self.records.upkeep()]
    }

    /// Returns the indexes that both truth stores have enlisted.
    pub(crate) async fn enlisted(&self) -> Result<Vec<Enlisted>> {
        let [chat, records] = self.truths();
        let (chat, records) = tokio::try_join!(chat.indexes(), records.indexes())?;
        Ok([chat, records].concat())
    }

    /// Returns the names of the indexes that follow either truth store, each once, sorted.
    pub(crate) async fn following(&self) -> Result<Vec<IndexName>> {
        let mut names: Vec<_> = self.enlisted().await?.into_iter().map(|index| index.name).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Has both truth stores forget which incarnation of an index they have filled.
    pub(crate) async fn doubt(&self, index: &IndexName) -> Result<()> {
        for truth in self.truths() {
            truth.doubt(index).await?;
        }
        Ok(())
    }

    /// Continues noting what is stored for an index, and asks now and then whether its incarnation is still the one being filled.
    pub(crate) async fn keep_enlisted(&self, index: &Index, report: &mut UpkeepReport) {
        let Some(enlistment) = &index.enlistment else { return };
        let (known, now) = (enlistment.known(), self.clock.now());
        let is_recent = known.asked <= now && now.since(known.asked) < RECENT;
        if known.is_retired || is_recent && known.is_noted && known.incarnation.is_some() {
            return;
        }
        match self.renew(index, known, now, report).await {
            Ok(renewed) => enlistment.set(renewed),
            Err(error) => report.fail(&error),
        }
    }

    async fn renew(
        &self,
        index: &Index,
        known: EnlistmentState,
        now: Timestamp,
        report: &mut UpkeepReport,
    ) -> Result<EnlistmentState> {
        let incarnation = match index.incarnation().await {
            Ok(incarnation) => Some(incarnation),
            // Its notes wait until it answers.
            Err(error) => {
                report.fail(&error);
                known.incarnation
            }
        };
        let mut is_noted = true;
        for truth in self.truths() {
            let kept = truth.indexes().await?.into_iter().find(|enlisted| enlisted.name == index.name);
            let other = kept.as_ref().and_then(|kept| kept.incarnation).filter(|kept| Some(*kept) != incarnation);
            let first = match kept {
                Some(kept) if kept.is_noted && kept.incarnation.is_some() && kept.incarnation == incarnation => {
                    continue;
                }
                // Another process has enlisted another incarnation under this name. Taking turns would fill both forever.
                Some(_) if other.is_some() && incarnation == known.incarnation => {
                    let what = format!("fill {} in two places: only the last one follows", index.name.as_str());
                    report.fail(&Error::Unsupported { backend: "memory", what });
                    continue;
                }
                _ => truth.enlist(&index.name, incarnation, NOTED_IN_ONE_STEP).await?,
            };
            is_noted &= first || self.note_rest(&index.name, truth).await?;
        }
        Ok(EnlistmentState { incarnation, is_noted, asked: now, ..known })
    }

    /// Notes the rest of what was stored before. Returns false if the pass is to end before that is done.
    async fn note_rest(&self, index: &IndexName, truth: &Arc<dyn Upkeep>) -> Result<bool> {
        while !self.turn.is_ending() {
            // Without an incarnation: whichever it has by now.
            if truth.enlist(index, None, NOTED_IN_ONE_STEP).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
