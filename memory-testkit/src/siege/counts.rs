//! Counts of what happened in a siege.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::sleep;

/// How often it is looked how far the siege is.
const PAUSE: Duration = Duration::from_millis(10);

/// What happened.
#[derive(Debug, Default)]
pub(super) struct SiegeCounts {
    pub(super) begun: AtomicUsize,
    pub(super) acknowledged: AtomicUsize,
    pub(super) complete: AtomicUsize,
    pub(super) kills: AtomicUsize,
    pub(super) faults: AtomicUsize,
    pub(super) kept: AtomicUsize,
    pub(super) gone: AtomicUsize,
}

impl SiegeCounts {
    /// Waits until so many more operations have begun: where everything is slow, faults are rare too.
    pub(super) async fn progress(&self, operations: usize) {
        let until = self.begun.load(Ordering::Relaxed) + operations;
        while self.begun.load(Ordering::Relaxed) < until {
            sleep(PAUSE).await;
        }
    }

    /// Returns whether nothing must be there at the end, or nothing must not: then half of the checks checked nothing.
    pub(super) fn shows_too_little(&self) -> bool {
        [&self.kept, &self.gone].iter().any(|count| count.load(Ordering::Relaxed) == 0)
    }

    pub(super) fn fault(&self) {
        self.faults.fetch_add(1, Ordering::Relaxed);
    }
}
