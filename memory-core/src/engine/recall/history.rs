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
        let mut read = HashMap::new();
        let chain = self.walk(id, &mut |stored| drop(read.insert(stored.record.id, stored))).await?;
        let unread: Vec<RecordId> = chain.iter().copied().filter(|id| !read.contains_key(id)).collect();
        for ids in unread.chunks(PAGE) {
            read.extend(self.get(ids).await?.into_iter().map(|stored| (stored.record.id, stored)));
        }
        Ok(chain.iter().filter_map(|id| read.remove(id)).collect())
    }

    /// Returns the ids of [`Self::history`] in its order, and holds no more than a page of records meanwhile: whoever shows a part of a
    /// history reads that alone.
    pub async fn chain(&self, id: RecordId) -> Result<Vec<RecordId>> {
        self.walk(id, &mut drop).await
    }

    /// Returns the ids of a chain in their order, and gives `read` those of its records that have to be read for it.
    async fn walk(&self, id: RecordId, read: &mut (dyn FnMut(StoredRecord) + Send)) -> Result<Vec<RecordId>> {
        let Some(named) = self.get(&[id]).await?.pop() else { return Ok(Vec::new()) };
        let mut last = named.record.superseded;
        let (mut seen, mut chain) = (HashSet::from([id]), vec![(id, last)]);
        read(named);
        chain.extend(self.older(id, &mut seen).await?);
        while let Some(by) = last.map(|superseded| superseded.by).filter(|by| seen.insert(*by)) {
            let Some(stored) = self.get(&[by]).await?.pop() else { break };
            last = stored.record.superseded;
            chain.push((by, last));
            read(stored);
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
