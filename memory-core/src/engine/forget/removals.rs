//! Removals of summaries, and those that were cut off: what was derived from the summaries falls.

use std::collections::HashSet;

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::id::ItemId;
use crate::record::StoredRecord;

use super::bounds::BATCH;
use super::derived::{Fall, Protected};
use super::receipt::Draft;
use super::trace::{is_trace, traced, traces};

impl Scoped {
    /// Lets fall what was derived from summaries whose removal was cut off.
    pub(super) async fn end_removals(&self, protected: Protected, draft: &mut Draft) -> Result<()> {
        let (filter, mut after) = (traces(), None);
        loop {
            let rows = self.inner().records.store().scan(self.scope(), &filter, after, BATCH).await?;
            for row in rows.iter().filter(|row| is_trace(&row.record)) {
                self.end_removal(row, protected, draft).await?;
            }
            after = rows.last().map(|row| row.record.id);
            if rows.len() < BATCH {
                return Ok(());
            }
        }
    }

    /// Lets fall what was derived from those of the summaries that are gone. The others may be about to be removed, so that their
    /// trace stays.
    async fn end_removal(&self, trace: &StoredRecord, protected: Protected, draft: &mut Draft) -> Result<()> {
        let summaries = traced(&trace.record);
        let mut standing = HashSet::new();
        for batch in summaries.chunks(BATCH) {
            standing.extend(self.said(batch).await?.into_iter().map(|row| row.id));
        }
        let gone = summaries.into_iter().filter(|summary| !standing.contains(summary)).map(ItemId::Message);
        let mut fall = Fall::of(gone, protected);
        if fall.items.is_empty() {
            return Ok(());
        }
        self.outrun_puts().await?;
        let is_settled = self.settle(&mut fall).await?;
        // Who forgets the messages themselves spares nothing, and still needs the trace.
        if is_settled && standing.is_empty() && !fall.has_spared {
            self.untrace(&[(trace.record.id, trace.version)]).await?;
        }
        draft.is_unsettled |= !is_settled;
        draft.derived += fall.derived + self.drop_notes(&fall.items).1;
        self.clear_indexes(&fall.records(), draft).await;
        Ok(())
    }
}
