//! Refreshes that calls share: a refresh takes the server as long for one write as for many.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use crate::error::Fault;

/// The answer to a refresh.
type Answer = std::result::Result<(), Fault>;

/// The refreshes of an index, one at a time.
#[derive(Debug)]
pub(crate) struct Refreshes {
    /// How many have begun.
    begun: AtomicU64,
    /// The number of the last one that ended, and its answer.
    last: Mutex<(u64, Answer)>,
}

impl Default for Refreshes {
    fn default() -> Self {
        Self { begun: AtomicU64::new(0), last: Mutex::new((0, Ok(()))) }
    }
}

impl Refreshes {
    /// Refreshes by `ask`, or waits for a refresh that began after this call. One that is under way may not show what was written
    /// just before.
    pub(crate) async fn share(&self, ask: impl Future<Output = Answer>) -> Answer {
        let before = self.begun.load(Ordering::SeqCst);
        let mut last = self.last.lock().await;
        if last.0 > before {
            return last.1.clone();
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let answer = ask.await;
        *last = (number, answer.clone());
        answer
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    /// Makes ten calls at once, whose refreshes give these answers, and returns how many refreshes there were.
    async fn shared(answer: Answer) -> u64 {
        let (refreshes, asked) = (Refreshes::default(), AtomicU64::new(0));
        let ask = || async {
            asked.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            answer.clone()
        };
        let answers = join_all((0..10).map(|_| refreshes.share(ask()))).await;
        assert!(answers.iter().all(|told| *told == answer), "{answers:?}");
        assert_eq!(refreshes.share(ask()).await, answer);
        asked.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn calls_that_come_while_a_refresh_runs_share_the_next_one() {
        // The first, one for the nine that came while it ran, and one for who came behind them.
        assert_eq!(shared(Ok(())).await, 3);
        assert_eq!(shared(Err(Fault::TimedOut)).await, 3);
    }
}
