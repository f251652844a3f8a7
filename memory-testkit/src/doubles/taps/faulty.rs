//! A tap that lets the n-th call fail.

use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::{Cause, Error, Result, Transience};

use super::Tap;

/// When a failing call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before it has done anything.
    Before,
    /// After it has been carried out: the answer is lost.
    LostAnswer,
}

/// Lets one call fail with a transient error, or all calls from one on.
///
/// A test of every point of failure counts `nth` up until [`Faulty::has_failed`] says that there was no such call.
#[derive(Debug)]
pub struct Faulty {
    call: Option<&'static str>,
    nth: u64,
    when: When,
    lasting: bool,
    seen: AtomicU64,
}

impl Faulty {
    /// Fails the `nth` call, counted from 1.
    pub fn at(nth: u64, when: When) -> Self {
        Self { call: None, nth, when, lasting: false, seen: AtomicU64::new(0) }
    }

    /// Counts only calls of this name.
    #[must_use]
    pub fn of(mut self, call: &'static str) -> Self {
        self.call = Some(call);
        self
    }

    /// Lets every later call fail, too.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Returns whether a call has failed.
    pub fn has_failed(&self) -> bool {
        self.seen.load(Ordering::SeqCst) >= self.nth
    }

    fn verdict(&self, number: u64) -> Result<()> {
        let fails = number == self.nth || (self.lasting && number > self.nth);
        if !fails {
            return Ok(());
        }
        let transience = Transience::Transient { after: None };
        let source = Cause::new("a fault was ordered");
        Err(Error::Backend { backend: "faulty", doing: "answer", transience, source })
    }

    fn counts(&self, call: &'static str, when: When) -> bool {
        self.when == when && self.call.is_none_or(|counted| counted == call)
    }
}

impl Tap for Faulty {
    fn enter(&self, call: &'static str) -> Result<()> {
        if !self.counts(call, When::Before) {
            return Ok(());
        }
        self.verdict(self.seen.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn leave(&self, call: &'static str, _: usize) -> Result<()> {
        if !self.counts(call, When::LostAnswer) {
            return Ok(());
        }
        self.verdict(self.seen.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fails_the_nth_call_of_a_name_before_or_after_it() {
        let faulty = Faulty::at(2, When::Before).of("put");
        assert!(faulty.enter("get").is_ok() && faulty.enter("put").is_ok() && !faulty.has_failed());
        assert!(faulty.enter("put").is_err_and(|error| error.is_retryable()));
        assert!(faulty.has_failed() && faulty.enter("put").is_ok() && faulty.leave("put", 0).is_ok());
        let lost = Faulty::at(1, When::LostAnswer).lasting();
        assert!(lost.enter("put").is_ok());
        assert!(lost.leave("put", 1).is_err() && lost.leave("get", 1).is_err());
    }
}
