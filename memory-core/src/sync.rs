//! The lock behind the board, the overlay and the working tier. Tests of this crate can play it in schedules that they choose.

#[cfg(test)]
mod played;

#[cfg(test)]
pub(crate) use played::{Mutex, MutexGuard, play};
#[cfg(not(test))]
pub(crate) use std::sync::{Mutex, MutexGuard};
