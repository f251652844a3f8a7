//! Holds a call up after the store has done it, until a test has done something meanwhile.

use std::sync::{Condvar, Mutex};

use memory_core::Result;
use memory_testkit::doubles::Tap;
use tokio::sync::Semaphore;

/// A gate behind one kind of call. Blocks the thread of the call, so a test needs several.
#[derive(Debug)]
pub(crate) struct Gate {
    call: &'static str,
    is_shut: Mutex<bool>,
    opened: Condvar,
    reached: Semaphore,
}

impl Gate {
    pub(crate) fn of(call: &'static str) -> Self {
        Self { call, is_shut: Mutex::new(false), opened: Condvar::new(), reached: Semaphore::new(0) }
    }

    pub(crate) fn shut(&self) {
        *self.is_shut.lock().unwrap() = true;
    }

    pub(crate) fn open(&self) {
        *self.is_shut.lock().unwrap() = false;
        self.opened.notify_all();
    }

    /// Waits until so many calls stand before the gate.
    pub(crate) async fn reached(&self, calls: u32) {
        self.reached.acquire_many(calls).await.unwrap().forget();
    }
}

impl Tap for Gate {
    fn enter(&self, _: &'static str) -> Result<()> {
        Ok(())
    }

    fn leave(&self, call: &'static str, _: usize) -> Result<()> {
        let mut is_shut = self.is_shut.lock().unwrap();
        if call == self.call && *is_shut {
            self.reached.add_permits(1);
            while *is_shut {
                is_shut = self.opened.wait(is_shut).unwrap();
            }
        }
        Ok(())
    }
}
