//! How long after its deadline a call ends while its server stands still: the calls of every store, many at once, each through a
//! guard with a deadline of half a second.
//!
//! `cargo bench -p memory --bench stopped --all-features -- [CALLS] [MILLISECONDS]`: 1,000 calls of each backend at least that its
//! guard lets through, and the deadline. It starts the servers in containers, one after the other, and ends with an error if fewer
//! than 999 of 1,000 calls of a backend ended within 50 ms after the deadline, or one of them took more than a second longer.

mod calls;
mod open;
mod tally;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use memory::Stores;
use memory::layer::{Guard, GuardPolicy, Guarded};
use memory::store::time::{Clock, Stopwatch, SystemClock};
use memory_testkit::bench::{Outcome, alone, numbers, say};
use memory_testkit::services::Service;
use tokio::time::{sleep, timeout};

use calls::Call;
use open::BACKENDS;
use tally::Tally;

/// How many owners make each call at the same time.
const OWNERS: usize = 8;

/// How long a call may take while the server is there, and how soon it answers once it is back.
const THERE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    alone(|| async { tokio::spawn(run()).await? })
}

async fn run() -> Outcome<()> {
    let [least, deadline] = numbers([1_000, 500]);
    let deadline = Duration::from_millis(deadline as u64);
    say(&format!("servers that stand still, a deadline of {deadline:?}"));
    say("backend   calls  within 50 ms  longest excess ms  endings");
    let mut missed = Vec::new();
    for (service, open) in BACKENDS {
        let tally = stopped(service(), open, least, deadline).await?;
        missed.extend(tally.judge(service().name()));
    }
    if missed.is_empty() { Ok(()) } else { Err(missed.join("; ").into()) }
}

/// Makes at least so many calls of a server that stands still.
async fn stopped(service: Service, open: open::Open, least: usize, deadline: Duration) -> Outcome<Tally> {
    let name = service.name();
    let server = service.own(move |url| open::probe(open, url)).await?.start().await?;
    let stores = open(server.url().to_owned()).await?;
    let unhurried = GuardPolicy::default().with_deadline(THERE).with_bulk_deadline(THERE);
    for call in calls::of(&guarded(&stores, &unhurried)) {
        for owner in 0..OWNERS {
            call.make(owner)?.await.map_err(|error| format!("{name}: {}: {}", call.name, error.with_causes()))?;
        }
    }
    server.stop().await?;
    let (mut tally, mut timers) = (Tally::new(deadline), Tally::new(deadline));
    let policy = GuardPolicy::default().with_deadline(deadline).with_bulk_deadline(deadline);
    for round in 0.. {
        if tally.count() >= least {
            break;
        }
        // A guard that has seen nothing yet lets as many calls through as may run at once. Every other one does not repeat
        // them: they take all of their time.
        let policy = if round % 2 == 0 { policy.clone() } else { policy.clone().with_retries(0) };
        at_once(&calls::of(&guarded(&stores, &policy)), deadline, &mut tally, &mut timers).await?;
    }
    server.cont().await?;
    let back = timeout(THERE, answers(&stores)).await.map_err(|_| format!("{name} does not answer again"))?;
    tally.report(name);
    timers.report("(timers)");
    say(&format!("{name} on {}, answers again after {} ms", server.origin(), back.as_millis()));
    server.remove().await?;
    Ok(tally)
}

/// Puts a new guard before each store.
fn guarded(stores: &Stores, policy: &GuardPolicy) -> Stores {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut guarded = stores.clone().guarded(policy, &clock);
    // A memory guards its cache itself.
    guarded.cache = guarded.cache.map(|cache| {
        let guard = Guard::new(cache.backend(), policy.clone(), Arc::clone(&clock));
        Arc::new(Guarded::new(cache, guard)) as _
    });
    guarded
}

/// Makes every call for every owner at the same time; beside them run as many timers that do nothing but wait.
async fn at_once(calls: &[Call], deadline: Duration, tally: &mut Tally, timers: &mut Tally) -> Outcome<()> {
    let (mut made, mut waited) = (Vec::new(), Vec::new());
    for call in calls {
        for owner in 0..OWNERS {
            let call = call.make(owner)?;
            made.push(tokio::spawn(async move {
                let watch = Stopwatch::start();
                let answer = call.await;
                (answer, watch.elapsed())
            }));
        }
        waited.push(tokio::spawn(async move {
            let watch = Stopwatch::start();
            sleep(deadline).await;
            watch.elapsed()
        }));
    }
    for call in made {
        let (answer, took) = call.await?;
        tally.note(&answer, took);
    }
    for timer in waited {
        timers.note(&Ok(()), timer.await?);
    }
    Ok(())
}

/// Returns how long all stores took until they answered again.
async fn answers(stores: &Stores) -> Duration {
    let watch = Stopwatch::start();
    for (_, store) in stores.parts() {
        while store.ping().await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    }
    watch.elapsed()
}
