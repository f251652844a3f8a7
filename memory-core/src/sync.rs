//! The lock of this crate. Tests can play it in schedules that they choose.

#[cfg(test)]
mod played;

use std::fmt;
use std::sync::PoisonError;
#[cfg(not(test))]
use std::sync::{Mutex, MutexGuard};

#[cfg(test)]
pub(crate) use played::play;
#[cfg(test)]
use played::{Mutex, MutexGuard};

/// A lock that survives a panic of its holder, and whose `Debug` shows nothing of its content.
#[derive(Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(content: T) -> Self {
        Self(Mutex::new(content))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_lock_survives_a_panic_of_its_holder() {
        let lock = Lock::new(1);
        let holder = || {
            let mut held = lock.lock();
            *held += 1;
            panic!("the holder of a lock");
        };
        assert!(thread::scope(|scope| scope.spawn(holder).join()).is_err());
        assert_eq!(*lock.lock(), 2);
    }
}
