//! What must stay because a record that stays was derived from it: one that is pinned, on hold, or not too many.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::engine::handle::Scoped;
use crate::error::Result;
use crate::filter::{Field, Filter, Scalar};
use crate::id::ItemId;
use crate::record::StoredRecord;

/// How many rows are read in one page, and how many sources one query names.
const ROWS: usize = 256;

impl Scoped {
    /// Returns those of the items from which a pinned record, or one on hold, was derived, directly or by others. Each is given with what
    /// it is named by as a source: itself, and the summaries that cover it.
    pub(super) async fn held(&self, items: impl Iterator<Item = (ItemId, ItemId)>) -> Result<HashSet<ItemId>> {
        self.sources_of(items, |row| row.record.is_protected()).await
    }

    /// Returns those of the items from which a record was derived that is kept, directly or by others. Each is given with what it is named
    /// by as a source.
    pub(super) async fn sources_of(
        &self,
        items: impl Iterator<Item = (ItemId, ItemId)>,
        is_kept: impl Fn(&StoredRecord) -> bool,
    ) -> Result<HashSet<ItemId>> {
        let mut origins: HashMap<ItemId, HashSet<ItemId>> = HashMap::new();
        for (item, name) in items {
            origins.entry(name).or_default().insert(item);
        }
        let mut names: VecDeque<ItemId> = origins.keys().cloned().collect();
        let mut held = HashSet::new();
        while !names.is_empty() {
            let some = names.drain(..names.len().min(ROWS)).map(|name| Scalar::Text(name.key()));
            let (derived, mut after) = (Filter::In(Field::Source, some.collect()), None);
            loop {
                let rows = self.inner().records.store().scan(self.scope(), &derived, after, ROWS).await?;
                after = rows.last().map(|row| row.record.id);
                for row in &rows {
                    let sources = row.record.sources();
                    let of: HashSet<ItemId> =
                        sources.into_iter().filter_map(|name| origins.get(name)).flatten().cloned().collect();
                    if is_kept(row) {
                        held.extend(of.iter().cloned());
                    }
                    let name = ItemId::Record(row.record.id);
                    let known = origins.entry(name.clone()).or_default();
                    let before = known.len();
                    known.extend(of);
                    if known.len() > before {
                        names.push_back(name);
                    }
                }
                if rows.len() < ROWS {
                    break;
                }
            }
        }
        Ok(held)
    }
}
