//! How long a synopsis is good, and how long it may be.

use std::time::Duration;

use crate::error::{Error, Result};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// The settings of synopses ([`MemoryBuilder::synopsis`](crate::engine::MemoryBuilder::synopsis)).
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::engine::SynopsisConfig;
///
/// let config = SynopsisConfig { max_tokens: 600, ..SynopsisConfig::default() };
/// assert_eq!((config.identity_ttl, config.context_ttl), (Duration::from_secs(604_800), Duration::from_secs(3_600)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynopsisConfig {
    /// How long the identity half stays good, which tells who the owner is. Default 7 days.
    pub identity_ttl: Duration,
    /// How long the context half stays good, which tells what the owner is about. Default 1 hour.
    pub context_ttl: Duration,
    /// Whether each use restarts a half's time, until the half reaches its maximum age. Default true.
    pub refresh_on_access: bool,
    /// The age at which the identity half is built anew, however often it is used. Default 30 days.
    pub identity_max_age: Duration,
    /// The age at which the context half is built anew, however often it is used. Default 24 hours.
    pub context_max_age: Duration,
    /// The most tokens that a synopsis takes in a context. Default 1,000.
    pub max_tokens: u64,
}

impl Default for SynopsisConfig {
    fn default() -> Self {
        Self {
            identity_ttl: 7 * DAY,
            context_ttl: Duration::from_secs(3_600),
            refresh_on_access: true,
            identity_max_age: 30 * DAY,
            context_max_age: DAY,
            max_tokens: 1_000,
        }
    }
}

impl SynopsisConfig {
    /// Returns `Ok` if the settings are valid.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a time of zero, a maximum below it, or fewer than 100 tokens.
    pub fn check(&self) -> Result<()> {
        let halves = [(self.identity_ttl, self.identity_max_age), (self.context_ttl, self.context_max_age)];
        if halves.iter().any(|(ttl, most)| ttl.is_zero() || most < ttl) || self.max_tokens < 100 {
            let what =
                "a half of a synopsis is good for more than no time and no longer than its maximum, and has 100 tokens";
            return Err(Error::invalid(what));
        }
        Ok(())
    }

    /// Returns the most tokens of a half, so that both and what stands around them keep the bound.
    pub(crate) fn half_tokens(&self) -> u64 {
        (self.max_tokens / 2).saturating_sub(self.max_tokens / 20)
    }
}
