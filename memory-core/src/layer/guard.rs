//! A guard before a backend: a deadline, retries, a time limit for each attempt, a circuit breaker, and a bound on concurrent
//! calls.
//!
//! One [`Guard`] watches one backend; a [`Guarded`] store asks it before every call. Retries happen at one layer only: a
//! guard inside another never retries. There is no hedging, which sends a second read before the first has answered: it pays
//! if one of many replicas is slow, and no backend here reads from replicas.

mod breaker;
mod budget;
mod circuit;
mod policy;
mod stores;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use crate::error::{Cause, Error, Result, Transience};
use crate::figures;
use crate::scope::Scope;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::truth::Truth;
use crate::sync::Lock;
use crate::time::{Clock, LONGEST};

use breaker::Outcome;
use budget::{Budget, Dice};
use circuit::{Circuit, Pass};
pub use policy::GuardPolicy;
use policy::{Call, Patience};

tokio::task_local! {
    static CALLER: Caller;
}

/// What the caller tells a guard.
#[derive(Clone, Copy, Debug, Default)]
struct Caller {
    /// The caller's deadline.
    until: Option<Instant>,
    /// Whether an outer guard already retries.
    is_guarded: bool,
}

impl Caller {
    fn current() -> Self {
        CALLER.try_with(|caller| *caller).unwrap_or_default()
    }
}

/// Runs `call` with a deadline: every guard in it gives up after `limit`, or sooner if its own policy says so.
///
/// Limits nest: the shortest counts. They do not reach into tasks that the call spawns.
pub async fn within<F: Future>(limit: Duration, call: F) -> F::Output {
    let caller = Caller::current();
    let until = from_now(limit);
    let until = caller.until.map_or(until, |outer| outer.min(until));
    CALLER.scope(Caller { until: Some(until), ..caller }, call).await
}

/// Returns the time so long from now, or ten years from now: no clock counts for ever.
fn from_now(limit: Duration) -> Instant {
    Instant::now() + limit.min(LONGEST)
}

/// Watches one backend: its latest answers, and the calls under way.
#[derive(Debug)]
pub struct Guard {
    backend: &'static str,
    policy: GuardPolicy,
    clock: Arc<dyn Clock>,
    room: Semaphore,
    waiting: AtomicUsize,
    state: Lock<GuardState>,
}

#[derive(Debug)]
struct GuardState {
    circuit: Circuit,
    budget: Budget,
    dice: Dice,
}

/// A store behind a [`Guard`]. Implements every trait that the store does.
#[derive(Debug)]
pub struct Guarded<S: ?Sized> {
    inner: Arc<S>,
    guard: Arc<Guard>,
}

impl<S: ?Sized> Clone for Guarded<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner), guard: Arc::clone(&self.guard) }
    }
}

impl<S: ?Sized> Guarded<S> {
    /// Puts `guard` before `inner`. Stores of one server may share a guard.
    pub fn new(inner: Arc<S>, guard: Arc<Guard>) -> Self {
        Self { inner, guard }
    }

    /// Returns the guard.
    pub fn guard(&self) -> &Arc<Guard> {
        &self.guard
    }
}

impl Guard {
    /// Puts the guard before a truth store and its upkeep.
    pub fn chat(self: &Arc<Self>, truth: Truth<dyn ChatStore>) -> Truth<dyn ChatStore> {
        let store = |inner| Arc::new(Guarded::new(inner, Arc::clone(self))) as Arc<dyn ChatStore>;
        truth.layered(store).layered_upkeep(|inner| Arc::new(Guarded::new(inner, Arc::clone(self))))
    }

    /// Puts the guard before a truth store and its upkeep.
    pub fn records(self: &Arc<Self>, truth: Truth<dyn RecordStore>) -> Truth<dyn RecordStore> {
        let store = |inner| Arc::new(Guarded::new(inner, Arc::clone(self))) as Arc<dyn RecordStore>;
        truth.layered(store).layered_upkeep(|inner| Arc::new(Guarded::new(inner, Arc::clone(self))))
    }
}

/// How one attempt ended.
enum Attempt<T> {
    /// The backend answered, or exceeded the time limit.
    Made(Result<T>),
    /// The guard refused the call; retrying at once cannot help.
    Refused(Error),
}

impl Guard {
    /// Returns a guard for the backend called `backend`. Its circuit breaker uses `clock`.
    pub fn new(backend: &'static str, policy: GuardPolicy, clock: Arc<dyn Clock>) -> Arc<Self> {
        let room = Semaphore::new(policy.concurrency.clamp(1, Semaphore::MAX_PERMITS));
        let state = GuardState {
            circuit: Circuit::new(policy.failures),
            budget: Budget::default(),
            dice: Dice::at(clock.now()),
        };
        Arc::new(Self { backend, policy, clock, room, waiting: AtomicUsize::new(0), state: Lock::new(state) })
    }

    /// Returns whether the circuit is open: the backend has failed, and calls are refused until a probe succeeds. Even with a
    /// closed circuit, calls for one owner may be refused, because earlier calls for that owner were late.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use memory_core::SystemClock;
    /// use memory_core::layer::{Guard, GuardPolicy};
    ///
    /// let guard = Guard::new("mine", GuardPolicy::default(), Arc::new(SystemClock));
    /// assert!(!guard.is_open());
    /// ```
    pub fn is_open(&self) -> bool {
        self.state.lock().circuit.refuses(self.clock.now(), None).is_some()
    }

    /// Makes a call for `owner`, or for no owner, and retries it if that may help and there is time. Dropping the future drops
    /// the attempt under way.
    async fn call<T, F>(&self, owner: Option<&Scope>, call: Call, mut make: impl FnMut() -> F + Send) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        let caller = Caller::current();
        let limit = match call.patience {
            Patience::Short => self.policy.deadline,
            Patience::Long => self.policy.bulk_deadline,
        };
        let until = from_now(limit);
        let until = caller.until.map_or(until, |outer| outer.min(until));
        let retries = if call.is_repeatable && !caller.is_guarded { self.policy.retries } else { 0 };
        self.state.lock().budget.deposit();
        for retry in 0..=retries {
            let now = Instant::now();
            let share = until.saturating_duration_since(now) / retries.saturating_sub(retry).saturating_add(1);
            let error = match self.attempt(owner, call.doing, now + share, &mut make).await {
                Attempt::Refused(error) => return Err(error),
                Attempt::Made(Err(error)) if error.is_retryable() && retry < retries => error,
                Attempt::Made(answer) => return answer,
            };
            let Some(wait) = self.wait(retry, &error, until) else { return Err(error) };
            figures::retry(self.backend);
            tokio::time::sleep(wait).await;
        }
        Err(self.late(call.doing))
    }

    async fn attempt<T, F>(
        &self,
        owner: Option<&Scope>,
        doing: &'static str,
        until: Instant,
        make: &mut impl FnMut() -> F,
    ) -> Attempt<T>
    where
        F: Future<Output = Result<T>> + Send,
    {
        if let Some(after) = self.state.lock().circuit.refuses(self.clock.now(), owner) {
            return Attempt::Refused(self.open(doing, after));
        }
        let Some(_permit) = self.enter(until).await else { return Attempt::Refused(Error::Overloaded) };
        let admitted = self.state.lock().circuit.admit(self.clock.now(), owner);
        let mut ticket = match admitted {
            Ok(pass) => Ticket { guard: self, owner, pass, outcome: Outcome::Neither },
            Err(after) => return Attempt::Refused(self.open(doing, after)),
        };
        let inside = Caller { until: Some(until), is_guarded: true };
        let answer = timeout_at(until, CALLER.scope(inside, make())).await;
        let answer = answer.unwrap_or_else(|_| Err(self.late(doing)));
        ticket.outcome = outcome(&answer);
        Attempt::Made(answer)
    }

    /// Waits for a permit to call; none if too many wait already, or if no permit came free in time.
    async fn enter(&self, until: Instant) -> Option<SemaphorePermit<'_>> {
        if let Ok(permit) = self.room.try_acquire() {
            return Some(permit);
        }
        let place = WaitingSlot::take(&self.waiting);
        if place.number >= self.policy.queue {
            return None;
        }
        timeout_at(until, self.room.acquire()).await.ok()?.ok()
    }

    /// Returns how long to wait before the next attempt; none if there is no time or the retry budget is spent.
    fn wait(&self, retry: u32, error: &Error, until: Instant) -> Option<Duration> {
        let mut state = self.state.lock();
        let wait = budget::backoff(retry, state.dice.roll()).max(error.retry_after());
        let in_time = Instant::now().checked_add(wait).is_some_and(|at| at < until);
        (in_time && state.budget.withdraw()).then_some(wait)
    }

    fn open(&self, doing: &'static str, after: Duration) -> Error {
        self.fault(doing, Transience::Transient { after: Some(after) }, Cause::new(Unasked))
    }

    fn late(&self, doing: &'static str) -> Error {
        self.fault(doing, Transience::Late, Cause::new(io::Error::from(io::ErrorKind::TimedOut)))
    }

    fn fault(&self, doing: &'static str, transience: Transience, source: Cause) -> Error {
        Error::Backend { backend: self.backend, doing, transience, source }
    }
}

/// Why a call did not reach its backend: the circuit is open.
#[derive(Debug, thiserror::Error)]
#[error("it failed lately, and is asked again only after a while")]
pub(super) struct Unasked;

/// Returns what an answer tells about the backend.
fn outcome<T>(answer: &Result<T>) -> Outcome {
    match answer {
        Ok(_) | Err(Error::Conflict | Error::IdConflict { .. } | Error::Fenced) => Outcome::Success,
        Err(Error::Backend { transience: Transience::Late, .. }) => Outcome::Late,
        Err(error) if error.is_retryable() => Outcome::Failure,
        // The call was invalid, or refused before it reached the backend.
        Err(_) => Outcome::Neither,
    }
}

/// Records how an admitted call ended, even if its future is dropped.
struct Ticket<'a> {
    guard: &'a Guard,
    owner: Option<&'a Scope>,
    pass: Pass,
    outcome: Outcome,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let now = self.guard.clock.now();
        self.guard.state.lock().circuit.record(now, self.owner, self.pass, self.outcome);
    }
}

/// A place among the waiting calls, given back on drop.
struct WaitingSlot<'a> {
    waiting: &'a AtomicUsize,
    number: usize,
}

impl<'a> WaitingSlot<'a> {
    fn take(waiting: &'a AtomicUsize) -> Self {
        Self { waiting, number: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for WaitingSlot<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
