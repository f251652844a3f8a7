//! Times a call again and again, by the clock and by the processor.

use std::time::Duration;

use memory::Result;
use memory::store::time::Stopwatch;
use serde_json::{Value, json};

/// How long a run goes on at least.
const LEAST: Duration = Duration::from_millis(300);
/// Calls between two looks at the clock, which costs a little.
const STRIDE: usize = 8;

/// Calls until [`LEAST`] has passed; returns calls, seconds, and seconds of the processor.
pub(crate) async fn run(mut call: impl AsyncFnMut(usize) -> Result<()>) -> Result<Value> {
    let (before, watch) = (processor(), Stopwatch::start());
    let mut calls = 0;
    while watch.elapsed() < LEAST {
        for _ in 0..STRIDE {
            call(calls).await?;
            calls += 1;
        }
    }
    let (wall, spent) = (watch.elapsed(), processor().saturating_sub(before));
    Ok(json!({ "calls": calls, "wall": wall.as_secs_f64(), "cpu": spent.as_secs_f64() }))
}

/// Returns what the threads of this process have spent on a processor.
fn processor() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let spent = threads.flatten().filter_map(|thread| {
        let line = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        line.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}
