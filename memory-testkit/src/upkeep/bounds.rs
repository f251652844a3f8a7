//! What neither large numbers nor wrong clocks do to notes: whatever they say, everything is indexed, and upkeep ends.

use memory_core::number::LARGEST;
use memory_core::store::upkeep::{LONGEST_WAIT, Outcome};
use memory_core::{Clock as _, Epoch, Error, Seq};

use super::keeper::{Follower, Keeper};
use crate::check::{Scene, equal};
use crate::{Bed, Chat, Records};

scenarios!(CHAT: Chat, RECORDS: Records = [
    a_settlement_through_the_largest_number_is_a_settlement,
    a_retry_beyond_the_longest_wait_is_due_at_once,
    what_was_put_off_by_a_wrong_clock_comes_behind_what_is_due,
    refuses_to_erase_below_an_epoch_that_none_can_follow,
]);

async fn a_settlement_through_the_largest_number_is_a_settlement<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    for through in [LARGEST, u64::MAX >> 1, u64::MAX] {
        follower.write(&["a"]).await?;
        let note = follower.note("a").await?;
        follower.settle(&note, Outcome::Done { through: Seq(through) }).await?;
        equal(follower.due(0).await?, [])?;
    }
    Ok(())
}

async fn a_retry_beyond_the_longest_wait_is_due_at_once<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    let (a, b) = (follower.note("a").await?, follower.note("b").await?);
    // It fails while the clock is a year ahead, and is not due then.
    let (right, wait) = (follower.clock.now(), LONGEST_WAIT.as_secs() as i64);
    follower.clock.advance(std::time::Duration::from_secs(365 * 86_400));
    follower.retry(&a, wait).await?;
    follower.settle(&b, Outcome::Done { through: b.upto }).await?;
    equal(follower.due(0).await?, [])?;
    follower.clock.set(right);
    let again = follower.note("a").await?;
    equal((again.attempts, again.upto), (1, a.upto))?;
    follower.retry(&again, wait).await?;
    equal(follower.due(0).await?, [])?;
    equal(follower.due(wait).await?.len(), 1)
}

async fn what_was_put_off_by_a_wrong_clock_comes_behind_what_is_due<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    follower.retry(&follower.note("a").await?, 365 * 86_400).await?;
    follower.retry(&follower.note("b").await?, 0).await?;
    equal(follower.targets().await?, [S::target("c")?, S::target("b")?, S::target("a")?])?;
    let first = follower.store.upkeep().pending(&follower.index, follower.clock.now(), 2).await?;
    equal(first.into_iter().map(|note| note.target).collect::<Vec<_>>(), [S::target("c")?, S::target("b")?])
}

async fn refuses_to_erase_below_an_epoch_that_none_can_follow<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a"]).await?;
    for below in [LARGEST + 1, u64::MAX >> 1, u64::MAX] {
        fails!(follower.store.erase(&follower.scope, Epoch(below)).await, Error::Invalid { .. });
    }
    check!(follower.store.holds(&follower.scope, "a").await?, "a refused erasure has erased");
    equal(follower.store.upkeep().epoch(&follower.scope).await?, Epoch(0))
}
