//! Waiting for a database that is busy or away: an import of hours is not to end for a fault that passes.

use std::future::Future;
use std::time::Duration;

use memory_core::Result;
use tokio::time::{Instant, sleep};

/// How long a batch is tried again.
const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest wait, where the database names no longer one.
const WAIT: Duration = Duration::from_secs(1);

/// Makes a call, and makes it again while its error may pass, for half a minute; returns the last answer.
///
/// Calls of an import may be repeated: everything that is stored has an id.
pub(super) async fn patiently<T, F>(call: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    within(PATIENCE, WAIT, call).await
}

async fn within<T, F>(patience: Duration, least: Duration, mut call: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let until = Instant::now() + patience;
    loop {
        let error = match call().await {
            Err(error) if error.is_retryable() => error,
            answer => return answer,
        };
        let wait = error.retry_after().max(least);
        if Instant::now().checked_add(wait).is_none_or(|at| at > until) {
            return Err(error);
        }
        sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use memory_core::Error;

    use super::*;

    /// Longer than a busy machine keeps a test waiting.
    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);
    const SHORTEST: Duration = Duration::from_millis(1);

    /// Returns the answer to a call that fails so often with `error`, and how often it was made.
    async fn answer(patience: Duration, errors: u32, error: Error) -> (Result<()>, u32) {
        let calls = Cell::new(0);
        let call = || {
            calls.set(calls.get() + 1);
            std::future::ready(if calls.get() <= errors { Err(error.clone()) } else { Ok(()) })
        };
        (within(patience, SHORTEST, call).await, calls.get())
    }

    #[tokio::test]
    async fn what_may_pass_is_waited_for() {
        assert!(matches!(answer(LONG, 2, Error::Overloaded).await, (Ok(()), 3)));
    }

    #[tokio::test]
    async fn what_will_not_pass_is_told_at_once() {
        assert!(matches!(answer(LONG, 2, Error::Conflict).await, (Err(Error::Conflict), 1)));
    }

    #[tokio::test]
    async fn patience_ends() {
        let (answer, calls) = answer(SHORT, u32::MAX, Error::Overloaded).await;
        assert!(matches!(answer, Err(Error::Overloaded)) && calls > 1);
    }
}
