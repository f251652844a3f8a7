//! The cancel storm: calls are dropped at random moments, and what they wrote is there fully or not at all.

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use memory_core::store::chat::{Append, NewMessage, Page, Placement, View};

use super::talk::{Talk, ids, new, texts};
use crate::check::{Failure, Scene, equal};
use crate::dropped::give_up;
use crate::environment;
use crate::generate::Random;
use crate::{Bed, Chat};

scenarios!(TABLE: Chat = [
    dropped_calls_write_fully_or_not_at_all,
    a_dropped_fold_happens_fully_or_not_at_all,
    a_dropped_redaction_happens_fully_or_not_at_all,
    a_dropped_restore_happens_fully_or_not_at_all,
    calls_that_nobody_polls_keep_no_others_out,
]);

const TASKS: usize = 8;
/// More than the connections that a store under test opens.
const IDLE: usize = 12;

/// What one task has tried to append to its own session and to the one that all tasks share.
struct Tried {
    own: Talk,
    shared: Talk,
    own_batches: Vec<Vec<NewMessage>>,
    shared_batches: Vec<Vec<NewMessage>>,
}

async fn dropped_calls_write_fully_or_not_at_all(bed: Bed<Chat>) -> Scene {
    let calls = environment::storm(2_000) / TASKS;
    let mut tasks = Vec::new();
    for number in 0..TASKS {
        let own = Talk::new(&bed, &format!("owner {number}"), "own")?;
        let shared = Talk::plain(&bed)?;
        let tried = Tried { own, shared, own_batches: Vec::new(), shared_batches: Vec::new() };
        tasks.push(tokio::spawn(rage(tried, Random::new(bed.seed ^ number as u64), calls)));
    }
    for task in join_all(tasks).await {
        let tried = task.map_err(|error| Failure::new(error.to_string()))??;
        settle(&tried.own, &tried.own_batches).await?;
        settle(&tried.shared, &tried.shared_batches).await?;
        equal(tried.own.state().await?.head.0, tried.own_batches.iter().map(Vec::len).sum::<usize>() as u64)?;
        tried.own.in_order().await?;
        tried.shared.in_order().await?;
    }
    Ok(())
}

/// Makes calls and gives most of them up.
async fn rage(mut tried: Tried, mut random: Random, calls: usize) -> Result<Tried, Failure> {
    for call in 0..calls {
        let is_own = random.chance(1, 2);
        let talk = if is_own { &tried.own } else { &tried.shared };
        if random.chance(1, 3) {
            let page = Page::newest(20);
            if let Some(slice) = give_up(&mut random, talk.read(&page)).await {
                check_answer(talk, &texts(&slice?))?;
            }
            continue;
        }
        let word = format!("{} {call}", talk.scope.subject());
        let messages: Vec<_> = (0..1 + random.below(3)).map(|_| new(&word)).collect();
        let batch = Append::new(messages.clone());
        if let Some(answer) = give_up(&mut random, talk.chat.store().append(&talk.scope, &talk.session, &batch)).await {
            equal(answer?.placements.len(), messages.len())?;
        }
        let batches = if is_own { &mut tried.own_batches } else { &mut tried.shared_batches };
        batches.push(messages);
    }
    Ok(tried)
}

/// A connection that keeps the answer of a dropped call gives it to the next caller: every row must be the owner's.
fn check_answer(talk: &Talk, texts: &[String]) -> Scene {
    let subject = format!("{} ", talk.scope.subject());
    let foreign = texts.iter().find(|text| !text.starts_with(&subject));
    check!(foreign.is_none(), "a read of {subject} returned {foreign:?}");
    Ok(())
}

/// Appends every batch once more: of each, all was there or nothing.
async fn settle(talk: &Talk, batches: &[Vec<NewMessage>]) -> Scene {
    for batch in batches {
        let placements = talk.append(batch).await?.placements;
        let old = placements.iter().filter(|placement| matches!(placement, Placement::Already(_))).count();
        let new =
            placements.iter().filter(|placement| matches!(placement, Placement::Added(_) | Placement::Queued)).count();
        check!((old, new) == (batch.len(), 0) || (old, new) == (0, batch.len()), "half a batch: {placements:?}");
    }
    Ok(())
}

async fn a_dropped_fold_happens_fully_or_not_at_all(bed: Bed<Chat>) -> Scene {
    let mut random = Random::new(bed.seed);
    for round in 0..environment::storm(2_000) / 50 {
        // A call given up may go on, so each kind of change has a session of its own.
        let talk = Talk::new(&bed, "ada", &format!("folded {round}"))?;
        talk.say(&["one", "two", "three", "four"]).await?;
        let summary = new("summary");
        let change = talk.plan(1, 3, &summary).await?;
        drop(give_up(&mut random, talk.compact(&change)).await);
        talk.compact(&change).await?;
        equal(talk.window().await?, ["summary", "four"])?;
        talk.in_order().await?;
        let talk = talk.beside(&format!("unfolded {round}"))?;
        talk.say(&["one", "two", "three", "four"]).await?;
        let summary = talk.fold(1, 3, "summary").await?;
        drop(give_up(&mut random, talk.unfold(&summary)).await);
        talk.unfold(&summary).await?;
        equal(talk.window().await?, ["one", "two", "three", "four"])?;
        talk.in_order().await?;
    }
    Ok(())
}

async fn a_dropped_redaction_happens_fully_or_not_at_all(bed: Bed<Chat>) -> Scene {
    let mut random = Random::new(bed.seed);
    for round in 0..environment::storm(2_000) / 50 {
        let talk = Talk::new(&bed, "ada", &format!("session {round}"))?;
        let messages = talk.say(&["one", "two", "three", "four"]).await?;
        talk.fold(1, 2, "inner").await?;
        talk.fold(1, 3, "outer").await?;
        let forgotten: Vec<_> = ids(&messages).into_iter().step_by(3).collect();
        drop(give_up(&mut random, talk.chat.store().redact(&talk.scope, &forgotten)).await);
        // In one step: both messages are there with both summaries, or neither.
        let window = talk.window().await?;
        check!(window == ["outer", "four"] || window == ["two", "three"], "half a redaction: {window:?}");
        talk.chat.store().redact(&talk.scope, &forgotten).await?;
        equal(talk.window().await?, ["two", "three"])?;
        talk.in_order().await?;
    }
    Ok(())
}

async fn a_dropped_restore_happens_fully_or_not_at_all(bed: Bed<Chat>) -> Scene {
    let mut random = Random::new(bed.seed);
    let source = Talk::plain(&bed)?;
    source.say(&["one", "two", "three", "four"]).await?;
    source.fold(1, 2, "inner").await?;
    source.fold(1, 3, "outer").await?;
    let rows = source.rows(View::All).await?;
    for round in 0..environment::storm(2_000) / 50 {
        let talk = Talk::new(&bed, &format!("owner {round}"), "s")?;
        drop(give_up(&mut random, talk.chat.store().restore(&talk.scope, &talk.session, None, &rows)).await);
        let found = talk.rows(View::All).await?.len();
        check!(found == 0 || found == rows.len(), "half a restore: {found} of {} rows", rows.len());
        talk.chat.store().restore(&talk.scope, &talk.session, None, &rows).await?;
        equal(talk.window().await?, ["outer", "four"])?;
        talk.in_order().await?;
        drop(give_up(&mut random, talk.delete()).await);
        let found = talk.rows(View::All).await?.len();
        check!(found == 0 || found == rows.len(), "half a deletion: {found} of {} rows", rows.len());
    }
    Ok(())
}

async fn calls_that_nobody_polls_keep_no_others_out(bed: Bed<Chat>) -> Scene {
    let talk = Talk::plain(&bed)?;
    let (page, said) = (Page::newest(1), ids(&talk.say(&["hello"]).await?));
    let mut pages: Vec<_> = (0..IDLE).map(|_| Box::pin(talk.read(&page))).collect();
    let mut rows: Vec<_> = (0..IDLE).map(|_| Box::pin(talk.get(&said))).collect();
    // Begun, and then left alone.
    pages.iter_mut().for_each(|call| drop(call.now_or_never()));
    rows.iter_mut().for_each(|call| drop(call.now_or_never()));
    equal(texts(&talk.read(&page).await?), vec!["hello".to_owned()])?;
    equal(texts(&talk.get(&said).await?), vec!["hello".to_owned()])?;
    talk.say(&["world"]).await?;
    equal(talk.log().await?, vec!["hello".to_owned(), "world".to_owned()])
}
