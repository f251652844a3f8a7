//! Ends one call of many early, as networks, crashes and callers in a hurry do.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use memory_core::{Cause, Error, Result, Transience};
use tokio::sync::{Notify, Semaphore};

/// How a call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It fails before the store has done anything, with a fault that may pass.
    Fails,
    /// The store does it, and the answer is lost: the caller sees a fault that may pass.
    LosesItsAnswer,
    /// Its caller goes away before the store is asked.
    IsDroppedBefore,
    /// Its caller goes away when the store has done it.
    IsDroppedAfter,
}

/// Ends the n-th call of all stores that it stands around. What goes away does so by [`Cut::give_up`].
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
    /// Ends the `nth` call from now on, counted from 1.
    pub fn arm(&self, nth: u64, ending: Ending) {
        self.set(Some((nth, None, ending)));
    }

    /// Ends the next call of this name.
    pub fn arm_at(&self, call: &'static str, ending: Ending) {
        self.set(Some((1, Some(call), ending)));
    }

    /// Ends the `nth` call of this name from now on, counted from 1.
    pub fn arm_at_nth(&self, nth: u64, call: &'static str, ending: Ending) {
        self.set(Some((nth, Some(call), ending)));
    }

    /// Lets all calls come to their end.
    pub fn disarm(&self) {
        self.set(None);
    }

    /// Waits until a call has been set aside.
    pub async fn reached(&self) {
        self.struck.notified().await;
    }

    /// Lets a call go on that was set aside, in whatever task it is by now.
    pub fn resume(&self) {
        self.resumed.add_permits(1);
    }

    /// Returns the answer of `call`; none if it is dropped where the cut says so.
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
