//! What a server said of itself within the last minute.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::sync::Lock;
use crate::time::{Clock, Timestamp};

/// How old a setting of a server may be that an answer tells or relies on.
pub const RECENT: Duration = Duration::from_secs(60);

/// Something that a server said of itself and may say otherwise later, such as how durable its writes are.
#[derive(Debug)]
pub struct Recent<T> {
    clock: Arc<dyn Clock>,
    said: Lock<Said<T>>,
}

#[derive(Debug)]
struct Said<T> {
    value: T,
    /// None if it is in doubt.
    at: Option<Timestamp>,
}

impl<T: Clone> Recent<T> {
    /// Returns what a server has just said.
    pub fn new(value: T, clock: Arc<dyn Clock>) -> Self {
        let at = Some(clock.now());
        Self { clock, said: Lock::new(Said { value, at }) }
    }

    /// Returns what it said last, however long ago.
    pub fn last(&self) -> T {
        self.said.lock().value.clone()
    }

    /// Returns what it said, if that is less than [`RECENT`] ago and not in doubt; else what it says to `ask` now.
    ///
    /// Callers who find it too old at the same time all ask: none waits for another.
    ///
    /// # Errors
    /// Those of `ask`.
    pub async fn get<F>(&self, ask: impl FnOnce() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let now = self.clock.now();
        {
            let said = self.said.lock();
            // A clock that was set back tells nothing of how long ago that was.
            if said.at.is_some_and(|at| at <= now && now.since(at) < RECENT) {
                return Ok(said.value.clone());
            }
        }
        self.renew(ask).await
    }

    /// Returns what the server says to `ask` now.
    ///
    /// # Errors
    /// Those of `ask`.
    pub async fn renew<F>(&self, ask: impl FnOnce() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let at = Some(self.clock.now());
        let value = ask().await?;
        *self.said.lock() = Said { value: value.clone(), at };
        Ok(value)
    }

    /// Puts it in doubt: the connection broke, so that another server may answer from now on.
    pub fn doubt(&self) {
        self.said.lock().at = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use crate::error::Error;

    use super::*;

    #[derive(Debug, Default)]
    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::SeqCst))
        }
    }

    /// Asks for a value; a server that is asked says 2.
    async fn get(recent: &Recent<u8>) -> u8 {
        recent.get(|| async { Ok(2) }).await.unwrap()
    }

    #[tokio::test]
    async fn a_value_is_asked_for_again_before_it_is_a_minute_old() {
        let clock = Arc::new(Hand::default());
        for (micros, told) in [(0, 1), (59_999_999, 1), (60_000_000, 2), (-1, 2)] {
            clock.0.store(0, Ordering::SeqCst);
            let recent = Recent::new(1, clock.clone());
            clock.0.store(micros, Ordering::SeqCst);
            assert_eq!((get(&recent).await, recent.last()), (told, told), "{micros} microseconds later");
        }
    }

    #[tokio::test]
    async fn a_value_in_doubt_is_asked_for_again_until_there_is_an_answer() {
        let recent = Recent::new(1, Arc::new(Hand::default()));
        recent.doubt();
        assert!(recent.get(|| async { Err(Error::Overloaded) }).await.is_err());
        assert_eq!((recent.last(), get(&recent).await), (1, 2));
        assert_eq!(recent.get(|| async { Ok(3) }).await.unwrap(), 2);
        assert_eq!(recent.renew(|| async { Ok(3) }).await.unwrap(), 3);
        assert_eq!(get(&recent).await, 3);
    }
}
