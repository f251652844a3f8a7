//! Messages that the primary refused for good: kept apart, and revived at the end of the queue.

use super::build::{EVER, batch, ids, numbers, push, queued, revived};
use memory_core::store::chat::{Append, Fence};
use memory_core::{Epoch, SessionId};

use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    a_rejected_message_leaves_the_queue_and_keeps_its_reason,
    rejecting_what_is_gone_changes_nothing,
    a_revived_message_stands_at_the_end,
    reviving_what_is_not_rejected_changes_nothing,
    a_page_of_rejected_messages_is_no_longer_than_asked,
    a_revived_message_can_be_rejected_again,
    a_revived_message_carries_the_fence_it_is_given,
    a_page_of_one_owners_rejected_messages_holds_nothing_of_others,
    discarding_removes_rejected_messages_and_no_others,
    counting_counts_the_rejected_messages_of_one_owner_or_of_all,
]);

async fn discarding_removes_rejected_messages_and_no_others(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..3).await?;
    let all = numbers(&queued(&bed.store).await?);
    for number in all.iter().take(2) {
        bed.store.reject(*number, "no").await?;
    }
    // The same message again, which waits.
    let again = push(&bed.store, &ada, [0]).await?;
    let discarded =
        [all.first().copied().unwrap_or_default(), all.last().copied().unwrap_or_default(), again, u64::MAX];
    equal(bed.store.discard(&discarded).await?, 1)?;
    equal(bed.store.discard(&discarded).await?, 0)?;
    equal(bed.store.discard(&[]).await?, 0)?;
    equal(ids(&queued(&bed.store).await?), [2, 0])?;
    let rejected = bed.store.rejected(None, 9).await?;
    equal(ids(&rejected.into_iter().map(|rejection| rejection.queued).collect::<Vec<_>>()), [1])
}

async fn a_rejected_message_leaves_the_queue_and_keeps_its_reason(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..3).await?;
    let before = queued(&bed.store).await?;
    let middle = before.get(1).ok_or("nothing is queued")?;
    bed.store.reject(middle.number, "the id is taken").await?;
    equal(ids(&queued(&bed.store).await?), [0, 2])?;
    let rejected = bed.store.rejected(None, 9).await?;
    equal(rejected.iter().map(|rejection| rejection.why.as_str()).collect::<Vec<_>>(), ["the id is taken"])?;
    equal(rejected.first().map(|rejection| &rejection.queued), Some(middle))
}

async fn rejecting_what_is_gone_changes_nothing(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    let number = push(&bed.store, &ada, [0]).await?;
    push(&bed.store, &ada, [1]).await?;
    for _ in 0..2 {
        bed.store.reject(number, "no").await?;
    }
    equal(bed.store.rejected(None, 9).await?.len(), 1)?;
    equal(ids(&queued(&bed.store).await?), [1])
}

async fn a_revived_message_stands_at_the_end(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..4).await?;
    let before = numbers(&queued(&bed.store).await?);
    for number in before.iter().take(2) {
        bed.store.reject(*number, "no").await?;
    }
    bed.store.revive(&revived(before.get(..1).unwrap_or_default())).await?;
    let after = queued(&bed.store).await?;
    equal(ids(&after), [2, 3, 0])?;
    let (last, highest) = (numbers(&after).last().copied(), before.last().copied());
    check!(last > highest, "the revived message has the number {last:?} after {highest:?}");
    let rejected = bed.store.rejected(None, 9).await?;
    equal(ids(&rejected.into_iter().map(|rejection| rejection.queued).collect::<Vec<_>>()), [1])
}

async fn reviving_what_is_not_rejected_changes_nothing(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..3).await?;
    let all = numbers(&queued(&bed.store).await?);
    bed.store.revive(&revived(&all)).await?;
    bed.store.revive(&[]).await?;
    bed.store.revive(&revived(&[u64::MAX])).await?;
    equal(ids(&queued(&bed.store).await?), [0, 1, 2])?;
    equal(bed.store.rejected(None, 9).await?.len(), 0)
}

async fn a_page_of_rejected_messages_is_no_longer_than_asked(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..5).await?;
    for number in numbers(&queued(&bed.store).await?) {
        bed.store.reject(number, "no").await?;
    }
    for limit in [0, 1, 4, 5, 6] {
        equal(bed.store.rejected(None, limit).await?.len(), limit.min(5))?;
    }
    Ok(())
}

async fn a_revived_message_can_be_rejected_again(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, [7]).await?;
    for why in ["first", "second"] {
        for number in numbers(&queued(&bed.store).await?) {
            bed.store.reject(number, why).await?;
        }
        let rejected = bed.store.rejected(None, 9).await?;
        equal(rejected.iter().map(|rejection| rejection.why.as_str()).collect::<Vec<_>>(), [why])?;
        let numbers: Vec<u64> = rejected.iter().map(|rejection| rejection.queued.number).collect();
        bed.store.revive(&revived(&numbers)).await?;
        equal(ids(&queued(&bed.store).await?), [7])?;
    }
    bed.store.acknowledge(&numbers(&queued(&bed.store).await?)).await?;
    equal(queued(&bed.store).await?.len(), 0)
}

async fn a_revived_message_carries_the_fence_it_is_given(bed: Bed<Journals>) -> Scene {
    let (ada, session) = (bed.scope("ada")?, SessionId::new("s")?);
    let [old, now] = [1, 2].map(|epoch| Some(Fence { epoch: Epoch(epoch), generation: epoch }));
    let pushed = Append { fence: old, ..batch([1, 2]) };
    let last = bed.store.push(&ada, &session, &pushed).await?;
    for number in [last - 1, last] {
        bed.store.reject(number, "no").await?;
    }
    bed.store.revive(&[(last, None), (last - 1, now)]).await?;
    let fences: Vec<_> = queued(&bed.store).await?.into_iter().map(|queued| queued.fence).collect();
    equal(fences, [now, None])
}

async fn a_page_of_one_owners_rejected_messages_holds_nothing_of_others(bed: Bed<Journals>) -> Scene {
    let owners = [bed.scope("ada")?, bed.scope("ad")?, bed.scope("ada*")?];
    for (number, owner) in (0..).zip(&owners) {
        let number = push(&bed.store, owner, [number]).await?;
        bed.store.reject(number, "no").await?;
    }
    for owner in &owners {
        let found = bed.store.rejected(Some(owner), 9).await?;
        equal(found.into_iter().map(|found| found.queued.scope).collect::<Vec<_>>(), std::slice::from_ref(owner))?;
    }
    Ok(())
}

async fn counting_counts_the_rejected_messages_of_one_owner_or_of_all(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    equal(bed.store.count_rejected(None).await?, 0)?;
    push(&bed.store, &ada, 0..3).await?;
    push(&bed.store, &bob, 0..3).await?;
    let all = numbers(&queued(&bed.store).await?);
    for number in all.iter().skip(1).take(4) {
        bed.store.reject(*number, "no").await?;
    }
    equal(bed.store.count_rejected(None).await?, 4)?;
    equal([bed.store.count_rejected(Some(&ada)).await?, bed.store.count_rejected(Some(&bob)).await?], [2, 2])?;
    bed.store.revive(&revived(all.get(1..2).unwrap_or_default())).await?;
    equal(bed.store.discard(all.get(2..3).unwrap_or_default()).await?, 1)?;
    equal(bed.store.count_rejected(None).await?, 2)?;
    equal([bed.store.count_rejected(Some(&ada)).await?, bed.store.count_rejected(Some(&bob)).await?], [0, 2])?;
    equal(bed.store.erase(&bob, None, EVER).await?, 3)?;
    equal(bed.store.count_rejected(None).await?, 0)
}
