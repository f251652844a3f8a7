//! Interrupts one chosen call, as a network fault, a crash or a dropped future does.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use memory_core::{Cause, Error, Result, Transience};
use tokio::sync::{Notify, Semaphore};

/// How a call is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It fails with a transient error before the store has done anything.
    Fails,
    /// The store carries it out, and the answer is lost: the caller gets a transient error.
    LosesItsAnswer,
    /// Its future is dropped before the store is called.
    IsDroppedBefore,
    /// Its future is dropped when the store has carried it out.
    IsDroppedAfter,
}

/// Interrupts the n-th call of all stores that share it. A future is dropped by [`Cut::give_up`].
#[derive(Debug)]
pub struct Cut {
    armed: Mutex<Option<(u64, Option<&'static str>, Ending)>>,
    struck: Notify,
    resumed: Semaphore,
}

impl Default for Cut {
    fn default() -> Self {
        Self { armed: Mutex::default(), struck: Notify::new(), resumed: Semaphore::new(0) }
    }
}

impl Cut {
    /// Interrupts the `nth` call from now on, counted from 1.
    pub fn arm(&self, nth: u64, ending: Ending) {
        self.set(Some((nth, None, ending)));
    }

    /// Interrupts the next call of this name.
    pub fn arm_at(&self, call: &'static str, ending: Ending) {
        self.set(Some((1, Some(call), ending)));
    }

    /// Interrupts the `nth` call of this name from now on, counted from 1.
    pub fn arm_at_nth(&self, nth: u64, call: &'static str, ending: Ending) {
        self.set(Some((nth, Some(call), ending)));
    }

    /// Interrupts no call any more.
    pub fn disarm(&self) {
        self.set(None);
    }

    /// Waits until a call has been paused.
    pub async fn reached(&self) {
        self.struck.notified().await;
    }

    /// Resumes the paused call, in whatever task it is by now.
    pub fn resume(&self) {
        self.resumed.add_permits(1);
    }

    /// Awaits `call` and returns its answer; none if the future was dropped at the chosen point.
    pub async fn give_up<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = call => Some(answer),
            () = self.reached() => None,
        }
    }

    /// Is passed before the store is asked.
    pub(super) async fn before(&self, call: &'static str) -> Result<()> {
        match self.strikes(call, [Ending::Fails, Ending::IsDroppedBefore]) {
            None => Ok(()),
            Some(Ending::Fails) => Err(fault()),
            Some(_) => self.set_aside().await,
        }
    }

    /// Is passed when the store has done the call.
    pub(super) async fn after(&self, call: &'static str) -> Result<()> {
        match self.strikes(call, [Ending::LosesItsAnswer, Ending::IsDroppedAfter]) {
            None => Ok(()),
            Some(Ending::LosesItsAnswer) => Err(fault()),
            Some(_) => self.set_aside().await,
        }
    }

    async fn set_aside(&self) -> Result<()> {
        self.struck.notify_one();
        if let Ok(permit) = self.resumed.acquire().await {
            permit.forget();
        }
        Ok(())
    }

    /// Counts a call at this place, and returns how it ends if it is the one.
    fn strikes(&self, call: &'static str, here: [Ending; 2]) -> Option<Ending> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, name, ending) = armed.as_mut()?;
        if !here.contains(ending) || name.is_some_and(|name| name != call) {
            return None;
        }
        let ending = *ending;
        *left = left.saturating_sub(1);
        if *left > 0 {
            return None;
        }
        *armed = None;
        Some(ending)
    }

    fn set(&self, armed: Option<(u64, Option<&'static str>, Ending)>) {
        *self.armed.lock().unwrap_or_else(PoisonError::into_inner) = armed;
    }
}

fn fault() -> Error {
    let transience = Transience::Transient { after: None };
    Error::Backend { backend: "cut", doing: "answer", transience, source: Cause::new("a fault was ordered") }
}
