//! The result of moving one owner.

use memory_core::{Scope, Stores};

use super::checksum::Checksum;
use super::problem::Problem;

/// The result of moving one owner.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Moved {
    /// Sessions of the source.
    pub sessions: u64,
    /// Rows of conversations in the source, summaries and forgotten ones counted.
    pub rows: Checksum,
    /// Records of the source.
    pub records: Checksum,
    /// Records that were left behind on purpose.
    pub left: u64,
    /// Entries on the owner's board that stay behind, because boards are not moved; none if the source has no store of boards, if it does
    /// not answer, or if nothing was moved.
    pub on_board: Option<u64>,
    /// Sessions and records of the target that were removed, because the source does not hold them.
    pub removed: u64,
    /// Whether some records were used in one of the stores alone, so that their counts of uses differ.
    pub uses_differ: bool,
    /// What is not the same in both; empty if the copy was read back and is.
    pub problems: Vec<Problem>,
}

/// Returns how many entries stand on an owner's board, as far as that can be told.
pub(super) async fn on_board(stores: &Stores, scope: &Scope) -> Option<u64> {
    let board = stores.blackboard.as_ref()?;
    let epoch = stores.chat().ok()?.upkeep().epoch(scope).await.ok()?;
    board.stats(scope, epoch).await.ok().map(|stats| stats.live)
}
