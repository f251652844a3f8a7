use std::sync::atomic::{AtomicI64, AtomicU32};

use super::*;
use crate::time::{Stopwatch, Timestamp};

#[derive(Debug, Default)]
struct Hand(AtomicI64);

impl Hand {
    fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_micros() as i64, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// A backend that is told how to answer, behind a guard.
struct Bench {
    clock: Arc<Hand>,
    guard: Arc<Guard>,
    calls: AtomicU32,
}

fn fault(transience: Transience) -> Error {
    Error::Backend { backend: "stub", doing: "answer", transience, source: Cause::new("ordered") }
}

fn transient() -> Error {
    fault(Transience::Transient { after: None })
}

impl Bench {
    fn new(policy: GuardPolicy) -> Self {
        let clock = Arc::new(Hand::default());
        Self { clock: clock.clone(), guard: Guard::new("stub", policy, clock), calls: AtomicU32::new(0) }
    }

    /// Makes a call; `answer` is given the number of the attempt, from 1.
    async fn make<F: Future<Output = Result<u32>> + Send>(
        &self,
        call: Call,
        answer: impl Fn(u32) -> F + Send + Sync,
    ) -> Result<u32> {
        self.guard.call(None, call, || answer(self.calls.fetch_add(1, Ordering::SeqCst) + 1)).await
    }

    async fn fail(&self) -> Error {
        self.make(Call::once("answer"), |_| async { Err(transient()) }).await.unwrap_err()
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

async fn hang<T>() -> Result<T> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn tries_again_twice_where_that_may_help() {
    let bench = Bench::new(GuardPolicy::default());
    let third = |n| async move { if n < 3 { Err(transient()) } else { Ok(n) } };
    assert_eq!(bench.make(Call::quick("answer"), third).await.unwrap(), 3);
    let bench = Bench::new(GuardPolicy::default());
    bench.make(Call::quick("answer"), |_| async { Err(transient()) }).await.unwrap_err();
    assert_eq!(bench.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn tries_once_where_a_repeat_shows_or_cannot_help() {
    let bench = Bench::new(GuardPolicy::default());
    bench.fail().await;
    assert_eq!(bench.calls(), 1);
    for error in [fault(Transience::Permanent), Error::Conflict, Error::invalid("no"), Error::Fenced] {
        let before = bench.calls();
        let error = &error;
        bench.make(Call::quick("answer"), |_| async { Err(error.clone()) }).await.unwrap_err();
        assert_eq!(bench.calls(), before + 1, "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_ends_at_its_deadline_and_each_attempt_gets_its_share() {
    let bench = Bench::new(GuardPolicy::default().with_deadline(Duration::from_secs(3)));
    let start = Instant::now();
    let error = bench.make(Call::quick("answer"), |_| hang()).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(bench.calls(), 3);
    let took = start.elapsed();
    assert!(took > Duration::from_millis(2_900) && took <= Duration::from_millis(3_005), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_callers_deadline_counts_where_it_is_shorter() {
    let bench = Bench::new(GuardPolicy::default());
    let start = Instant::now();
    let call = || bench.make(Call::bulk("answer"), |_| hang());
    within(Duration::from_millis(300), within(Duration::from_secs(9), call())).await.unwrap_err();
    assert!(start.elapsed() <= Duration::from_millis(305), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn times_without_end_end_no_process() {
    let bench = Bench::new(GuardPolicy::default().with_deadline(Duration::MAX));
    let error = bench
        .make(Call::quick("answer"), |_| async { Err(fault(Transience::Transient { after: Some(Duration::MAX) })) });
    within(Duration::MAX, error).await.unwrap_err();
    assert_eq!(bench.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_guard_inside_another_never_retries() {
    let (outer, inner) = (Bench::new(GuardPolicy::default()), Bench::new(GuardPolicy::default()));
    let call = || inner.make(Call::quick("answer"), |_| async { Err(transient()) });
    outer.make(Call::quick("answer"), |_| call()).await.unwrap_err();
    assert_eq!((outer.calls(), inner.calls()), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn waits_as_long_as_the_server_asks_and_gives_up_where_there_is_no_time() {
    let bench = Bench::new(GuardPolicy::default());
    let start = Instant::now();
    let later =
        |after| move |n| async move { if n == 1 { Err(fault(Transience::Transient { after })) } else { Ok(n) } };
    let wait = Duration::from_millis(1_500);
    bench.make(Call::quick("answer"), later(Some(wait))).await.unwrap();
    assert!(start.elapsed() >= wait);
    let bench = Bench::new(GuardPolicy::default());
    bench.make(Call::quick("answer"), later(Some(Duration::from_secs(60)))).await.unwrap_err();
    assert_eq!(bench.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_refuses_at_once_and_closes_after_a_probe() {
    let bench = Bench::new(GuardPolicy::default());
    for _ in 0..5 {
        bench.fail().await;
    }
    assert!(bench.guard.is_open());
    let start = Instant::now();
    let error = bench.make(Call::quick("answer"), |n| async move { Ok(n) }).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!((bench.calls(), start.elapsed()), (5, Duration::ZERO));
    bench.clock.advance(Duration::from_secs(1));
    bench.make(Call::quick("answer"), |n| async move { Ok(n) }).await.unwrap();
    assert!(!bench.guard.is_open());
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_leaves_room_for_the_next() {
    let bench = Bench::new(GuardPolicy::default());
    for _ in 0..5 {
        bench.fail().await;
    }
    bench.clock.advance(Duration::from_secs(1));
    let probe = bench.make(Call::quick("answer"), |_| hang());
    tokio::time::timeout(Duration::from_millis(10), probe).await.unwrap_err();
    bench.make(Call::quick("answer"), |n| async move { Ok(n) }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn makes_32_calls_at_once_lets_256_wait_and_refuses_the_rest_at_once() {
    let bench = Bench::new(GuardPolicy::default());
    let start = Instant::now();
    let calls = (0..300).map(|_| {
        bench.make(Call::quick("answer"), |n| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(n)
        })
    });
    let timed = calls.map(|call| async { (call.await, start.elapsed()) });
    let answers = futures_util::future::join_all(timed).await;
    let refused: Vec<_> = answers.iter().filter(|(answer, _)| matches!(answer, Err(Error::Overloaded))).collect();
    assert_eq!((refused.len(), bench.calls()), (12, 288));
    assert!(refused.iter().all(|(_, took)| took.is_zero()));
    assert!(!bench.guard.is_open(), "what the guard refuses says nothing about the backend");
    assert_eq!(bench.make(Call::quick("answer"), |n| async move { Ok(n) }).await.unwrap(), 289);
}

#[tokio::test(start_paused = true)]
async fn at_five_times_its_peak_it_serves_on_and_refuses_the_rest_within_five_milliseconds() {
    let (takes, policy) = (Duration::from_millis(10), GuardPolicy::default());
    // As many as run at once, a hundred times a second.
    let peak = u32::try_from(policy.concurrency).unwrap() * 100;
    let (bench, gap) = (Bench::new(policy), Duration::from_secs(1) / (5 * peak));
    let begun = Instant::now();
    let calls = (0..5 * peak).map(|number| {
        let bench = &bench;
        async move {
            tokio::time::sleep(gap * number).await;
            let (called, watch) = (Instant::now(), Stopwatch::start());
            let served = |n| async move {
                tokio::time::sleep(takes).await;
                Ok(n)
            };
            let answer = bench.make(Call::quick("answer"), served).await;
            (answer, called.elapsed(), watch.elapsed())
        }
    });
    let answers = futures_util::future::join_all(calls).await;
    let seconds = begun.elapsed().as_secs_f64();
    let refused: Vec<_> = answers.iter().filter(|(answer, ..)| matches!(answer, Err(Error::Overloaded))).collect();
    let served = answers.iter().filter(|(answer, ..)| answer.is_ok()).count();
    assert_eq!((served + refused.len(), refused.is_empty()), (answers.len(), false));
    assert!(served as f64 >= 0.8 * f64::from(peak) * seconds, "{served} in {seconds} s of {peak} a second");
    // By the clock of the test none waits for anything, and by that of the machine they take no longer on average.
    let most = Duration::from_millis(5);
    assert!(refused.iter().all(|(_, waited, _)| *waited <= most));
    let took: Duration = refused.iter().map(|(.., took)| *took).sum();
    assert!(took <= most * refused.len() as u32, "{took:?} for {} refusals", refused.len());
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_fails_often_gets_a_tenth_more_calls_at_the_most() {
    let bench = Bench::new(GuardPolicy::default());
    for _ in 0..1_000 {
        // Every third attempt fails, which does not open the circuit.
        let answer = |n| async move { if n % 3 == 0 { Err(transient()) } else { Ok(n) } };
        let _ = bench.make(Call::quick("answer"), answer).await;
    }
    assert!((1_050..=1_110).contains(&bench.calls()), "{} attempts", bench.calls());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_always_fails_is_repeated_as_often_as_its_policy_says_and_ten_times_at_the_most() {
    for (retries, attempts) in [(0, 1), (1, 2), (4, 5), (10, 11), (30, 11)] {
        let policy = GuardPolicy::default().with_deadline(Duration::from_secs(60)).with_failures(u32::MAX);
        let bench = Bench::new(policy.with_retries(retries));
        bench.make(Call::quick("answer"), |_| async { Err(transient()) }).await.unwrap_err();
        assert_eq!(bench.calls(), attempts, "{retries} retries");
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_many_retries_gives_many_calls_no_more_of_them() {
    let policy = GuardPolicy::default().with_deadline(Duration::from_secs(60)).with_failures(u32::MAX);
    let bench = Bench::new(policy.with_retries(30));
    for _ in 0..1_000 {
        // Nine in a row of twenty fail, which does not open the circuit.
        let answer = |n| async move { if n % 20 < 9 { Err(transient()) } else { Ok(n) } };
        let _ = bench.make(Call::quick("answer"), answer).await;
    }
    assert!((1_050..=1_110).contains(&bench.calls()), "{} attempts", bench.calls());
}
