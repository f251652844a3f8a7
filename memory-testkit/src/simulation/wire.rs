//! The wire between processes and stores: every call waits here until the scheduler decides what happens to it.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memory_core::{Cause, Error, Result, Transience};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

use crate::generate::Random;

/// A step of the scheduler takes so long.
const STEP: Duration = Duration::from_millis(1);

/// A call of a store, by the part and the method: `text`, `put`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Which store: `chat`, `records`, `chat upkeep`, `records upkeep`, `text`, `vectors` or `cache`.
    pub part: &'static str,
    /// The method.
    pub method: &'static str,
}

impl Call {
    fn is_write(self) -> bool {
        !matches!(self.method, "ping" | "close" | "read" | "get" | "sessions" | "scan" | "fence")
    }
}

/// Tells the caller what came of a call.
type Tell = Box<dyn FnOnce() + Send>;
/// Tells the caller that a call failed.
type Fail = Box<dyn FnOnce(Error) + Send>;
/// Returns whether the caller still waits for an answer.
type IsAwaited = Box<dyn Fn() -> bool + Send>;
/// Carries a call out, and returns what tells the caller.
type Run = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Tell> + Send>> + Send>;

/// What is on the wire: a request, or the answer to one.
enum Parcel {
    Request { run: Run, fail: Fail, is_awaited: IsAwaited },
    Answer(Tell),
}

/// A request or an answer on the wire, and when it is due.
struct InFlight {
    number: u64,
    call: Call,
    due: Instant,
    parcel: Parcel,
}

/// A call that is due, and what is going to happen to it.
pub(super) struct Delivery {
    item: InFlight,
    fate: CallFate,
}

impl Delivery {
    /// Returns whether it is a write that reaches truth when its caller waits for it no more. Until that is so, the cache may
    /// serve what was there before.
    pub(super) fn is_late_write(&self) -> bool {
        let InFlight { call, parcel, .. } = &self.item;
        let is_alone = matches!(parcel, Parcel::Request { is_awaited, .. } if !is_awaited());
        is_alone && call.is_write() && matches!(call.part, "chat" | "records")
    }
}

/// How often calls fail, in one play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weather {
    /// Faults in a thousand calls.
    pub(super) faults: usize,
    /// Kills in a thousand steps.
    pub(super) kills: usize,
    /// Whether the cache fails too. What it did not hear of other processes may see until it has expired there.
    pub(super) cache_fails: bool,
}

impl Weather {
    pub(super) const CALM: Self = Self { faults: 0, kills: 0, cache_fails: false };
}

struct WireState {
    items: Vec<InFlight>,
    random: Random,
    number: u64,
    weather: Weather,
    trace: Option<Vec<String>>,
    failure: Option<String>,
    /// The part that refuses every call, and until when.
    refusal: Option<(&'static str, Instant)>,
    /// The part of truth in which every write waits, and until when.
    lock: Option<(&'static str, Instant)>,
}

pub(super) struct Wire {
    state: Mutex<WireState>,
    arrived: Notify,
    may_be_late: fn(Call) -> bool,
}

/// The process that calls, until it is killed.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) name: Arc<str>,
    alive: Arc<AtomicBool>,
}

impl Caller {
    pub(super) fn new(name: String) -> Self {
        Self { name: name.into(), alive: Arc::new(AtomicBool::new(true)) }
    }

    pub(super) fn die(&self) {
        self.alive.store(false, Ordering::Relaxed);
    }

    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallFate {
    Passes,
    /// Waits for a while, perhaps longer than its caller.
    Waits(Duration),
    /// Fails before the store has done anything.
    Fails,
    /// Is refused, as all calls of its part are for a while.
    IsRefused,
    /// The store does it, and the caller sees a fault.
    LosesItsAnswer,
    /// The store does it, and the caller hears nothing.
    IsDoneInSilence,
    /// Never arrives.
    IsLost,
    /// The answer takes its time.
    IsAnsweredLate(Duration),
    /// Is done now, and once more later.
    IsRepeated(Duration),
}

impl Wire {
    pub(super) fn new(seed: u64, may_be_late: fn(Call) -> bool, is_traced: bool) -> Arc<Self> {
        let random = Random::new(seed ^ 0x5157_ae2d);
        let trace = is_traced.then(Vec::new);
        let state = WireState {
            items: Vec::new(),
            random,
            number: 0,
            weather: Weather::CALM,
            trace,
            failure: None,
            refusal: None,
            lock: None,
        };
        Arc::new(Self { state: Mutex::new(state), arrived: Notify::new(), may_be_late })
    }

    fn state(&self) -> MutexGuard<'_, WireState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, weather: Weather) {
        self.state().weather = weather;
    }

    /// Lets a part refuse every call for a while.
    pub(super) fn refuse(&self, part: &'static str, wait: Duration) {
        self.state().refusal = Some((part, Instant::now() + wait));
    }

    /// Returns whether a part still refuses every call.
    pub(super) fn is_refused(&self) -> bool {
        self.state().refusal.is_some_and(|(_, until)| Instant::now() < until)
    }

    /// Lets every write of a part of truth wait for a while, as for a transaction that somebody left open.
    pub(super) fn lock(&self, part: &'static str, wait: Duration) {
        self.state().lock = Some((part, Instant::now() + wait));
    }

    pub(super) fn note(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.state().trace {
            trace.push(line());
        }
    }

    /// Ends the play: something that must hold does not.
    pub(super) fn fail(&self, why: String) {
        self.state().failure.get_or_insert(why);
        self.arrived.notify_one();
    }

    pub(super) fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    pub(super) fn trace(&self) -> Vec<String> {
        self.state().trace.take().unwrap_or_default()
    }

    /// Sends a call and waits for its answer: for ever, if there is none or the caller was killed.
    pub(super) async fn send<T, F>(
        &self,
        caller: &Caller,
        call: Call,
        told: &(dyn Debug + Sync),
        make: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        if !caller.is_alive() {
            return std::future::pending().await;
        }
        let (sender, receiver) = oneshot::channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let (alive, waiting) = (Arc::clone(&caller.alive), Arc::clone(&sender));
        let is_awaited: IsAwaited = Box::new(move || {
            let sender = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            alive.load(Ordering::Relaxed) && sender.as_ref().is_some_and(|sender| !sender.is_closed())
        });
        let tell = move |answer: Result<T>| -> Tell {
            let sender = Arc::clone(&sender);
            Box::new(move || {
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
                // The caller may have gone.
                let _ = sender.map(|sender| sender.send(answer).is_ok());
            })
        };
        let told_again = tell.clone();
        let fail: Fail = Box::new(move |error| tell(Err(error))());
        let run: Run = Box::new(move || {
            let (call, tell) = (make(), told_again.clone());
            Box::pin(async move { tell(call.await) })
        });
        self.take_in(caller, call, told, Parcel::Request { run, fail, is_awaited });
        match receiver.await {
            Ok(answer) if caller.is_alive() => answer,
            _ => std::future::pending().await,
        }
    }

    fn take_in(&self, caller: &Caller, call: Call, told: &dyn Debug, parcel: Parcel) {
        let mut state = self.state();
        state.number += 1;
        let number = state.number;
        if let Some(trace) = &mut state.trace {
            let told: String = format!("{told:?}").chars().take(220).collect();
            trace.push(format!("#{number} {} {}.{} {told}", caller.name, call.part, call.method));
        }
        state.items.push(InFlight { number, call, due: Instant::now(), parcel });
        self.arrived.notify_one();
    }

    /// Lets everybody act until they wait, then chooses a call and decides what befalls it; waits for one if there is none.
    pub(super) async fn next(&self) -> Option<Delivery> {
        sleep(STEP).await;
        let next = self.choose();
        if next.is_none() {
            let due = self.state().items.iter().map(|item| item.due).min();
            let due = due.unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600));
            tokio::select! {
                biased;
                () = self.arrived.notified() => {}
                () = sleep_until(due) => {}
            }
        }
        next
    }

    /// Lets it befall the call. Returns whether a process is to be killed now, and a number that says which.
    pub(super) async fn step(&self, Delivery { item, fate }: Delivery) -> Option<usize> {
        self.befall(item, fate).await;
        let mut state = self.state();
        let kills = state.weather.kills;
        state.random.chance(kills, 1_000).then(|| state.random.below(1 << 16))
    }

    /// Returns whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.state().items.is_empty()
    }

    /// Takes one thing that is due, and says what befalls it.
    fn choose(&self) -> Option<Delivery> {
        let mut state = self.state();
        let now = Instant::now();
        let due: Vec<usize> = (0..state.items.len())
            .filter(|place| state.items.get(*place).is_some_and(|item| item.due <= now))
            .collect();
        let place = state.random.below(due.len());
        let item = state.items.remove(*due.get(place)?);
        let fate = match item.parcel {
            Parcel::Answer(_) => CallFate::Passes,
            Parcel::Request { .. } if state.refuses(item.call, now) => CallFate::IsRefused,
            Parcel::Request { .. } if item.call.part == "cache" && !state.weather.cache_fails => CallFate::Passes,
            Parcel::Request { .. } => match state.holds(item.call, now) {
                Some(wait) => CallFate::Waits(wait),
                None => state.fate((self.may_be_late)(item.call)),
            },
        };
        if fate != CallFate::Passes
            && let Some(trace) = &mut state.trace
        {
            trace.push(format!("    #{} {fate:?}", item.number));
        }
        Some(Delivery { item, fate })
    }

    async fn befall(&self, item: InFlight, fate: CallFate) {
        let InFlight { number, call, parcel, .. } = item;
        let later = |wait: Duration, parcel| InFlight { number, call, due: Instant::now() + wait, parcel };
        let (run, fail, is_awaited) = match parcel {
            Parcel::Answer(tell) => return tell(),
            Parcel::Request { run, fail, is_awaited } => (run, fail, is_awaited),
        };
        match fate {
            CallFate::IsLost => {}
            CallFate::Fails => fail(fault()),
            CallFate::IsRefused => fail(refusal()),
            CallFate::Waits(wait) => self.state().items.push(later(wait, Parcel::Request { run, fail, is_awaited })),
            CallFate::LosesItsAnswer => {
                drop(self.carry_out(number, &run).await);
                fail(fault());
            }
            CallFate::IsDoneInSilence => drop(self.carry_out(number, &run).await),
            CallFate::Passes => (self.carry_out(number, &run).await)(),
            CallFate::IsAnsweredLate(wait) => {
                let tell = self.carry_out(number, &run).await;
                self.state().items.push(later(wait, Parcel::Answer(tell)));
            }
            CallFate::IsRepeated(wait) => {
                (self.carry_out(number, &run).await)();
                self.state().items.push(later(wait, Parcel::Request { run, fail, is_awaited }));
            }
        }
    }

    async fn carry_out(&self, number: u64, run: &Run) -> Tell {
        self.note(|| format!("    #{number} done"));
        run().await
    }
}

impl WireState {
    fn refuses(&self, call: Call, now: Instant) -> bool {
        self.refusal.is_some_and(|(part, until)| part == call.part && now < until)
    }

    /// Returns how long a call waits for a lock, if it does.
    fn holds(&self, call: Call, now: Instant) -> Option<Duration> {
        let (part, until) = self.lock?;
        (part == call.part && call.is_write() && now < until).then(|| until - now)
    }

    fn fate(&mut self, may_be_late: bool) -> CallFate {
        let faults = self.weather.faults;
        if !self.random.chance(faults, 1_000) {
            return CallFate::Passes;
        }
        // Half of the waits are short beside every deadline.
        let longest = if self.random.chance(1, 2) { 500 } else { 90_000 };
        let wait = Duration::from_millis(1 + self.random.number() % longest);
        let short = wait.min(Duration::from_millis(500));
        match self.random.below(7) {
            0 => CallFate::Fails,
            1 => CallFate::LosesItsAnswer,
            2 => CallFate::IsDoneInSilence,
            3 => CallFate::IsLost,
            4 => CallFate::IsAnsweredLate(wait),
            5 if may_be_late => CallFate::IsRepeated(wait),
            _ => CallFate::Waits(if may_be_late { wait } else { short }),
        }
    }
}

fn refusal() -> Error {
    let source = Cause::new("401: the key has expired");
    Error::Backend { backend: "wire", doing: "answer", transience: Transience::Permanent, source }
}

fn fault() -> Error {
    let transience = Transience::Transient { after: None };
    Error::Backend { backend: "wire", doing: "answer", transience, source: Cause::new("the connection was cut") }
}
