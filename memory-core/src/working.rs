//! The working tier: what agents note for a while, in this process alone, bounded in bytes.

mod kept;
mod search;
mod shelves;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::hash::RandomState;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::id::ItemId;
use crate::rank::Decay;
use crate::scope::{Epoch, Scope};
use crate::store::{Durability, Erased, ErasureLevel, Health, Store};
use crate::sync::Lock;
use crate::time::Timestamp;

use kept::Kept;
use shelves::Shelves;

pub(crate) use kept::NewNote;
pub(crate) use search::{FoundNotes, NoteQuery, Notes};
pub(crate) use shelves::Placed;

/// The name of the tier in receipts and in the status.
const BACKEND: &str = "in-process";

/// How much the working tier holds, and how often upkeep sweeps it.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::working::WorkingConfig;
///
/// let small = WorkingConfig::default().with_max_bytes(10 << 20);
/// assert_eq!(small, WorkingConfig::muxi());
/// let swept_often = small.with_sweep_every(Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkingConfig {
    /// The most bytes that the notes of all owners take together, their words and vectors included. Default 64 MiB.
    #[doc(alias = "max_memory_mb")]
    pub max_bytes: u64,
    /// How often upkeep takes out what has expired. Default 5 minutes. The bound holds at any time.
    #[doc(alias = "fifo_interval_min")]
    pub sweep_every: Duration,
    /// The age at which the newness of a note counts half, where a ranking goes by age. Default a day.
    pub half_life: Duration,
}

impl Default for WorkingConfig {
    fn default() -> Self {
        Self { max_bytes: 64 << 20, sweep_every: Duration::from_secs(300), half_life: Decay::WORKING.half_life }
    }
}

impl WorkingConfig {
    /// Returns the size that MUXI has: 10 MiB, some 1,700 vectors of 1,536 numbers.
    pub fn muxi() -> Self {
        Self::default().with_max_bytes(10 << 20)
    }

    /// Sets the most bytes that the notes of all owners take together.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how often upkeep takes out what has expired.
    #[must_use]
    pub fn with_sweep_every(mut self, pause: Duration) -> Self {
        self.sweep_every = pause;
        self
    }

    /// Sets the age at which the newness of a note counts half, where a ranking goes by age.
    #[must_use]
    pub fn with_half_life(mut self, half_life: Duration) -> Self {
        self.half_life = half_life;
        self
    }

    /// Returns `Ok` if the settings are valid.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a bound or a pause of zero.
    pub fn check(&self) -> Result<()> {
        if self.max_bytes == 0 || self.sweep_every.is_zero() {
            return Err(Error::invalid("a working tier holds more than 0 bytes, and is swept after more than no time"));
        }
        Ok(())
    }
}

/// The notes of all owners ([`Scoped::note`](crate::engine::Scoped::note)). A part of each memory; it ends with the process.
///
/// If the notes take more bytes than they may, expired ones go first, then the oldest of the owner who takes the most. So an owner
/// who takes less than an even share loses nothing to the notes of others, unless one of these is larger than such a share.
pub struct WorkingTier {
    config: WorkingConfig,
    /// Notes hold hashes of their terms, which no one can foresee.
    hasher: RandomState,
    shelves: Lock<Shelves>,
}

impl WorkingTier {
    /// Returns a tier without notes.
    pub fn new(config: WorkingConfig) -> Self {
        Self { config, hasher: RandomState::new(), shelves: Lock::default() }
    }

    /// Returns how often something was forgotten, of whichever owner. Who puts a note says what it was before the note was checked
    /// against truth.
    pub(crate) fn forgotten(&self) -> u64 {
        self.shelves.lock().forgotten
    }

    /// Puts a note, in place of the one with its id, and makes room for it. Returns none if something was forgotten since
    /// `forgotten`, or another note of the owner tells of a later erasure: then the note has to be checked again.
    ///
    /// # Errors
    /// `Invalid` if the note alone is larger than the tier.
    pub(crate) fn put(&self, scope: &Scope, note: NewNote, forgotten: u64, now: Timestamp) -> Result<Option<Placed>> {
        let kept = Kept::new(note, &self.hasher);
        let (bytes, most) = (kept.bytes.saturating_add(Shelves::bytes_of_owner(scope)), self.config.max_bytes);
        if bytes > most {
            return Err(Error::invalid(format!("the note takes {bytes} bytes, and the working tier holds {most}")));
        }
        let mut shelves = self.shelves.lock();
        if shelves.forgotten != forgotten {
            return Ok(None);
        }
        Ok(shelves.put(scope, kept, most, now))
    }

    /// Returns the notes of an owner in an epoch. Those of earlier ones are dropped.
    pub(crate) fn notes(&self, scope: &Scope, epoch: Epoch) -> Notes {
        let decay = Decay { half_life: self.config.half_life };
        Notes { kept: self.shelves.lock().of(scope, epoch), hasher: self.hasher.clone(), decay }
    }

    /// Returns whether there may be notes of an owner, so that truth is not asked about others.
    pub(crate) fn has(&self, scope: &Scope) -> bool {
        self.shelves.lock().has(scope)
    }

    /// Drops notes that are among `items`, or derived from one of them. Returns how many were named, and how many fell with others.
    pub(crate) fn forget(&self, scope: &Scope, items: &HashSet<&ItemId>) -> (u64, u64) {
        self.shelves.lock().forget(scope, items)
    }

    /// Drops what has expired, and returns how many notes that were.
    pub(crate) fn sweep(&self, now: Timestamp) -> u64 {
        self.shelves.lock().sweep(now)
    }

    /// Returns the pause between two sweeps.
    pub(crate) fn sweep_every(&self) -> Duration {
        self.config.sweep_every
    }
}

impl fmt::Debug for WorkingTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkingTier").field("config", &self.config).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for WorkingTier {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        Ok(Health::new("in-process", env!("CARGO_PKG_VERSION"), Durability::Volatile))
    }

    /// Drops all notes.
    async fn close(&self) -> Result<()> {
        self.shelves.lock().clear();
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let removed = self.shelves.lock().erase(scope, below);
        Ok(Erased { removed, remaining: 0, level: ErasureLevel::Purged })
    }
}
