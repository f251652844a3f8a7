//! When what is queued goes to the primary.

use std::time::Duration;

/// When messages that wait in the journal go to the primary: whichever comes first of a count, a size and an age; and whenever
/// somebody asks for it ([`Session::flush`](crate::engine::Session::flush)).
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::layer::WriteBehindPolicy;
///
/// let policy = WriteBehindPolicy::default().with_batch(50).with_age(Duration::from_secs(1));
/// assert_eq!((policy.batch, policy.bytes), (50, 1 << 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteBehindPolicy {
    /// How many messages of a session may wait. Default 20.
    pub batch: usize,
    /// How many bytes of a session's messages may wait. Default 1 MiB.
    pub bytes: u64,
    /// How long a message may wait. Default 5 s.
    pub age: Duration,
}

impl Default for WriteBehindPolicy {
    fn default() -> Self {
        Self { batch: 20, bytes: 1 << 20, age: Duration::from_secs(5) }
    }
}

impl WriteBehindPolicy {
    /// Sets how many messages of a session may wait; at least 1.
    #[must_use]
    pub fn with_batch(mut self, messages: usize) -> Self {
        self.batch = messages.max(1);
        self
    }

    /// Sets how many bytes of a session's messages may wait.
    #[must_use]
    pub fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets how long a message may wait.
    #[must_use]
    pub fn with_age(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }
}
