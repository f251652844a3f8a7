//! The lock of upkeep: one pass at a time, and it ends when the memory closes.

use std::future::Future;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard, watch};
use tokio::time::timeout;

use crate::error::{Cause, Error, Result, Transience};

/// How long a pass may take to stop, once it was told to end at once.
const AT_ONCE: Duration = Duration::from_secs(1);

/// When the pass under way is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    GoOn,
    /// After its present step.
    EndSoon,
    /// In the middle of its step. What it did stays; what is left stays noted.
    EndNow,
}

/// Lets one upkeep pass of this process run at a time, and ends it.
#[derive(Debug)]
pub(crate) struct Turn {
    lock: Mutex<()>,
    wish: watch::Sender<Wish>,
}

/// A guard: while it is held, no pass works.
#[derive(Debug)]
pub(crate) struct Ended<'a> {
    turn: &'a Turn,
    /// None if the pass under way has not stopped in time.
    _lock: Option<MutexGuard<'a, ()>>,
}

impl Default for Turn {
    fn default() -> Self {
        Self { lock: Mutex::default(), wish: watch::Sender::new(Wish::GoOn) }
    }
}

impl Turn {
    /// Runs a pass as soon as no other runs.
    ///
    /// # Errors
    /// Those of the pass; `Backend` if it was told to end at once.
    pub(crate) async fn take<T>(&self, pass: impl Future<Output = Result<T>>) -> Result<T> {
        let _lock = self.lock.lock().await;
        let mut wish = self.wish.subscribe();
        tokio::select! {
            biased;
            _ = wish.wait_for(|wish| *wish == Wish::EndNow) => Err(Error::Backend {
                backend: "upkeep",
                doing: "end its pass before the memory closed",
                transience: Transience::Transient { after: None },
                source: Cause::new("one of its steps takes too long"),
            }),
            done = pass => done,
        }
    }

    /// Returns whether the pass under way is to end after its present step.
    pub(crate) fn is_ending(&self) -> bool {
        *self.wish.borrow() != Wish::GoOn
    }

    /// Ends the pass under way after its present step, or after `patience` in the middle of the step.
    pub(crate) async fn end(&self, patience: Duration) -> Ended<'_> {
        let mut ended = Ended { turn: self, _lock: None };
        for (wish, patience) in [(Wish::EndSoon, patience), (Wish::EndNow, AT_ONCE)] {
            self.wish.send_replace(wish);
            ended._lock = timeout(patience, self.lock.lock()).await.ok();
            if ended._lock.is_some() {
                break;
            }
        }
        ended
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.turn.wish.send_replace(Wish::GoOn);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_pass_ends_after_its_step_and_another_may_follow() {
        let turn = Arc::new(Turn::default());
        let here = Arc::clone(&turn);
        let pass = tokio::spawn(async move {
            let steps = async {
                let mut steps = 0;
                while !here.is_ending() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    steps += 1;
                }
                Ok(steps)
            };
            here.take(steps).await
        });
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        drop(turn.end(PATIENCE).await);
        assert_eq!(pass.await.unwrap().unwrap(), 3);
        assert!(!turn.is_ending());
        assert_eq!(turn.take(async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_that_hangs_is_ended_and_one_that_nobody_polls_is_not_waited_for() {
        let turn = Arc::new(Turn::default());
        let here = Arc::clone(&turn);
        let pass = tokio::spawn(async move { here.take(pending::<Result<()>>()).await });
        tokio::task::yield_now().await;
        assert!(turn.end(PATIENCE).await._lock.is_some());
        assert!(pass.await.unwrap().is_err_and(|error| error.is_retryable()));

        let mut unpolled = Box::pin(turn.take(pending::<Result<()>>()));
        assert!(unpolled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(turn.end(PATIENCE).await._lock.is_none());
    }
}
