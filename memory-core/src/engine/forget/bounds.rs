//! How much is forgotten in one step.

/// How many rows are read, and how many ids are forgotten, together.
pub(super) const BATCH: usize = 256;

/// How often a deletion that others outran is tried again.
pub(super) const ATTEMPTS: usize = 1_000;
