//! Sweeping the working tier: what has expired goes, also if nobody asks for it.

use crate::engine::inner::Inner;

use super::report::UpkeepReport;

impl Inner {
    /// Drops expired notes, if the last time was long enough ago.
    pub(crate) fn sweep_notes(&self, report: &mut UpkeepReport) {
        let now = self.clock.now();
        let expired = {
            let mut swept = self.swept.lock();
            // A sweep in the future is one before the clock was set back.
            if *swept <= now && now.since(*swept) < self.working.sweep_every() {
                return;
            }
            *swept = now;
            self.working.sweep(now)
        };
        report.expired += expired;
        self.tell_expired(None, expired);
    }
}
