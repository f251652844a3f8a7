//! How patient a guard is.

use std::time::Duration;

/// How long calls may take, how often they are tried, and how many are made at once.
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
    /// How long an ordinary call may take, all attempts and waits together. Default 6 s.
    ///
    /// The time left is shared out evenly among the attempts left.
    pub deadline: Duration,
    /// The same for calls that move much at once: erasures, restores, puts into indexes, sweeps. Default 60 s.
    pub bulk_deadline: Duration,
    /// How often a call that may be repeated is tried again. Default 2.
    ///
    /// Over many calls, at most one retry in ten calls is made.
    pub retries: u32,
    /// Failures in a row that open the circuit. Default 5.
    ///
    /// Half of the last 20 answers failed opens it too. Calls for one owner that were late count as one failure, and as many of
    /// them refuse this owner alone. While it is open, calls are refused at once, but for one probe
    /// after 1 s, then 2 s, up to 30 s.
    pub failures: u32,
    /// How many calls are under way at once. Default 32.
    pub concurrency: usize,
    /// How many more may wait for that; beyond it a call is `Overloaded` at once. Default 256.
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
    /// Returns the policy for a cache, where the primary answers too: half a second, no retry, and the first failure
    /// opens the circuit.
    pub fn cache() -> Self {
        let deadline = Duration::from_millis(500);
        Self { deadline, bulk_deadline: Duration::from_secs(10), retries: 0, failures: 1, ..Self::default() }
    }

    /// Sets how long an ordinary call may take.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how long a call may take that moves much at once.
    #[must_use]
    pub fn with_bulk_deadline(mut self, deadline: Duration) -> Self {
        self.bulk_deadline = deadline;
        self
    }

    /// Sets how often a call is tried again.
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

    /// Sets how many calls are under way at once, and how many more may wait.
    #[must_use]
    pub fn with_concurrency(mut self, concurrency: usize, queue: usize) -> Self {
        (self.concurrency, self.queue) = (concurrency, queue);
        self
    }
}

/// Which deadline a call has.
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
    /// Whether it may be tried again.
    pub(super) is_repeatable: bool,
}

impl Call {
    /// A call that answers soon.
    pub(super) fn quick(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Short, is_repeatable: true }
    }

    /// A call that moves much at once.
    pub(super) fn bulk(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Long, is_repeatable: true }
    }

    /// A call of which a repeat after a lost answer would show.
    pub(super) fn once(doing: &'static str) -> Self {
        Self { doing, patience: Patience::Short, is_repeatable: false }
    }
}
