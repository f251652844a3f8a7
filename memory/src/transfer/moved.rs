//! The result of moving one owner.

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
    /// Sessions and records of the target that were removed, because the source does not hold them.
    pub removed: u64,
    /// Whether some records were used in one of the stores alone, so that their counts of uses differ.
    pub uses_differ: bool,
    /// What is not the same in both; empty if the copy was read back and is.
    pub problems: Vec<Problem>,
}
