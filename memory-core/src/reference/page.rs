//! Pages of an index's items, in their order.

use crate::id::{ItemId, Version};

/// Returns the first `limit` items after `after`, in their order.
pub(super) fn first_after<'a>(
    items: impl Iterator<Item = (&'a ItemId, Version)>,
    after: Option<&ItemId>,
    limit: usize,
) -> Vec<(ItemId, Version)> {
    let mut behind: Vec<(&ItemId, Version)> = items.filter(|(item, _)| Some(*item) > after).collect();
    // Items beyond the page need not be sorted.
    if limit < behind.len() {
        behind.select_nth_unstable(limit);
        behind.truncate(limit);
    }
    behind.sort_unstable();
    behind.into_iter().map(|(item, version)| (item.clone(), version)).collect()
}
