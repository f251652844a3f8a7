//! The circuit breaker: a state machine over values, with the time as an argument.

use std::time::Duration;

use crate::time::Timestamp;

/// Answers that are looked back on; half of them failed opens the circuit too.
const RECENT: u32 = 20;
/// How long the first probe waits; doubled after each probe that fails.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How a call ended, as far as it tells about the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failure,
    /// It tells nothing: the call was wrong, or was dropped.
    Neither,
}

/// The right to make one call, with the state of the circuit that it was given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    generation: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Calls are made.
    Closed,
    /// Calls are refused until `wait` has passed since.
    Open { since: Timestamp },
    /// One call is under way to see whether the backend is back.
    Probing,
}

/// Opens after some failures in a row, usually 5, or 10 among the last 20 answers, then lets one probe through after 1 s, 2 s, … 30 s.
#[derive(Debug)]
pub(super) struct Breaker {
    /// Failures in a row that open the circuit.
    most: u32,
    state: State,
    /// Rises with each change of state, so that an answer to an older state changes nothing.
    generation: u64,
    /// The latest answers, the newest in the lowest bit; a failure is a 1.
    recent: u32,
    answers: u32,
    in_a_row: u32,
    wait: Duration,
}

impl Breaker {
    /// Returns a closed circuit that `most` failures in a row open.
    pub(super) fn new(most: u32) -> Self {
        Self { most, state: State::Closed, generation: 0, recent: 0, answers: 0, in_a_row: 0, wait: FIRST_WAIT }
    }

    /// Returns why a call would be refused now: how long until it is worth asking again.
    pub(super) fn refuses(&self, now: Timestamp) -> Option<Duration> {
        match self.state {
            State::Closed => None,
            State::Probing => Some(self.wait),
            State::Open { since } => {
                // A clock that was set back must not keep the circuit open.
                let passed = if now < since { self.wait } else { now.since(since) };
                let left = self.wait.saturating_sub(passed);
                (!left.is_zero()).then_some(left)
            }
        }
    }

    /// Lets a call through, or says how long until it is worth asking again. What comes of it has to be recorded.
    pub(super) fn admit(&mut self, now: Timestamp) -> Result<Admission, Duration> {
        if let Some(wait) = self.refuses(now) {
            return Err(wait);
        }
        if self.state != State::Closed {
            self.change(State::Probing);
        }
        Ok(Admission { generation: self.generation })
    }

    /// Takes note of how an admitted call ended.
    pub(super) fn record(&mut self, now: Timestamp, admission: Admission, outcome: Outcome) {
        if admission.generation != self.generation {
            return;
        }
        match (self.state, outcome) {
            (State::Closed, Outcome::Success) => self.note(false),
            (State::Closed, Outcome::Failure) => {
                self.note(true);
                if self.is_tripped() {
                    self.change(State::Open { since: now });
                }
            }
            (State::Probing, Outcome::Success) => {
                *self = Self { generation: self.generation + 1, ..Self::new(self.most) };
            }
            (State::Probing, Outcome::Failure) => {
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
                self.change(State::Open { since: now });
            }
            // The probe told nothing: the next call is one too.
            (State::Probing, Outcome::Neither) => {
                let since = Timestamp(now.0.saturating_sub(i64::try_from(self.wait.as_micros()).unwrap_or(i64::MAX)));
                self.change(State::Open { since });
            }
            (State::Closed, Outcome::Neither) | (State::Open { .. }, _) => {}
        }
    }

    fn note(&mut self, failed: bool) {
        self.recent = (self.recent << 1 | u32::from(failed)) & ((1 << RECENT) - 1);
        self.answers = (self.answers + 1).min(RECENT);
        self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
    }

    fn is_tripped(&self) -> bool {
        self.in_a_row >= self.most || (self.answers == RECENT && self.recent.count_ones() * 2 >= RECENT)
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.generation += 1;
    }
}

#[cfg(test)]
mod tests;
