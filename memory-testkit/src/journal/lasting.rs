//! What lasts: across a restart, and when callers give up halfway.

use memory_core::{Error, SessionId};

use super::build::{EVER, batch, ids, numbers, push, queued};
use crate::crowd::{together, until};
use crate::dropped::give_up;
use crate::generate::Random;
use crate::{Bed, Failure, Journals, Needs, Scene, equal};

scenarios!(TABLE: Journals = [pushes_given_up_halfway_happen_fully_or_not_at_all]);

scenarios!(DURABLE: Journals, Needs::Durability = [
    opening_again_keeps_the_queue_the_rejected_and_the_numbers,
    what_was_acknowledged_or_erased_does_not_come_back,
]);

const TASKS: u64 = 4;
const PUSHES: u64 = 200;

async fn pushes_given_up_halfway_happen_fully_or_not_at_all(bed: Bed<Journals>) -> Scene {
    let session = SessionId::new("s")?;
    let owners: Vec<_> = (0..TASKS).map(|task| bed.scope(&format!("owner{task}"))).collect::<Result<_, _>>()?;
    together((0..).zip(owners).map(|(task, owner)| {
        let (store, session, mut random) = (bed.store.clone(), session.clone(), Random::new(bed.seed ^ task));
        async move {
            for step in 0..PUSHES {
                let first = task * 1_000_000 + step * 10;
                let pushed = give_up(&mut random, store.push(&owner, &session, &batch(first..first + 3))).await;
                check!(matches!(pushed, None | Some(Ok(_) | Err(Error::QueueFull))), "a push ended in {pushed:?}");
                // What a dropped push is still doing may turn up later, but never in part.
                until(|| whole(&store, &owner)).await?;
                store.acknowledge(&numbers(&store.queued(Some(&owner), None, 99).await?)).await?;
            }
            Ok(())
        }
    }))
    .await
}

/// Passes if the queue of an owner holds whole batches of three.
async fn whole(store: &crate::Journals, owner: &memory_core::Scope) -> Scene {
    let found = ids(&store.queued(Some(owner), None, 99).await?);
    let is_whole =
        found.chunks(3).all(|part| part.first().is_some_and(|first| *part == [*first, first + 1, first + 2]));
    if is_whole { Ok(()) } else { Err(Failure::new(format!("part of a push: {found:?}"))) }
}

async fn opening_again_keeps_the_queue_the_rejected_and_the_numbers(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    let last = push(&bed.store, &ada, 0..4).await?;
    let first = numbers(&queued(&bed.store).await?).into_iter().take(1).collect::<Vec<_>>();
    for number in first {
        bed.store.reject(number, "no").await?;
    }
    let (before, refused) = (queued(&bed.store).await?, bed.store.rejected(None, 9).await?);
    let bed = bed.restart().await?;
    equal(queued(&bed.store).await?, before)?;
    equal(bed.store.rejected(None, 9).await?, refused)?;
    bed.store.acknowledge(&numbers(&queued(&bed.store).await?)).await?;
    let bed = bed.restart().await?;
    let next = push(&bed.store, &ada, [9]).await?;
    check!(next > last, "the number {next} follows {last}");
    Ok(())
}

async fn what_was_acknowledged_or_erased_does_not_come_back(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    push(&bed.store, &ada, 0..3).await?;
    push(&bed.store, &bob, 10..13).await?;
    let first = numbers(&queued(&bed.store).await?).into_iter().take(1).collect::<Vec<_>>();
    bed.store.acknowledge(&first).await?;
    bed.store.erase(&bob, None, EVER).await?;
    let bed = bed.restart().await?;
    equal(ids(&queued(&bed.store).await?), [1, 2])?;
    equal(bed.store.rejected(None, 9).await?.len(), 0)
}
