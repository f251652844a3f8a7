//! The queue: everything pushed, in order, until it is acknowledged.

use memory_core::store::chat::{Append, Fence, NewMessage};
use memory_core::store::journal::Queued;
use memory_core::{CounterId, Epoch, SessionId};

use super::build::{batch, ids, new, numbers, push, queued};
use crate::crowd::together;
use crate::{Bed, Journals, Scene, equal};

scenarios!(TABLE: Journals = [
    messages_come_out_as_they_were_pushed,
    messages_stand_in_the_order_of_their_pushes,
    a_push_returns_the_number_of_its_last_message,
    numbers_rise_and_are_never_used_again,
    a_page_holds_the_oldest_messages,
    acknowledged_messages_are_gone_and_the_others_stay,
    acknowledging_twice_or_nothing_changes_nothing,
    pushes_at_once_keep_each_batch_together,
]);

async fn messages_come_out_as_they_were_pushed(bed: Bed<Journals>) -> Scene {
    let (ada, session) = (bed.scope("ada")?, SessionId::new("a b")?);
    let fence = Some(Fence { epoch: Epoch(3), generation: 4 });
    let counted = NewMessage { counter: CounterId(7), ..new(1) };
    let batch_of_one = Append { fence, asked: 40_000, messages: vec![counted.clone()] };
    let number = bed.store.push(&ada, &session, &batch_of_one).await?;
    let promised = Queued { number, scope: ada.clone(), session: session.clone(), fence, asked: 40_000, new: counted };
    equal(queued(&bed.store).await?, [promised])?;
    bed.store.push(&ada, &session, &batch([2])).await?;
    let second = queued(&bed.store).await?;
    equal(second.last().map(|queued| (queued.fence, queued.new.clone())), Some((None, new(2))))
}

async fn messages_stand_in_the_order_of_their_pushes(bed: Bed<Journals>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    push(&bed.store, &ada, [5, 1]).await?;
    push(&bed.store, &bob, [9]).await?;
    push(&bed.store, &ada, [4, 2, 3]).await?;
    let found = queued(&bed.store).await?;
    equal(ids(&found), [5, 1, 9, 4, 2, 3])?;
    let numbers = numbers(&found);
    check!(numbers.iter().zip(numbers.iter().skip(1)).all(|(a, b)| a < b), "{numbers:?} do not rise");
    Ok(())
}

async fn a_push_returns_the_number_of_its_last_message(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    for (first, count) in [(0, 1), (10, 3), (20, 2)] {
        let last = push(&bed.store, &ada, first..first + count).await?;
        equal(numbers(&queued(&bed.store).await?).last(), Some(&last))?;
    }
    Ok(())
}

async fn numbers_rise_and_are_never_used_again(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut highest = 0;
    for round in 0..5 {
        let last = push(&bed.store, &ada, [round, round + 10]).await?;
        check!(round == 0 || last > highest + 1, "the number {last} follows {highest}");
        highest = last;
        bed.store.acknowledge(&numbers(&queued(&bed.store).await?)).await?;
        equal(queued(&bed.store).await?.len(), 0)?;
    }
    Ok(())
}

async fn a_page_holds_the_oldest_messages(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..10).await?;
    for limit in [0, 1, 3, 10, 11] {
        let found = bed.store.queued(None, None, limit).await?;
        equal(ids(&found), (0..10).take(limit).collect::<Vec<_>>())?;
        equal(ids(&bed.store.queued(Some(&ada), None, limit).await?), ids(&found))?;
    }
    Ok(())
}

async fn acknowledged_messages_are_gone_and_the_others_stay(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..6).await?;
    let numbers = numbers(&queued(&bed.store).await?);
    let done: Vec<u64> = numbers.into_iter().step_by(2).collect();
    bed.store.acknowledge(&done).await?;
    equal(ids(&queued(&bed.store).await?), [1, 3, 5])
}

async fn acknowledging_twice_or_nothing_changes_nothing(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    push(&bed.store, &ada, 0..3).await?;
    let first = numbers(&queued(&bed.store).await?).into_iter().take(1).collect::<Vec<_>>();
    for _ in 0..2 {
        bed.store.acknowledge(&first).await?;
        bed.store.acknowledge(&[]).await?;
        bed.store.acknowledge(&[u64::MAX, 1 << 40]).await?;
        equal(ids(&queued(&bed.store).await?), [1, 2])?;
    }
    Ok(())
}

async fn pushes_at_once_keep_each_batch_together(bed: Bed<Journals>) -> Scene {
    let ada = bed.scope("ada")?;
    let tasks = bed.setting.capacity as u64 / 4;
    together((0..tasks).map(|task| {
        let (store, ada) = (bed.store.clone(), ada.clone());
        async move {
            push(&store, &ada, task * 10..task * 10 + 2).await?;
            push(&store, &ada, task * 10 + 2..task * 10 + 4).await?;
            Ok(())
        }
    }))
    .await?;
    let found = ids(&queued(&bed.store).await?);
    equal(found.len() as u64, tasks * 4)?;
    for pair in found.chunks(2) {
        let is_whole = pair.first().is_some_and(|first| pair.get(1) == Some(&(first + 1)));
        check!(is_whole, "a batch was torn apart: {found:?}");
    }
    for task in 0..tasks {
        let of_task: Vec<u64> = found.iter().copied().filter(|id| id / 10 == task).collect();
        equal(of_task, (task * 10..task * 10 + 4).collect::<Vec<_>>())?;
    }
    Ok(())
}
