//! Erasing: an owner or one of its sessions, rejected messages included, and nobody else.

use memory_core::SessionId;

use super::build::{batch, ids, numbers, push, queued};
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    erasing_an_owner_takes_queued_and_rejected_messages,
    erasing_a_session_leaves_the_others,
    erasing_may_be_repeated,
    erasing_makes_room,
]);

async fn erasing_an_owner_takes_queued_and_rejected_messages(bed: Bed<Journals>) -> Scene {
    let (ada, bob, alike) = (bed.scope("ada")?, bed.scope("ad")?, bed.scope("ada*")?);
    for (owner, first) in [(&ada, 0), (&bob, 10), (&alike, 20)] {
        push(&bed.store, owner, first..first + 3).await?;
    }
    for queued in queued(&bed.store).await?.into_iter().step_by(3) {
        bed.store.reject(queued.number, "no").await?;
    }
    equal(bed.store.erase(&ada, None).await?, 3)?;
    equal(ids(&queued(&bed.store).await?), [11, 12, 21, 22])?;
    let rejected = bed.store.rejected(9).await?;
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
    equal(bed.store.erase(&ada, Some(&first)).await?, 2)?;
    equal(ids(&queued(&bed.store).await?), [3, 4])?;
    equal(bed.store.rejected(9).await?.len(), 0)
}

async fn erasing_may_be_repeated(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    push(&bed.store, &ada, 0..3).await?;
    push(&bed.store, &bob, [9]).await?;
    for removed in [3, 0, 0] {
        equal(bed.store.erase(&ada, None).await?, removed)?;
        equal(ids(&queued(&bed.store).await?), [9])?;
    }
    equal(bed.store.erase(&bed.scope("nobody")?, None).await?, 0)
}

async fn erasing_makes_room(bed: Bed<Journals>) -> Scene {
    let (ada, bob, capacity) = (bed.scope("ada")?, bed.scope("bob")?, bed.setting.capacity as u64);
    let before = push(&bed.store, &ada, 0..capacity).await?;
    equal(bed.store.erase(&ada, None).await?, capacity)?;
    let after = push(&bed.store, &bob, 100..100 + capacity).await?;
    equal(queued(&bed.store).await?.len() as u64, capacity)?;
    check!(after >= before + capacity, "the number {after} follows {before}");
    Ok(())
}
