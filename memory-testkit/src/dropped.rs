//! Drops calls at a random moment.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::generate::Random;

/// Lets a call run for a random while and then drops it: after a number of polls, or after some microseconds.
///
/// Returns the answer if it came before that.
pub(crate) async fn give_up<T>(random: &mut Random, call: impl Future<Output = T>) -> Option<T> {
    if random.chance(1, 2) {
        let polls = random.below(4);
        return after_polls(polls, call).await;
    }
    let patience = Duration::from_micros(random.below(3_000) as u64);
    tokio::time::timeout(patience, call).await.ok()
}

async fn after_polls<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        call.as_mut().poll(context).map(Some)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn gives_up_after_so_many_polls() {
        assert_eq!(after_polls(0, async { 1 }).await, None);
        assert_eq!(after_polls(1, async { 1 }).await, Some(1));
        let twice = || async {
            tokio::task::yield_now().await;
            1
        };
        assert_eq!(after_polls(1, twice()).await, None);
        assert_eq!(after_polls(2, twice()).await, Some(1));
    }
}
