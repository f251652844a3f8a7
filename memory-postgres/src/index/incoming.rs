//! Entries to be put into an index.

use std::collections::HashMap;

use memory_core::{Fields, ItemId, Version};

/// An entry to be put; `C` is its searched content.
#[derive(Clone, Debug)]
pub(crate) struct Incoming<C> {
    pub(crate) item: ItemId,
    pub(crate) version: Version,
    pub(crate) fields: Fields,
    pub(crate) content: C,
}

/// Keeps the newest of several entries of one item; of equal versions the last.
pub(crate) fn newest<'e, C>(entries: impl Iterator<Item = &'e Incoming<C>>) -> Vec<&'e Incoming<C>> {
    let mut places: HashMap<&ItemId, usize> = HashMap::new();
    let mut kept: Vec<Option<&Incoming<C>>> = Vec::new();
    for entry in entries {
        let earlier = places.get(&entry.item).and_then(|place| kept.get_mut(*place));
        if let Some(earlier) = earlier {
            if earlier.is_some_and(|earlier| earlier.version > entry.version) {
                continue;
            }
            *earlier = None;
        }
        places.insert(&entry.item, kept.len());
        kept.push(Some(entry));
    }
    kept.into_iter().flatten().collect()
}
