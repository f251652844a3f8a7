//! Time in which the machine ran. A virtual machine may stop for many seconds; that breaks no promise of how long a call takes.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use memory_core::time::Stopwatch;

/// How often the time is noted.
const TICK: Duration = Duration::from_millis(20);

/// What counts of the time between two notes: in a longer one the machine stood still.
const MOST: Duration = Duration::from_millis(100);

/// The time in which the machine ran, noted by a thread for as long as the process lives.
static RAN: LazyLock<Mutex<Ran>> = LazyLock::new(|| {
    thread::spawn(|| {
        loop {
            thread::sleep(TICK);
            ran();
        }
    });
    Mutex::new(Ran { whole: Duration::ZERO, last: Stopwatch::start() })
});

/// Measures how long something takes, without the time in which the machine stood still. Tests check with it that a call keeps
/// its bound where the machine may stop while the call is under way.
#[derive(Clone, Copy, Debug)]
pub struct RunningWatch(Duration);

impl RunningWatch {
    /// Starts measuring.
    pub fn start() -> Self {
        Self(ran())
    }

    /// Returns the time since the start in which the machine ran.
    pub fn elapsed(&self) -> Duration {
        ran().saturating_sub(self.0)
    }
}

/// What was noted.
struct Ran {
    whole: Duration,
    last: Stopwatch,
}

/// Notes the time, and returns all in which the machine ran.
fn ran() -> Duration {
    let mut noted = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    let gap = noted.last.elapsed();
    noted.whole += counted(gap);
    noted.last = Stopwatch::start();
    noted.whole
}

/// Returns what counts of the time since the last note.
fn counted(gap: Duration) -> Duration {
    gap.min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_time_in_which_the_machine_ran_and_little_of_a_stop() {
        assert_eq!(counted(TICK), TICK);
        assert_eq!(counted(Duration::from_secs(20)), MOST);
    }

    #[test]
    fn goes_on_while_nobody_asks() {
        let (watch, running) = (Stopwatch::start(), RunningWatch::start());
        // Without the thread that notes the time, all of this would be one gap. A stop takes away one of the sleeps, or two.
        for _ in 0..5 {
            thread::sleep(5 * MOST);
        }
        let counted = running.elapsed();
        assert!(counted > 6 * MOST && counted <= watch.elapsed(), "{counted:?} of {:?}", watch.elapsed());
    }
}
