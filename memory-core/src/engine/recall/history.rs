//! The chain of a record: what it took the place of, and what took its place.

use std::collections::{HashMap, HashSet};

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::filter::{Field, Filter};
use crate::id::RecordId;
use crate::record::{StoredRecord, Superseded};

/// How many records are read at once. Few, so that not much is held of very long ones.
const PAGE: usize = 32;

/// A record of a chain, and what took its place.
type Link = (RecordId, Option<Superseded>);

impl Scoped {
    /// Returns the record `id` with all records that it superseded and all that superseded it, directly or not, in the order
    /// in which they were superseded; one that is not superseded comes last. Empty if there is no such record.
    ///
    /// A record that was forgotten ends the chain. Expired records are among them. Reads all superseded records of the owner, a page at
    /// a time, and holds those of the chain alone: [`Self::chain`] does not hold these either.
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
        let mut history = Vec::new();
        for ids in self.chain(id).await?.chunks(PAGE) {
            history.extend(self.get(ids).await?);
        }
        Ok(history)
    }

    /// Returns the ids of [`Self::history`] in its order, and holds no more than a page of records meanwhile: whoever shows a part of a
    /// history reads that alone.
    pub async fn chain(&self, id: RecordId) -> Result<Vec<RecordId>> {
        let Some(mut newest) = self.get(&[id]).await?.pop() else { return Ok(Vec::new()) };
        let mut seen = HashSet::from([id]);
        let mut chain = self.older(id, &mut seen).await?;
        chain.push((id, newest.record.superseded));
        while let Some(by) = newest.record.superseded.map(|superseded| superseded.by).filter(|by| seen.insert(*by)) {
            let Some(stored) = self.get(&[by]).await?.pop() else { break };
            newest = stored;
            chain.push((by, newest.record.superseded));
        }
        chain.sort_by_key(|(id, superseded)| (superseded.is_none(), superseded.map(|superseded| superseded.at), *id));
        Ok(chain.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns the records that `id` superseded, directly or not, and notes them as `seen`.
    async fn older(&self, id: RecordId, seen: &mut HashSet<RecordId>) -> Result<Vec<Link>> {
        let mut by_newer: HashMap<RecordId, Vec<Link>> = HashMap::new();
        let (superseded, mut after) = (Filter::Exists(Field::SupersededAt), None);
        loop {
            let page = self.records(&superseded, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.record.id);
            for StoredRecord { record, .. } in &page {
                if let Some(superseded) = record.superseded {
                    by_newer.entry(superseded.by).or_default().push((record.id, record.superseded));
                }
            }
        }
        let (mut chain, mut open) = (Vec::new(), vec![id]);
        while let Some(newer) = open.pop() {
            for link in by_newer.remove(&newer).unwrap_or_default() {
                if seen.insert(link.0) {
                    open.push(link.0);
                    chain.push(link);
                }
            }
        }
        Ok(chain)
    }
}
