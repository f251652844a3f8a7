//! What calls of a conversation cost: the same calls of the store and the same rows, whatever was said before.

use std::sync::Arc;

use memory_core::engine::{ForkPoint, HistoryEdge, Session};
use memory_core::store::chat::{Page, View};
use memory_core::{MessageId, Seq, StoredMessage};

use super::world::{World, session};
use crate::doubles::Counting;
use crate::environment;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s1_3_appends_and_newest_reads_cost_the_same_in_a_conversation_of_any_length,
    a_fork_of_any_length_costs_what_one_of_ten_messages_does,
]);

/// How many messages the long conversation has, unless the environment says otherwise.
const LONG: usize = 2_000;
/// The most turns of one append.
const TURNS: usize = 1_000;

/// Fills a conversation with so many messages, two of each turn. Returns the number and the id of the last.
async fn fill(world: &World, talk: &Session, messages: usize) -> Result<(Seq, MessageId), Failure> {
    let mut left = messages / 2;
    while left > 0 {
        let turns = left.min(TURNS);
        talk.append(world.chatter(turns)).await?;
        talk.flush().await?;
        left -= turns;
    }
    let newest = talk.read(&Page::newest(1)).await?.messages;
    Ok(newest.first().map(|row| (row.seq, row.id)).ok_or("nothing was said")?)
}

async fn s1_3_appends_and_newest_reads_cost_the_same_in_a_conversation_of_any_length(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let mut costs = Vec::new();
    for (subject, messages) in [("ada", 100), ("bob", environment::length(LONG))] {
        let talk = world.talk(subject)?;
        fill(&world, &talk, messages).await?;
        let counting = Arc::<Counting>::default();
        let memory = world.ground.open_counted(&counting, |_, builder| builder).await?;
        let talk = memory.of(talk.scoped().scope()).session(talk.id());
        // The first call learns which conversation it is.
        say(&world, &talk).await?;
        counting.reset();
        for _ in 0..10 {
            say(&world, &talk).await?;
        }
        let appended = (counting.total(), counting.total_rows());
        let mut read = Vec::new();
        for newest in [10, 50] {
            counting.reset();
            equal(talk.read(&Page::newest(newest)).await?.messages.len(), newest)?;
            read.push((counting.total(), counting.total_rows()));
            check!(counting.total_rows() <= 2 * newest as u64, "{} rows for {newest}", counting.total_rows());
        }
        costs.push((appended, read));
    }
    check!(costs.windows(2).all(|two| two.first() == two.last()), "of a hundred messages, and of many: {costs:?}");
    Ok(())
}

/// Says something, and has it stored, so that a journal sends nothing later.
async fn say(world: &World, talk: &Session) -> Scene {
    talk.append(world.chatter(1)).await?;
    Ok(talk.flush().await?)
}

/// Forks a conversation in a memory of its own. Returns how many calls the store got, and how many rows it returned.
async fn forked(world: &World, talk: &Session, at: ForkPoint, name: &str) -> Result<(u64, u64), Failure> {
    let counting = Arc::<Counting>::default();
    let memory = world.ground.open_counted(&counting, |_, builder| builder).await?;
    let talk = memory.of(talk.scoped().scope()).session(talk.id());
    let branch = talk.fork(at, &session(name)?).await?;
    let cost = (counting.total(), counting.total_rows());
    // It is the row alone that leads to its past, and shows that past.
    let own = branch.read(&Page::after(Seq(0), 10, View::All)).await?.messages;
    equal((own.len(), own.first().is_some_and(|row| row.begins_branch())), (1, true))?;
    let ids = |rows: Vec<StoredMessage>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    let inherited = ids(branch.history(HistoryEdge::Newest, 3).await?.messages);
    equal(inherited, ids(talk.history(HistoryEdge::Newest, 3).await?.messages))?;
    Ok(cost)
}

async fn a_fork_of_any_length_costs_what_one_of_ten_messages_does(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let mut costs = Vec::new();
    for (subject, messages) in [("ada", 10), ("bob", environment::length(LONG))] {
        let talk = world.talk(subject)?;
        let (seq, id) = fill(&world, &talk, messages).await?;
        let by_number = forked(&world, &talk, seq.into(), "by number").await?;
        let by_id = forked(&world, &talk, id.into(), "by id").await?;
        costs.push([by_number, by_id]);
    }
    check!(costs.windows(2).all(|two| two.first() == two.last()), "of ten messages, and of many: {costs:?}");
    check!(costs.iter().flatten().all(|(calls, rows)| *calls > 0 && *rows <= 4), "{costs:?}");
    Ok(())
}
