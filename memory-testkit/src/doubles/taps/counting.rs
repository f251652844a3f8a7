//! A tap that counts calls and rows.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use memory_core::Result;

use super::Tap;

/// Counts calls by name, and the rows they returned.
#[derive(Debug, Default)]
pub struct Counting {
    counts: Mutex<BTreeMap<&'static str, (u64, u64)>>,
}

impl Counting {
    /// Returns how often `call` was made.
    pub fn calls(&self, call: &str) -> u64 {
        self.with(|counts| counts.get(call).map_or(0, |count| count.0))
    }

    /// Returns how many rows `call` returned in all.
    pub fn rows(&self, call: &str) -> u64 {
        self.with(|counts| counts.get(call).map_or(0, |count| count.1))
    }

    /// Returns how many calls were made in all.
    pub fn total(&self) -> u64 {
        self.with(|counts| counts.values().map(|count| count.0).sum())
    }

    /// Returns how many rows all calls returned.
    pub fn total_rows(&self) -> u64 {
        self.with(|counts| counts.values().map(|count| count.1).sum())
    }

    /// Sets all counts to zero.
    pub fn reset(&self) {
        self.with(BTreeMap::clear);
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<&'static str, (u64, u64)>) -> T) -> T {
        act(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Tap for Counting {
    fn enter(&self, call: &'static str) -> Result<()> {
        self.with(|counts| counts.entry(call).or_default().0 += 1);
        Ok(())
    }

    fn leave(&self, call: &'static str, rows: usize) -> Result<()> {
        self.with(|counts| counts.entry(call).or_default().1 += rows as u64);
        Ok(())
    }
}
