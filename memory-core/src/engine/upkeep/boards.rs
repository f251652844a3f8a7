//! Sweeping boards: expired entries go, and what an erasure left on a board that was away.

use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::scope::Scope;
use crate::time::Timestamp;

use super::report::UpkeepReport;

/// How many boards may fail in one pass until it visits no further one.
const FAILURES: usize = 3;

impl Inner {
    /// Visits the boards that are due: those that this process used for the first time or whose entries expire, and those of
    /// owners that it has erased. A board that fails is visited again by the next pass, after the others. When several have failed,
    /// the others wait for the next pass too: boards that are away hold up no index.
    pub(crate) async fn sweep_boards(&self, report: &mut UpkeepReport) {
        let (now, mut failures) = (self.clock.now(), 0);
        for scope in self.boards.take_due(now) {
            if failures == FAILURES || self.turn.is_ending() {
                self.boards.due(&scope, Timestamp(i64::MIN));
                continue;
            }
            match self.sweep_board(&scope).await {
                Ok(swept) => {
                    report.expired += swept;
                    self.tell_expired(Some(&scope), swept);
                }
                Err(error) => {
                    self.boards.due(&scope, now);
                    failures += 1;
                    // Being fenced is no failure: the owner is erased meanwhile.
                    if !matches!(error, Error::Fenced) {
                        report.fail(&error);
                    }
                }
            }
        }
    }

    /// Sweeps a board in the owner's present epoch, which also empties it of earlier ones.
    async fn sweep_board(&self, scope: &Scope) -> Result<u64> {
        let epoch = self.chat.upkeep().epoch(scope).await?;
        self.board.sweep(scope, epoch).await
    }
}
