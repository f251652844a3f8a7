//! The circuit breaker: a state machine over values, with the time as an argument.

use std::collections::VecDeque;
use std::time::Duration;

use crate::scope::Scope;
use crate::time::Timestamp;

/// How many of the latest answers are kept. If half of them failed, the circuit opens too.
const RECENT: usize = 20;
/// How long the first probe waits. Each failed probe doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What a call tells about the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failure,
    /// It exceeded its time limit, perhaps because of what its owner asked.
    Late,
    /// Nothing: the call was invalid, or was dropped.
    Neither,
}

/// The permission to make one call, with the generation of the circuit that gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Admission {
    generation: u64,
}

/// A recent answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Good,
    Failed,
    /// A call for this owner was late.
    Late(Scope),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CircuitState {
    /// Calls are let through.
    Closed,
    /// Calls are refused until `wait` has passed since.
    Open { since: Timestamp },
    /// One call is under way to see whether the backend is back.
    Probing,
}

/// Opens after `most` failures in a row, or 10 among the last 20 answers. Then it lets one probe through after 1 s, 2 s, … 30 s.
///
/// Late calls of one owner count as one failure: the latest.
#[derive(Debug)]
pub(super) struct Breaker {
    /// Failures in a row that open the circuit.
    most: u32,
    state: CircuitState,
    /// Rises with each change of state, so that the answer to a call from an older state is ignored.
    generation: u64,
    /// The latest answers, the newest last.
    recent: VecDeque<Answer>,
    wait: Duration,
    /// The owner of the last probe, if that was late. For this owner the next probe waits twice as long, to leave it to others.
    probed: Option<Scope>,
}

impl Breaker {
    /// Returns a closed circuit that `most` failures in a row open.
    pub(super) fn new(most: u32) -> Self {
        let recent = VecDeque::new();
        Self { most, state: CircuitState::Closed, generation: 0, recent, wait: FIRST_WAIT, probed: None }
    }

    /// Returns how long a call for `owner` would be refused from now; none if it would be let through.
    pub(super) fn refuses(&self, now: Timestamp, owner: Option<&Scope>) -> Option<Duration> {
        match self.state {
            CircuitState::Closed => None,
            // The probe may end at any moment. Who would wait as long as after its failure comes late if it succeeds.
            CircuitState::Probing => Some(FIRST_WAIT),
            CircuitState::Open { since } => {
                let is_for_others = owner.is_some() && self.probed.as_ref() == owner;
                let wait = if is_for_others { self.wait * 2 } else { self.wait };
                // A clock that was set back must not keep the circuit open.
                let passed = if now < since { wait } else { now.since(since) };
                let left = wait.saturating_sub(passed);
                (!left.is_zero()).then_some(left)
            }
        }
    }

    /// Lets a call for `owner` through, or returns how long to wait. The outcome of an admitted call must be recorded.
    pub(super) fn admit(&mut self, now: Timestamp, owner: Option<&Scope>) -> Result<Admission, Duration> {
        if let Some(wait) = self.refuses(now, owner) {
            return Err(wait);
        }
        if self.state != CircuitState::Closed {
            self.change(CircuitState::Probing);
        }
        Ok(Admission { generation: self.generation })
    }

    /// Records the outcome of an admitted call for `owner`.
    pub(super) fn record(&mut self, now: Timestamp, admission: Admission, outcome: Outcome, owner: Option<&Scope>) {
        if admission.generation != self.generation {
            return;
        }
        let answer = match (outcome, owner) {
            (Outcome::Success, _) => Some(Answer::Good),
            (Outcome::Late, Some(owner)) => Some(Answer::Late(owner.clone())),
            (Outcome::Failure | Outcome::Late, _) => Some(Answer::Failed),
            (Outcome::Neither, _) => None,
        };
        match (self.state, answer) {
            (CircuitState::Closed, Some(answer)) => {
                let failed = answer != Answer::Good;
                self.note(answer);
                if failed && self.is_tripped() {
                    self.change(CircuitState::Open { since: now });
                }
            }
            (CircuitState::Probing, Some(Answer::Good)) => {
                *self = Self { generation: self.generation + 1, ..Self::new(self.most) };
            }
            (CircuitState::Probing, Some(failed)) => {
                self.wait = (self.wait * 2).min(LONGEST_WAIT);
                self.probed = if let Answer::Late(owner) = failed { Some(owner) } else { None };
                self.change(CircuitState::Open { since: now });
            }
            // The probe told nothing, so the next call is a probe too.
            (CircuitState::Probing, None) => {
                let since = Timestamp(now.0.saturating_sub(i64::try_from(self.wait.as_micros()).unwrap_or(i64::MAX)));
                self.change(CircuitState::Open { since });
            }
            (CircuitState::Closed, None) | (CircuitState::Open { .. }, _) => {}
        }
    }

    fn note(&mut self, answer: Answer) {
        if matches!(answer, Answer::Late(_)) {
            self.recent.retain(|earlier| *earlier != answer);
        }
        self.recent.push_back(answer);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn is_tripped(&self) -> bool {
        let is_bad = |answer: &&Answer| **answer != Answer::Good;
        let in_a_row = self.recent.iter().rev().take_while(is_bad).count();
        let is_full = self.recent.len() == RECENT;
        in_a_row >= self.most as usize || (is_full && self.recent.iter().filter(is_bad).count() * 2 >= RECENT)
    }

    fn change(&mut self, state: CircuitState) {
        self.state = state;
        self.generation += 1;
    }
}

#[cfg(test)]
mod tests;
