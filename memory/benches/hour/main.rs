//! Whether a memory behind a journal keeps its size: 10,000 conversations are written to at 80 % of the rate that it takes at its
//! best, for an hour, and read and searched, while its Postgres is away half of the time.
//!
//! `cargo bench -p memory --bench hour --all-features -- [MINUTES] [WARM-UP]`: 60, of which the first 10 are not judged. It starts
//! Postgres in a container, and ends with an error if memory grows by a mebibyte or more in ten minutes, or the queue exceeds
//! its bound. Continuous integration never runs it.

mod load;
mod outage;
mod sample;

use std::alloc::System;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cap::Cap;
use memory::store::Health;
use memory::store::time::Stopwatch;
use memory::{Memory, Settings};
use memory_testkit::bench::{Outcome, alone, numbers, say};
use memory_testkit::faults::Proxy;
use memory_testkit::services::{Server, Service};

use load::Load;
use outage::Outages;
use sample::Samples;

/// Counts what is allocated: where this stands still and the process grows, what was freed lies in pieces too small for others.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// How long the best rate is measured.
const AT_BEST: Duration = Duration::from_secs(20);

/// How long what waits in the end may take to reach the server.
const DRAINED: Duration = Duration::from_secs(600);

fn main() -> ExitCode {
    // In a task, as servers do: the thread that only waits for the runtime is slow to be woken.
    alone(|| async { tokio::spawn(run()).await? })
}

async fn run() -> Outcome<()> {
    let [minutes, warm_up] = numbers([60, 10]);
    let server = Service::postgres().own(probe).await?.start().await?;
    let proxy = Proxy::start(place(server.url())?.to_string()).await?;
    let folder = tempfile::tempdir()?;
    let url = proxy.in_place_of(server.url());
    let memory = Settings::new(url).with_journal(folder.path().join("journal.db")).open().await?.build().await?;
    let upkeep = memory.upkeep();
    say(&format!("{minutes} minutes, {warm_up} of them to warm up, Postgres {}", server.origin()));
    let judged = measure(&memory, &server, &proxy, minutes, warm_up).await;
    upkeep.stop().await;
    memory.close().await?;
    server.remove().await?;
    judged
}

async fn measure(memory: &Memory, server: &Server, proxy: &Proxy, minutes: usize, warm_up: usize) -> Outcome<()> {
    let load = Arc::new(Load::new(memory.clone()));
    load.begin_sessions().await?;
    let best = load.at_best(AT_BEST).await?;
    let rate = best * 0.8;
    say(&format!("at its best {best:.0} appends a second are acknowledged; {rate:.0} are offered"));
    let calls = load.offer(rate);
    let outages = Outages::default();
    let mut samples = Samples::new(memory, &load, &outages);
    tokio::select! {
        ended = outages.alternate(server, proxy) => ended?,
        () = samples.take(minutes) => {}
    }
    load.stop();
    calls.join_all().await;
    outages.end(server, proxy).await?;
    let watch = Stopwatch::start();
    let left = memory.flush(DRAINED).await;
    say(&format!("with the server back, {left} messages wait after {:.0} s", watch.elapsed().as_secs_f64()));
    load.report();
    samples.judge(warm_up)
}

/// Returns the host and port of a URL.
fn place(url: &str) -> Outcome<SocketAddr> {
    let (_, behind) = url.rsplit_once('@').ok_or("the URL of the server names nobody")?;
    Ok(behind.split('/').next().unwrap_or(behind).parse()?)
}

async fn probe(url: String) -> memory::Result<Health> {
    Settings::new(url).without_embedder().connect().await?.chat()?.store().ping().await
}
