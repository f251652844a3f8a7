//! A guard against token counters that panic: the call that counts fails, and nothing else does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::message::Message;
use crate::model::{TokenCounter, panicked};
use crate::window::HeuristicCounter;

/// The token counter of one call. If the caller's counter panics, the default one continues, so that the code in between
/// runs to its end, and then the call fails.
#[derive(Debug)]
pub(super) struct Careful {
    inner: Arc<dyn TokenCounter>,
    has_panicked: AtomicBool,
}

impl Careful {
    pub(super) fn new(inner: &Arc<dyn TokenCounter>) -> Self {
        Self { inner: Arc::clone(inner), has_panicked: AtomicBool::new(false) }
    }

    /// Returns `found`, unless the counter has panicked.
    ///
    /// # Errors
    /// `Backend` if the counter has panicked.
    pub(super) fn verdict<T>(&self, found: Result<T>) -> Result<T> {
        if self.has_panicked.load(Ordering::Relaxed) { Err(panicked("counter", "count tokens")) } else { found }
    }

    fn or<'a, T>(&'a self, count: impl FnOnce(&'a dyn TokenCounter) -> T, instead: impl FnOnce() -> T) -> T {
        catch_unwind(AssertUnwindSafe(|| count(self.inner.as_ref()))).unwrap_or_else(|_| {
            self.has_panicked.store(true, Ordering::Relaxed);
            instead()
        })
    }
}

impl TokenCounter for Careful {
    fn name(&self) -> &str {
        self.or(|counter| counter.name(), || "")
    }

    fn count(&self, message: &Message) -> u64 {
        self.or(|counter| counter.count(message), || HeuristicCounter.count(message))
    }

    fn count_text(&self, text: &str) -> u64 {
        self.or(|counter| counter.count_text(text), || HeuristicCounter.count_text(text))
    }
}
