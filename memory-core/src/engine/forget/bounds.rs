//! The bounds of forgetting: batch size and retries.

/// How many rows are read, and how many ids are forgotten, in one call.
pub(super) const BATCH: usize = 256;

/// How often a deletion is tried that loses against concurrent writes.
pub(super) const ATTEMPTS: usize = 1_000;
