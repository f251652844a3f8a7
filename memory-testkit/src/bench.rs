//! Measures asynchronous calls for the benches of backends: the wall time of each, and the CPU time of all threads
//! together; finds the server; and generates what they put.

mod endings;
pub mod enlist;
pub mod forgetting;
mod server;
pub mod texts;
mod turns;
pub mod vectors;

use std::io::Write;
use std::time::Duration;

use memory_core::Result;
use memory_core::time::Stopwatch;

pub use endings::Endings;
pub use server::{Outcome, against, alone, numbers, told};
pub use turns::{Turn, Turns};

/// The times of some calls.
#[derive(Debug)]
pub struct Times {
    walls: Vec<Duration>,
    cpu: Duration,
}

impl Times {
    /// Calls `call` with the numbers from 0 to `count`, one after the other, and measures.
    ///
    /// # Errors
    /// The first error of a call.
    pub async fn of(count: usize, mut call: impl AsyncFnMut(usize) -> Result<()>) -> Result<Self> {
        let (mut walls, before) = (Vec::with_capacity(count), cpu());
        for number in 0..count {
            let watch = Stopwatch::start();
            call(number).await?;
            walls.push(watch.elapsed());
        }
        walls.sort();
        Ok(Self { walls, cpu: cpu().saturating_sub(before) })
    }

    /// Returns the median wall time.
    pub fn median(&self) -> Duration {
        self.walls.get(self.walls.len() / 2).copied().unwrap_or_default()
    }

    /// Writes a line: the median, the least and the greatest wall time, and the mean CPU time.
    pub fn report(&self, name: &str) {
        let at = |place: usize| self.walls.get(place).copied().unwrap_or_default().as_secs_f64() * 1e3;
        let (count, last) = (self.walls.len(), self.walls.len().saturating_sub(1));
        let mean = self.cpu.as_secs_f64() * 1e3 / count.max(1) as f64;
        let (median, least, greatest) = (at(count / 2), at(0), at(last));
        say(&format!("{name:<44} {median:>9.2} {least:>9.2} {greatest:>9.2} {mean:>9.2}   {count}"));
    }
}

/// Writes the heading of the lines of [`Times::report`].
pub fn heading() {
    say(&format!("{:<44} {:>9} {:>9} {:>9} {:>9}   calls", "ms", "median", "least", "greatest", "CPU"));
}

/// Writes a line.
pub fn say(line: &str) {
    // Without an output there is nobody to tell.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the time that the threads of this process have spent on a processor; zero where the system does not tell.
pub fn cpu() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let spent = threads.flatten().filter_map(|thread| {
        let line = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        line.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

/// Returns how many bytes of this process are in memory, and the most that ever were; zeros where the system does not tell.
pub fn resident() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or_default() << 10
    };
    (bytes("VmRSS:"), bytes("VmHWM:"))
}
