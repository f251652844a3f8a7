//! How long after their deadline calls ended.

use std::time::Duration;

use memory::Result;
use memory_testkit::bench::{Endings, say};

/// How long after its deadline a call may end, but for one in a thousand; and how long that one may.
const SOON: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(1);

/// How calls ended, and how long after their deadline. A call that its guard refuses at once is told among the endings, and counts
/// no further: it would end in time anyway.
#[derive(Debug)]
pub(crate) struct Tally {
    deadline: Duration,
    endings: Endings,
    soon: usize,
    longest: Duration,
}

impl Tally {
    pub(crate) fn new(deadline: Duration) -> Self {
        Self { deadline, endings: Endings::default(), soon: 0, longest: Duration::ZERO }
    }

    /// Counts a call.
    pub(crate) fn note(&mut self, answer: &Result<()>, took: Duration) {
        let (excess, before) = (took.saturating_sub(self.deadline), self.count());
        self.endings.note(answer);
        self.longest = self.longest.max(excess);
        self.soon += usize::from(excess <= SOON && self.count() > before);
    }

    /// Returns how many calls were not refused at once.
    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.endings.all() - self.endings.of(&["refused"])).unwrap_or(usize::MAX)
    }

    fn share(&self) -> f64 {
        self.soon as f64 / self.count().max(1) as f64
    }

    /// Writes a line.
    pub(crate) fn report(&self, name: &str) {
        let (count, share, longest) = (self.count(), 100.0 * self.share(), self.longest.as_secs_f64() * 1e3);
        say(&format!("{name:<9} {count:>5}  {share:>11.2}%  {longest:>17.1}  {}", self.endings));
    }

    /// Returns which goal was missed.
    pub(crate) fn judge(&self, name: &str) -> Option<String> {
        let (share, longest) = (self.share(), self.longest);
        (share < 0.999 || longest > LATEST)
            .then(|| format!("{name}: {:.2} % within {SOON:?}, the longest excess {longest:?}", 100.0 * share))
    }
}
