//! The chain of a record: what it took the place of, and what took its place.

use std::collections::{HashMap, HashSet};

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::filter::{Field, Filter};
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};

/// How many superseded records are read at once.
const PAGE: usize = 1_000;

impl Scoped {
    /// Returns the record `id` with all records that it superseded and all that superseded it, directly or not, in the order
    /// in which they were superseded; one that is not superseded comes last. Empty if there is no such record.
    ///
    /// A record that was forgotten ends the chain. Expired records are among them. Reads all superseded records of the owner.
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
        let mut by_newer: HashMap<RecordId, Vec<StoredRecord>> = HashMap::new();
        let (superseded, mut after) = (Filter::Exists(Field::SupersededAt), None);
        loop {
            let page = self.records(&superseded, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.record.id);
            for stored in page {
                if let Some(newer) = newer(&stored.record) {
                    by_newer.entry(newer).or_default().push(stored);
                }
            }
        }
        let mut next = newer(&named.record);
        let (mut chain, mut seen) = (Vec::new(), HashSet::from([id]));
        let mut open = vec![named];
        while let Some(stored) = open.pop() {
            let older = by_newer.remove(&stored.record.id).unwrap_or_default();
            open.extend(older.into_iter().filter(|older| seen.insert(older.record.id)));
            chain.push(stored);
        }
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
}

fn newer(record: &Record) -> Option<RecordId> {
    record.superseded.map(|superseded| superseded.by)
}
