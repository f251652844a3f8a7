//! Owners with equal sessions, equal ids and names that run together: none ever sees another.

use memory_core::engine::{ContextRequest, Forget, Remember, Scoped, Search};
use memory_core::store::chat::Page;
use memory_core::{Filter, Message, MessageId, RecordId, Scope};

use super::world::{World, found, holds, session};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s2_10_s1_17_owners_with_equal_sessions_and_ids_never_see_each_other,
    s4_9_a_person_an_agent_and_a_team_of_one_name_never_see_each_other,
    s2_10_conversations_of_one_owner_have_windows_of_their_own,
]);

/// What both owners call their message and their record.
#[derive(Clone, Copy)]
struct Ids {
    message: MessageId,
    record: RecordId,
}

/// Passes if every way to what an owner has leads to the words of that owner alone.
async fn sees_only(owner: &Scoped, ids: Ids, name: &str) -> Scene {
    let talk = owner.session(&session("talk")?);
    let promised = vec![format!("My rose is called {name}."), format!("{name} needs water")];
    for search in [Search::new("rose needs water"), Search::new(""), Search::new("Aurora Boreas")] {
        equal(found(owner, &search).await?, sorted(promised.clone()))?;
        let recalled = owner.recall(&search).await?.hits.iter().map(|hit| hit.content.text()).collect();
        equal(sorted(recalled), sorted(promised.clone()))?;
        equal(talk.search(&search).await?.hits.len(), 1)?;
    }
    let read = talk.read(&Page::newest(10)).await?.messages;
    let messages = owner.messages(&[ids.message]).await?;
    for rows in [read, messages] {
        let said: Vec<_> = rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect();
        equal(said, promised.iter().take(1).cloned().collect::<Vec<_>>())?;
    }
    let (by_id, all) = (owner.get(&[ids.record]).await?, owner.records(&Filter::All, None, 10).await?);
    for rows in [by_id, all] {
        equal(
            rows.iter().map(|row| row.record.text.clone()).collect::<Vec<_>>(),
            promised.iter().skip(1).cloned().collect::<Vec<_>>(),
        )?;
    }
    equal(owner.sessions(None, 10).await?.len(), 1)?;
    // Of the session itself, and of another one, which recalls it.
    for name_of_session in ["talk", "another"] {
        let context = owner.session(&session(name_of_session)?).context("What is my rose called?", 2_000).await?;
        let text: String = context.messages().map(Message::text).collect();
        let other = if name == "Aurora" { "Boreas" } else { "Aurora" };
        check!(text.contains(name) && !text.contains(other), "{name_of_session} of {name}: {text}");
    }
    Ok(())
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

async fn s2_10_s1_17_owners_with_equal_sessions_and_ids_never_see_each_other(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    // Joined by a colon, both would be one.
    let (ada, bob) = (Scope::new(&format!("{}:a", bed.tenant), "b")?, Scope::new(&bed.tenant, "a:b")?);
    never_mix(&world, &ada, &bob).await
}

async fn s4_9_a_person_an_agent_and_a_team_of_one_name_never_see_each_other(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let [person, agent, _] = named(&bed.tenant, "planner")?;
    never_mix(&world, &person, &agent).await?;
    let [_, agent, team] = named(&bed.tenant, "writer")?;
    never_mix(&world, &agent, &team).await?;
    let [person, _, team] = named(&bed.tenant, "editor")?;
    never_mix(&world, &team, &person).await?;
    // A context shares what is a team's by naming it.
    let [_, agent, team] = named(&bed.tenant, "travel")?;
    world.memory.of(&team).remember(Remember::fact("The train leaves at nine")).await?;
    let talk = world.memory.of(&agent).session(&session("run")?);
    let request = ContextRequest::new("When does the train leave?", 2_000);
    let alone = talk.assemble(&request).await?;
    check!(alone.messages().all(|message| !message.text().contains("at nine")), "not named, and shown: {alone:#?}");
    holds(&talk.assemble(&request.sharing([team])).await?, "at nine")
}

/// Returns a person, an agent and a team of this name.
fn named(tenant: &str, name: &str) -> Result<[Scope; 3], Failure> {
    Ok([Scope::new(tenant, name)?, Scope::agent(tenant, name)?, Scope::team(tenant, name)?])
}

/// Passes if neither of two owners sees anything of the other, also while the first is erased.
async fn never_mix(world: &World, ada: &Scope, bob: &Scope) -> Scene {
    let ids = Ids { message: MessageId::fresh(), record: RecordId::fresh() };
    for (scope, name) in [(ada, "Aurora"), (bob, "Boreas")] {
        let owner = world.memory.of(scope);
        let said = Message { id: ids.message, ..world.user(&format!("My rose is called {name}.")) };
        owner.session(&session("talk")?).append(vec![said]).await?;
        owner.remember(Remember::fact(format!("{name} needs water")).with_id(ids.record)).await?;
    }
    let elsewhere = world.ground.open(|_, builder| builder).await?;
    for memory in [&world.memory, &world.memory, &elsewhere] {
        sees_only(&memory.of(ada), ids, "Aurora").await?;
        sees_only(&memory.of(bob), ids, "Boreas").await?;
        world.tend().await?;
    }
    let receipt = world.memory.of(ada).forget(&Forget::Everything).await?;
    check!(receipt.complete, "something is left: {receipt:?}");
    for memory in [&world.memory, &elsewhere] {
        let ada = memory.of(ada);
        equal(ada.search(&Search::new("Aurora Boreas")).await?.hits.len(), 0)?;
        equal((ada.messages(&[ids.message]).await?, ada.get(&[ids.record]).await?), (vec![], vec![]))?;
        sees_only(&memory.of(bob), ids, "Boreas").await?;
        world.tend().await?;
    }
    Ok(())
}

async fn s2_10_conversations_of_one_owner_have_windows_of_their_own(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for name in ["one", "one:two", "two"] {
        ada.session(&session(name)?).append(vec![world.user(&format!("This is {name}."))]).await?;
    }
    for name in ["one", "one:two", "two"] {
        let talk = ada.session(&session(name)?);
        let context = talk.context("", 1_000).await?;
        equal(context.messages().map(Message::text).collect::<Vec<_>>(), [format!("This is {name}.")])?;
        equal(talk.state().await?.head.0, 1)?;
    }
    Ok(())
}
