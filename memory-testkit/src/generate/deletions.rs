//! Deletions from an index that apply to every version.

use memory_core::store::text::Deletion;
use memory_core::{Epoch, ItemId, Result, SessionId, Version};

use super::Random;

/// The greatest version.
pub const LAST: Version = Version { epoch: Epoch(u64::MAX), revision: u64::MAX };

/// Returns the deletion of these items.
pub fn deletion(items: impl IntoIterator<Item = ItemId>) -> Deletion {
    Deletion::Items(items.into_iter().map(|item| (item, LAST)).collect())
}

/// Returns the deletion of the session called `name`.
///
/// # Errors
/// `Invalid` for what is no name of a session.
pub fn session_deletion(name: &str) -> Result<Deletion> {
    Ok(Deletion::Session(SessionId::new(name)?, LAST))
}

/// Returns the bound of a deletion: everything, or one of the first epochs and revisions.
pub fn bound(random: &mut Random) -> Version {
    if random.chance(1, 2) {
        return LAST;
    }
    Version { epoch: Epoch(random.below(3) as u64), revision: random.below(4) as u64 }
}
