//! Boards of a whole memory: what agents share for a while, in whichever process, under the same rules as all else of an owner.

use std::time::Duration;

use memory_core::engine::{Board, BoardEntry, Context, Forget};
use memory_core::model::{Embedder as _, Purpose};
use memory_core::store::blackboard::BlackboardStats;
use memory_core::{Error, Message};

use super::world::{World, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s4_6_a_value_is_found_by_its_key_its_words_and_its_meaning_in_every_process,
    s4_6_a_board_ends_with_its_owner_and_with_nothing_less,
    s4_7_upkeep_sweeps_what_has_expired,
    s4_9_a_team_of_agents_shares_a_board_and_keeps_its_own_conversations,
    s4_13_the_figures_of_a_board_count_entries_and_uses_of_all_processes,
]);

const MINUTE: Duration = Duration::from_secs(60);

/// Opens the board of an owner in two processes.
async fn boards(world: &World, subject: &str) -> Result<[Board; 2], Failure> {
    let elsewhere = world.ground.open(|_, builder| builder).await?;
    Ok([world.owner(subject)?.blackboard(), elsewhere.of(&world.ground.scope(subject)?).blackboard()])
}

/// Returns the keys of the entries that a search finds, best first.
async fn keys(board: &Board, text: &str) -> Result<Vec<String>, Failure> {
    let found = board.search(text, 9).await?;
    equal(&found.degraded, &vec![])?;
    Ok(found.hits.into_iter().map(|hit| hit.entry.key).collect())
}

async fn value(board: &Board, key: &str) -> Result<Option<String>, Failure> {
    Ok(board.get(key).await?.map(|posted| posted.value))
}

async fn s4_6_a_value_is_found_by_its_key_its_words_and_its_meaning_in_every_process(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [here, there] = boards(&world, "team").await?;
    here.put(&BoardEntry::new("writer", "Ada writes the surveys")).await?;
    let receipt = here.put(&BoardEntry::new("reader", "teapot glaze").embedded()).await?;
    check!(receipt.is_embedded && receipt.degraded.is_empty() && receipt.evicted.is_empty(), "{receipt:?}");
    let vectors = world.ground.embedder.embed(&["teapot glaze"], Purpose::Query).await?;
    let vector = vectors.first().ok_or("there is no vector")?;
    for board in [&here, &there] {
        equal(value(board, "writer").await?.as_deref(), Some("Ada writes the surveys"))?;
        equal(value(board, "absent").await?, None)?;
        // By words in other forms, as the memory's analysis has them, and best first.
        equal(keys(board, "who wrote a survey?").await?.first().map(String::as_str), Some("writer"))?;
        // By a vector, which only what is embedded has.
        let hits = board.search_vector(vector, 9).await?;
        equal(hits.iter().map(|hit| hit.entry.key.as_str()).collect::<Vec<_>>(), ["reader"])?;
    }
    check!(there.delete("writer").await?, "there was nothing to delete");
    check!(!here.delete("writer").await?, "it was deleted twice");
    equal(value(&here, "writer").await?, None)?;
    check!(!keys(&here, "survey").await?.contains(&"writer".to_owned()), "what was deleted is found");
    equal(keys(&world.owner("other")?.blackboard(), "teapot").await?, [""; 0])
}

async fn s4_6_a_board_ends_with_its_owner_and_with_nothing_less(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [ada, bob] = [world.owner("ada")?, world.owner("bob")?];
    for owner in [&ada, &bob] {
        let (message, talk) = (world.user("The plan is the survey."), session("talk")?);
        let id = message.id;
        owner.session(&talk).append(vec![message]).await?;
        owner.blackboard().put(&BoardEntry::new("plan", "the survey").embedded()).await?;
        owner.forget(&Forget::Messages(vec![id])).await?;
        owner.forget(&Forget::Session(talk)).await?;
        equal(keys(&owner.blackboard(), "survey").await?, ["plan"])?;
    }
    let old = boards(&world, "ada").await?;
    for board in &old {
        equal(value(board, "plan").await?.as_deref(), Some("the survey"))?;
    }
    let receipt = ada.forget(&Forget::Everything).await?;
    check!(receipt.complete, "{receipt}");
    // Older handles are fenced, as those of a session are.
    for board in &old {
        fails!(board.put(&BoardEntry::new("plan", "late")).await, Error::Fenced);
        fails!(board.get("plan").await, Error::Fenced);
    }
    for board in boards(&world, "ada").await? {
        equal(value(&board, "plan").await?, None)?;
        equal(keys(&board, "survey").await?, [""; 0])?;
    }
    ada.blackboard().put(&BoardEntry::new("plan", "anew")).await?;
    equal(keys(&bob.blackboard(), "survey").await?, ["plan"])
}

async fn s4_7_upkeep_sweeps_what_has_expired(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let team = world.owner("team")?.blackboard();
    team.put(&BoardEntry::new("deadline", "Friday").with_ttl(MINUTE)).await?;
    team.put(&BoardEntry::new("plan", "the survey")).await?;
    equal(world.memory.upkeep_once().await?.expired, 0)?;
    world.ground.clock.advance(MINUTE);
    let report = world.memory.upkeep_once().await?;
    equal((report.expired, report.failures), (1, vec![]))?;
    let stats = team.stats().await?.board;
    equal((stats.live, stats.expired, stats.physical()), (1, 0, 1))?;
    let values = (value(&team, "deadline").await?, value(&team, "plan").await?);
    equal(values, (None, Some("the survey".to_owned())))
}

/// Returns all that a context shows.
fn shown(context: &Context) -> String {
    context.messages().map(Message::text).collect()
}

async fn s4_9_a_team_of_agents_shares_a_board_and_keeps_its_own_conversations(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let agents = [world.owner("agent:planner")?, world.owner("agent:writer")?];
    let [planner, writer] = [agents[0].session(&session("buffer")?), agents[1].session(&session("buffer")?)];
    planner.append(vec![world.user("Plan the teapot survey.")]).await?;
    writer.append(vec![world.user("Write in British English.")]).await?;
    let [of_planner, of_writer] = boards(&world, "team:research").await?;
    of_planner.put(&BoardEntry::new("deadline", "Friday").with_ttl(MINUTE)).await?;
    equal(value(&of_writer, "deadline").await?.as_deref(), Some("Friday"))?;
    of_writer.put(&BoardEntry::new("deadline", "Monday")).await?;
    world.ground.clock.advance(MINUTE);
    equal(value(&of_planner, "deadline").await?.as_deref(), Some("Monday"))?;
    // The conversations stay apart, from each other and from the board.
    world.tend().await?;
    for (talk, own, other) in [(&planner, "teapot", "British"), (&writer, "British", "teapot")] {
        let said = shown(&talk.context("What is to be done?", 1_000).await?);
        check!(said.contains(own) && !said.contains(other) && !said.contains("Monday"), "{said}");
    }
    // An agent that leaves takes its conversation along; the board and the others stay.
    check!(agents[1].forget(&Forget::Everything).await?.complete, "something is left of an agent");
    equal(agents[1].sessions(None, 9).await?.len(), 0)?;
    equal(value(&of_planner, "deadline").await?.as_deref(), Some("Monday"))?;
    // And the board may end without the agents.
    let team = world.owner("team:research")?;
    check!(team.forget(&Forget::Everything).await?.complete, "something is left of a team");
    equal(value(&team.blackboard(), "deadline").await?, None)?;
    equal(agents[0].sessions(None, 9).await?.len(), 1)
}

async fn s4_13_the_figures_of_a_board_count_entries_and_uses_of_all_processes(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [here, there] = boards(&world, "team").await?;
    for key in ["a", "b", "c"] {
        here.put(&BoardEntry::new(key, "survey")).await?;
    }
    equal((value(&here, "b").await?.as_deref(), value(&there, "absent").await?), (Some("survey"), None))?;
    for board in [&here, &there] {
        equal(keys(board, "survey").await?.len(), 3)?;
    }
    for board in [&here, &there] {
        let stats = board.stats().await?;
        let capacity = stats.board.capacity;
        let uses = BlackboardStats { live: 3, capacity, accesses: 7, hits: 1, misses: 1, ..Default::default() };
        equal((stats.board, stats.searches), (uses, 1))?;
    }
    Ok(())
}
