//! A lock for tests: of the standard library, or of shuttle if it is made while shuttle plays schedules.
//!
//! Shuttle runs the threads of a play one at a time. At each lock it decides by chance which of them goes on.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError};

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, Runner};

/// The stack of a thread of a play, in bytes. What a search keeps there does not fit into shuttle's default.
const STACK: usize = 512 << 10;

thread_local! {
    static IS_PLAY: Cell<bool> = const { Cell::new(false) };
}

/// Plays `act` in so many schedules.
///
/// # Panics
/// If a thread of any play panics, or if all threads of a play wait for each other.
pub(crate) fn play(schedules: usize, act: impl Fn() + Send + Sync + 'static) {
    /// Ends the play, also if it panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_PLAY.set(false);
        }
    }
    IS_PLAY.set(true);
    let _end = End;
    let mut config = Config::default();
    config.stack_size = STACK;
    Runner::new(RandomScheduler::new(schedules), config).run(act);
}

#[derive(Debug)]
pub(crate) enum Mutex<T> {
    Standard(std::sync::Mutex<T>),
    Played(shuttle::sync::Mutex<T>),
}

pub(crate) enum MutexGuard<'a, T> {
    Standard(std::sync::MutexGuard<'a, T>),
    Played(shuttle::sync::MutexGuard<'a, T>),
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        match IS_PLAY.get() {
            true => Self::Played(shuttle::sync::Mutex::new(value)),
            false => Self::Standard(std::sync::Mutex::new(value)),
        }
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match self {
            Self::Standard(lock) => lock
                .lock()
                .map(MutexGuard::Standard)
                .map_err(|poisoned| PoisonError::new(MutexGuard::Standard(poisoned.into_inner()))),
            Self::Played(lock) => lock
                .lock()
                .map(MutexGuard::Played)
                .map_err(|poisoned| PoisonError::new(MutexGuard::Played(poisoned.into_inner()))),
        }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Standard(guard) => guard,
            Self::Played(guard) => guard,
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match self {
            Self::Standard(guard) => guard,
            Self::Played(guard) => guard,
        }
    }
}
