//! The bound: a full queue says so and drops nothing.

use memory_core::Error;

use super::build::{ids, numbers, push, queued, revived};
use crate::crowd::together;
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    a_full_queue_refuses_and_drops_nothing,
    a_batch_that_does_not_fit_is_refused_as_a_whole,
    acknowledging_makes_room,
    rejected_messages_take_room_until_they_are_revived_and_acknowledged,
    rejected_messages_of_one_owner_leave_room_for_others,
    the_bound_holds_among_tasks_at_once,
]);

async fn a_full_queue_refuses_and_drops_nothing(bed: Bed<Journals>) -> Scene {
    let (ada, bob, capacity) = (bed.scope("ada")?, bed.scope("bob")?, bed.setting.capacity as u64);
    for number in 0..capacity {
        push(&bed.store, &ada, [number]).await?;
    }
    for owner in [&ada, &bob] {
        fails!(push(&bed.store, owner, [999]).await, Error::QueueFull);
        equal(ids(&queued(&bed.store).await?), (0..capacity).collect::<Vec<_>>())?;
    }
    Ok(())
}

async fn a_batch_that_does_not_fit_is_refused_as_a_whole(bed: Bed<Journals>) -> Scene {
    let (ada, capacity) = (bed.scope("ada")?, bed.setting.capacity as u64);
    fails!(push(&bed.store, &ada, 100..101 + capacity).await, Error::QueueFull);
    equal(queued(&bed.store).await?.len(), 0)?;
    push(&bed.store, &ada, 0..capacity - 1).await?;
    fails!(push(&bed.store, &ada, [100, 101]).await, Error::QueueFull);
    equal(ids(&queued(&bed.store).await?), (0..capacity - 1).collect::<Vec<_>>())?;
    push(&bed.store, &ada, [200]).await?;
    equal(queued(&bed.store).await?.len() as u64, capacity)
}

async fn acknowledging_makes_room(bed: Bed<Journals>) -> Scene {
    let (ada, capacity) = (bed.scope("ada")?, bed.setting.capacity as u64);
    for round in 0..3 {
        push(&bed.store, &ada, round * 100..round * 100 + capacity).await?;
        fails!(push(&bed.store, &ada, [999]).await, Error::QueueFull);
        bed.store.acknowledge(&numbers(&queued(&bed.store).await?)).await?;
    }
    equal(queued(&bed.store).await?.len(), 0)
}

async fn rejected_messages_take_room_until_they_are_revived_and_acknowledged(bed: Bed<Journals>) -> Scene {
    let (ada, capacity) = (bed.scope("ada")?, bed.setting.capacity as u64);
    push(&bed.store, &ada, 0..capacity).await?;
    let all = numbers(&queued(&bed.store).await?);
    for number in &all {
        bed.store.reject(*number, "no").await?;
    }
    fails!(push(&bed.store, &ada, [999]).await, Error::QueueFull);
    bed.store.revive(&revived(&all)).await?;
    fails!(push(&bed.store, &ada, [999]).await, Error::QueueFull);
    bed.store.acknowledge(&numbers(&queued(&bed.store).await?)).await?;
    push(&bed.store, &ada, 100..100 + capacity).await?;
    equal(queued(&bed.store).await?.len() as u64, capacity)
}

async fn rejected_messages_of_one_owner_leave_room_for_others(bed: Bed<Journals>) -> Scene {
    let (ada, bob, capacity) = (bed.scope("ada")?, bed.scope("bob")?, bed.setting.capacity as u64);
    push(&bed.store, &ada, 0..capacity).await?;
    for number in numbers(&queued(&bed.store).await?) {
        bed.store.reject(number, "no").await?;
    }
    fails!(push(&bed.store, &ada, [999]).await, Error::QueueFull);
    let room = capacity - capacity.div_ceil(8);
    fails!(push(&bed.store, &bob, 100..101 + room).await, Error::QueueFull);
    push(&bed.store, &bob, 100..100 + room).await?;
    for owner in [&ada, &bob] {
        fails!(push(&bed.store, owner, [999]).await, Error::QueueFull);
    }
    equal(ids(&queued(&bed.store).await?), (100..100 + room).collect::<Vec<_>>())?;
    equal(bed.store.rejected(Some(&ada), 1_000).await?.len() as u64, capacity)
}

async fn the_bound_holds_among_tasks_at_once(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    together((0..8u64).map(|task| {
        let (store, ada) = (bed.store.clone(), ada.clone());
        async move {
            for step in 0..10 {
                match push(&store, &ada, [task * 100 + step]).await {
                    Ok(_) | Err(Error::QueueFull) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        }
    }))
    .await?;
    equal(queued(&bed.store).await?.len(), bed.setting.capacity)
}
