//! The chain of a record: what it took the place of, and what took its place.

use std::collections::{HashMap, HashSet};

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::filter::{Field, Filter};
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};

/// How many records are read at once. Few, so that not much is held of very long ones.
const PAGE: usize = 100;

impl Scoped {
    /// Returns the record `id` with all records that it superseded and all that superseded it, directly or not, in the order
    /// in which they were superseded; one that is not superseded comes last. Empty if there is no such record.
    ///
    /// A record that was forgotten ends the chain. Expired records are among them. Reads all superseded records of the owner, a page at
    /// a time, and holds those of the chain alone.
    ///
    /// # Examples
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::engine::Remember;
    ///
    /// let old = ada.remember(Remember::fact("Ada lives in Lyon")).await?;
    /// let new = ada.supersede(old.id, Remember::fact("Ada lives in Porto")).await?;
    /// let texts: Vec<_> = ada.history(new.id).await?.into_iter().map(|stored| stored.record.text.clone()).collect();
    /// assert_eq!(texts, ["Ada lives in Lyon", "Ada lives in Porto"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn history(&self, id: RecordId) -> Result<Vec<StoredRecord>> {
        let Some(named) = self.get(&[id]).await?.pop() else { return Ok(Vec::new()) };
        let mut next = newer(&named.record);
        let (mut chain, mut seen) = (Vec::new(), HashSet::from([id]));
        let older = self.older(id, &mut seen).await?;
        for ids in older.chunks(PAGE) {
            chain.extend(self.get(ids).await?);
        }
        chain.push(named);
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            let Some(stored) = self.get(&[id]).await?.pop() else { break };
            next = newer(&stored.record);
            chain.push(stored);
        }
        chain.sort_by_key(|stored| {
            let superseded = stored.record.superseded.map(|superseded| superseded.at);
            (superseded.is_none(), superseded, stored.record.id)
        });
        Ok(chain)
    }

    /// Returns the ids of the records that `id` superseded, directly or not, and notes them as `seen`.
    async fn older(&self, id: RecordId, seen: &mut HashSet<RecordId>) -> Result<Vec<RecordId>> {
        let mut by_newer: HashMap<RecordId, Vec<RecordId>> = HashMap::new();
        let (superseded, mut after) = (Filter::Exists(Field::SupersededAt), None);
        loop {
            let page = self.records(&superseded, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.record.id);
            for stored in &page {
                if let Some(newer) = newer(&stored.record) {
                    by_newer.entry(newer).or_default().push(stored.record.id);
                }
            }
        }
        let (mut chain, mut open) = (Vec::new(), vec![id]);
        while let Some(newer) = open.pop() {
            let older = by_newer.remove(&newer).unwrap_or_default().into_iter();
            let older: Vec<RecordId> = older.filter(|older| seen.insert(*older)).collect();
            chain.extend_from_slice(&older);
            open.extend(older);
        }
        Ok(chain)
    }
}

fn newer(record: &Record) -> Option<RecordId> {
    record.superseded.map(|superseded| superseded.by)
}
