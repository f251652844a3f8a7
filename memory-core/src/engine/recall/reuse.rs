//! How much of a context is the beginning of the one before, which a provider's prompt cache may hold.

use std::sync::{Mutex, PoisonError};

use crate::engine::receipt::{Included, PartKind};
use crate::id::ItemId;

/// What the newest context of a handle began with: each item with its tokens, up to what was recalled and asked.
#[derive(Debug, Default)]
pub(crate) struct Beginning(Mutex<Option<Vec<(ItemId, u64)>>>);

impl Beginning {
    /// Returns the share of the previous context's beginning with which the context of `included` begins too, and takes this one for
    /// the next.
    pub(super) fn reuse(&self, included: &[Included]) -> Option<f64> {
        let is_stable =
            |kind| matches!(kind, PartKind::Instruction | PartKind::Synopsis | PartKind::Summary | PartKind::History);
        let items = included.iter().take_while(|included| is_stable(included.part));
        let now: Vec<(ItemId, u64)> = items.map(|included| (included.item.clone(), included.tokens)).collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.replace(now)?;
        let same = before.iter().zip(kept.iter().flatten()).take_while(|(one, other)| one == other).count();
        let sum = |items: &[(ItemId, u64)]| items.iter().map(|(_, tokens)| *tokens as f64).sum::<f64>();
        let all = sum(&before);
        (all > 0.0).then(|| sum(before.get(..same).unwrap_or_default()) / all)
    }
}
