//! Many callers at once: one order without gaps, and nothing twice.

use futures_util::future::{join_all, try_join_all};
use memory_core::store::chat::{Page, Placement, View};
use memory_core::{Error, Seq};

use super::talk::{Talk, ids, new, numbers};
use crate::check::{Failure, Scene, equal};
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    thirty_two_identical_appends_store_one,
    sixteen_writers_of_one_session_leave_no_gap,
    two_openings_of_a_store_number_one_session,
    folds_beside_appends_lose_nothing,
    readers_beside_writers_see_a_prefix_without_gaps,
    sessions_of_one_owner_do_not_disturb_each_other,
]);

const WRITERS: usize = 16;

async fn thirty_two_identical_appends_store_one(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let batch = [new("one"), new("two")];
    let tasks = (0..32).map(|_| {
        let (talk, batch) = (talk.clone(), batch.clone());
        tokio::spawn(async move { talk.append(&batch).await })
    });
    let mut added = 0;
    for answer in join_all(tasks).await {
        let placements = answer.map_err(|error| Failure::new(error.to_string()))??.placements;
        if placements == [Placement::Added(Seq(1)), Placement::Added(Seq(2))] {
            added += 1;
        } else {
            equal(placements, [Placement::Already(Seq(1)), Placement::Already(Seq(2))])?;
        }
    }
    equal(added, 1)?;
    equal(talk.log().await?, ["one", "two"])?;
    talk.in_order().await
}

/// Appends `count` batches of one and two messages in turn, each after the other, as the writer of this name.
async fn write(talk: Talk, name: String, count: usize) -> Result<Vec<u64>, Failure> {
    let mut numbers = Vec::new();
    for round in 0..count {
        let batch: Vec<_> = (0..=round % 2).map(|place| new(&format!("{name} {round} {place}"))).collect();
        let mut queued = false;
        for placement in talk.append(&batch).await?.placements {
            match placement {
                Placement::Added(seq) => numbers.push(seq.0),
                Placement::Queued => queued = true,
                other => return Err(Failure::new(format!("a new message is {other:?}"))),
            }
        }
        if queued {
            numbers.extend(talk.numbered(&batch).await?);
        }
        tokio::task::yield_now().await;
    }
    Ok(numbers)
}

/// Runs the writers in tasks of their own, and checks that each one's messages kept their order.
async fn all_write(talks: Vec<Talk>, count: usize) -> Scene {
    let Some(talk) = talks.first().cloned() else { return Ok(()) };
    let tasks = talks.into_iter().enumerate().map(|(number, talk)| {
        let task = tokio::spawn(write(talk, format!("writer {number}"), count));
        async move { task.await.map_err(|error| Failure::new(error.to_string()))? }
    });
    let mut all = Vec::new();
    for numbers in try_join_all(tasks).await? {
        check!(numbers.is_sorted(), "a writer's own messages were put out of order: {numbers:?}");
        all.extend(numbers);
    }
    all.sort_unstable();
    equal(&all, &(1..=all.len() as u64).collect::<Vec<_>>())?;
    equal(talk.state().await?.head.0, all.len() as u64)?;
    talk.in_order().await
}

async fn sixteen_writers_of_one_session_leave_no_gap(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    all_write(vec![talk; WRITERS], 12).await
}

async fn two_openings_of_a_store_number_one_session(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let other = Talk { chat: bed.reopen().await?, ..talk.clone() };
    let talks = (0..WRITERS / 2).map(|number| if number % 2 == 0 { talk.clone() } else { other.clone() });
    all_write(talks.collect(), 12).await
}

async fn folds_beside_appends_lose_nothing(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let before = ids(&talk.say(&["one", "two", "three", "four"]).await?);
    let writers = (0..4).map(|number| tokio::spawn(write(talk.clone(), format!("writer {number}"), 12)));
    let folder = fold_again_and_again(&talk);
    let (written, folded) = tokio::join!(join_all(writers), folder);
    folded?;
    let mut count = before.len();
    for numbers in written {
        count += numbers.map_err(|error| Failure::new(error.to_string()))??.len();
    }
    equal(talk.log().await?.len(), count)?;
    equal(talk.get(&before).await?.len(), before.len())?;
    talk.in_order().await
}

/// Folds the window down to its last row, or unfolds; a conflict means that an append was faster.
async fn fold_again_and_again(talk: &Talk) -> Scene {
    for round in 0..24 {
        let rows = talk.rows(View::Active).await?;
        let head = rows.last().map_or(0, |row| row.seq.0);
        let summary = new(&format!("summary {round}"));
        let change = talk.plan(1, head.saturating_sub(1), &summary).await?;
        tokio::task::yield_now().await;
        match talk.compact(&change).await {
            Ok(_) if round % 3 == 0 => drop(talk.unfold(&summary).await?),
            Ok(_) | Err(Error::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn readers_beside_writers_see_a_prefix_without_gaps(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let writers = (0..4).map(|number| tokio::spawn(write(talk.clone(), format!("writer {number}"), 12)));
    let writing = join_all(writers);
    let reading = async {
        let mut last = 0;
        for _ in 0..40 {
            let page = Page::after(Seq(0), 1_000, View::Log);
            let slice = talk.chat.store().read(&talk.scope, &talk.session, &page).await?;
            let found = numbers(&slice.messages);
            equal(&found, &(1..=found.len() as u64).collect::<Vec<_>>())?;
            check!(found.len() >= last, "a message that was read before is gone");
            last = found.len();
            tokio::task::yield_now().await;
        }
        Ok::<_, Failure>(())
    };
    let (written, read) = tokio::join!(writing, reading);
    for numbers in written {
        numbers.map_err(|error| Failure::new(error.to_string()))??;
    }
    read?;
    talk.in_order().await
}

async fn sessions_of_one_owner_do_not_disturb_each_other(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let mut tasks = Vec::new();
    for number in 0..WRITERS {
        tasks.push(tokio::spawn(write(talk.beside(&format!("session {number}"))?, "w".to_owned(), 6)));
    }
    for numbers in join_all(tasks).await {
        let numbers = numbers.map_err(|error| Failure::new(error.to_string()))??;
        equal(numbers, (1..=9).collect::<Vec<_>>())?;
    }
    equal(talk.chat.store().sessions(&talk.scope, None, 100).await?.len(), WRITERS)
}
