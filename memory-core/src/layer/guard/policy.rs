//! The policy of a guard: deadlines, retries and bounds.

use std::time::Duration;

/// The policy of a guard: how long calls may take, how often they are tried, and how many run at once.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::layer::GuardPolicy;
///
/// let policy = GuardPolicy::default()
///     .with_deadline(Duration::from_secs(2))
///     .with_bulk_deadline(Duration::from_secs(30))
///     .with_retries(1)
///     .with_failures(3)
///     .with_concurrency(16, 64);
/// assert_eq!((policy.concurrency, policy.queue), (16, 64));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardPolicy {
    /// The deadline of an ordinary call, over all attempts and waits. Default 6 s.
    ///
    /// Each attempt gets an equal share of the time left.
    pub deadline: Duration,
    /// The deadline of a bulk call: erasures, restores, puts into indexes, sweeps. Default 60 s.
    pub bulk_deadline: Duration,
    /// How often an idempotent call is retried. Default 2.
    ///
    /// Over many calls, there is at most one retry for ten calls.
    pub retries: u32,
    /// How many failures in a row open the circuit. Default 5.
    ///
    /// It also opens if half of the last 20 answers failed. Late calls for one owner count as one failure; this many of them make
    /// the guard refuse this owner alone. An open circuit refuses calls at once, except one probe after 1 s, then 2 s, up to
    /// 30 s.
    pub failures: u32,
    /// How many calls run at once. Default 32.
    pub concurrency: usize,
    /// How many more calls may wait. Beyond that a call fails with `Overloaded` at once. Default 256.
    pub queue: usize,
}

impl Default for GuardPolicy {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(6),
            bulk_deadline: Duration::from_secs(60),
            retries: 2,
            failures: 5,
            concurrency: 32,
            queue: 256,
        }
    }
}

impl GuardPolicy {
    /// Returns the policy for a cache: half a second, no retry, and the first failure opens the circuit. Truth can answer too.
    pub fn cache() -> Self {
        let deadline = Duration::from_millis(500);
        Self { deadline, bulk_deadline: Duration::from_secs(10), retries: 0, failures: 1, ..Self::default() }
    }

    /// Sets the deadline of an ordinary call.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the deadline of a bulk call.
    #[must_use]
    pub fn with_bulk_deadline(mut self, deadline: Duration) -> Self {
        self.bulk_deadline = deadline;
        self
    }

    /// Sets how often an idempotent call is retried.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets how many failures in a row open the circuit.
    #[must_use]
    pub fn with_failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// Sets how many calls run at once, and how many more may wait.
    #[must_use]
    pub fn with_concurrency(mut self, concurrency: usize, queue: usize) -> Self {
        (self.concurrency, self.queue) = (concurrency, queue);
        self
    }
}

/// The deadline that a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Short,
    Long,
}

/// What a guard knows about a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// What it does, for errors.
    pub(super) doing: &'static str,
    pub(super) patience: Patience,
    /// Whether it is idempotent, so that it may be retried.
    pub(super) is_repeatable: bool,
}

impl Call {
    /// Returns an ordinary call.
    pub(super) fn quick(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Short, is_repeatable: true }
    }

    /// Returns a bulk call.
    pub(super) fn bulk(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Long, is_repeatable: true }
    }

    /// Returns a call that is not idempotent.
    pub(super) fn once(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Short, is_repeatable: false }
    }
}
