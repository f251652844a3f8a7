//! Erasing: an owner or one of its sessions, rejected messages included, and nobody else.

use memory_core::store::chat::{Append, Fence};
use memory_core::{Epoch, SessionId};

use super::build::{EVER, batch, ids, new, numbers, push, queued};
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    erasing_an_owner_takes_queued_and_rejected_messages,
    erasing_a_session_leaves_the_others,
    erasing_may_be_repeated,
    erasing_makes_room,
    erasing_below_a_fence_leaves_what_came_later,
    forgetting_takes_the_named_messages_alone,
]);

async fn erasing_an_owner_takes_queued_and_rejected_messages(bed: Bed<Journals>) -> Scene {
    let (ada, bob, alike) = (bed.scope("ada")?, bed.scope("ad")?, bed.scope("ada*")?);
    for (owner, first) in [(&ada, 0), (&bob, 10), (&alike, 20)] {
        push(&bed.store, owner, first..first + 3).await?;
    }
    for queued in queued(&bed.store).await?.into_iter().step_by(3) {
        bed.store.reject(queued.number, "no").await?;
    }
    equal(bed.store.erase(&ada, None, EVER).await?, 3)?;
    equal(ids(&queued(&bed.store).await?), [11, 12, 21, 22])?;
    let rejected = bed.store.rejected(None, 9).await?;
    equal(rejected.into_iter().map(|rejection| rejection.queued.scope).collect::<Vec<_>>(), [bob, alike])
}

async fn erasing_a_session_leaves_the_others(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let (first, other) = (SessionId::new("a")?, SessionId::new("a*")?);
    bed.store.push(&ada, &first, &batch([1, 2])).await?;
    bed.store.push(&ada, &other, &batch([3])).await?;
    bed.store.push(&bob, &first, &batch([4])).await?;
    let rejected = numbers(&queued(&bed.store).await?).into_iter().take(1).collect::<Vec<_>>();
    for number in rejected {
        bed.store.reject(number, "no").await?;
    }
    equal(bed.store.erase(&ada, Some(&first), EVER).await?, 2)?;
    equal(ids(&queued(&bed.store).await?), [3, 4])?;
    equal(bed.store.rejected(None, 9).await?.len(), 0)
}

async fn erasing_may_be_repeated(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    push(&bed.store, &ada, 0..3).await?;
    push(&bed.store, &bob, [9]).await?;
    for removed in [3, 0, 0] {
        equal(bed.store.erase(&ada, None, EVER).await?, removed)?;
        equal(ids(&queued(&bed.store).await?), [9])?;
    }
    equal(bed.store.erase(&bed.scope("nobody")?, None, EVER).await?, 0)
}

async fn erasing_makes_room(bed: Bed<Journals>) -> Scene {
    let (ada, bob, capacity) = (bed.scope("ada")?, bed.scope("bob")?, bed.setting.capacity as u64);
    let before = push(&bed.store, &ada, 0..capacity).await?;
    equal(bed.store.erase(&ada, None, EVER).await?, capacity)?;
    let after = push(&bed.store, &bob, 100..100 + capacity).await?;
    equal(queued(&bed.store).await?.len() as u64, capacity)?;
    check!(after >= before + capacity, "the number {after} follows {before}");
    Ok(())
}

async fn erasing_below_a_fence_leaves_what_came_later(bed: Bed<Journals>) -> Scene {
    let (ada, session, other) = (bed.scope("ada")?, SessionId::new("s")?, SessionId::new("t")?);
    let fence = |epoch, generation| Fence { epoch: Epoch(epoch), generation };
    let fences = [None, Some(fence(0, 7)), Some(fence(1, 0)), Some(fence(1, 1)), Some(fence(2, 0))];
    for (number, fence) in (0..).zip(fences) {
        bed.store.push(&ada, &session, &Append { fence, ..batch([number]) }).await?;
        bed.store.push(&ada, &other, &Append { fence, ..batch([10 + number]) }).await?;
    }
    equal(bed.store.erase(&ada, None, fence(1, 0)).await?, 4)?;
    equal(ids(&queued(&bed.store).await?), [2, 12, 3, 13, 4, 14])?;
    equal(bed.store.erase(&ada, Some(&other), fence(1, 1)).await?, 1)?;
    equal(ids(&queued(&bed.store).await?), [2, 3, 13, 4, 14])?;
    equal(bed.store.erase(&ada, None, EVER).await?, 5)
}

async fn forgetting_takes_the_named_messages_alone(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let id = |number| new(number).message.id;
    push(&bed.store, &ada, 0..4).await?;
    push(&bed.store, &bob, [0, 1]).await?;
    let second = numbers(&queued(&bed.store).await?).get(1).copied().ok_or("nothing is queued")?;
    bed.store.reject(second, "no").await?;
    equal(bed.store.forget(&ada, &[]).await?, 0)?;
    for forgotten in [3, 0] {
        equal(bed.store.forget(&ada, &[id(1), id(9), id(0), id(1), id(3)]).await?, forgotten)?;
        equal(ids(&queued(&bed.store).await?), [2, 0, 1])?;
        equal(bed.store.rejected(None, 9).await?.len(), 0)?;
    }
    Ok(())
}
