//! What was just written is found at once, and stays found when upkeep has indexed it.

use std::sync::Arc;

use memory_core::engine::{Forget, Remember, Remembered, Search};
use memory_core::novelty::{Gate, Reason, Repeat};
use memory_core::{Field, Filter, Role, Unit};

use super::world::{World, found, holds, session, texts};
use crate::doubles::Counting;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_8_what_was_written_is_found_before_upkeep_and_after,
    o7_a_context_of_one_conversation_recalls_what_was_just_said_in_another,
    o7_what_has_just_dropped_out_of_the_window_is_recalled,
    o7_what_was_forgotten_or_changed_is_not_found_by_what_it_was,
    o7_an_instruction_is_never_found,
    o7_an_instruction_is_not_found_without_words_either,
    o7_what_is_not_indexed_yet_costs_a_search_a_bounded_number_of_bytes,
    every_receipt_of_a_record_says_how_durable_it_is,
]);

const NONE: [&str; 0] = [];

async fn s0_8_what_was_written_is_found_before_upkeep_and_after(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (ada, bob) = (world.owner("ada")?, world.owner("bob")?);
    world.talk("ada")?.append(vec![world.user("My rose is called Aurora.")]).await?;
    ada.remember(Remember::fact("Aurora needs water")).await?;
    let aurora = Search::new("Aurora");
    equal(found(&world.ground.reader("ada").await?, &aurora).await?, NONE)?;
    for process in [ada.clone(), ada, world.ground.reader("ada").await?] {
        equal(found(&process, &aurora).await?, ["Aurora needs water", "My rose is called Aurora."])?;
        equal(found(&process, &aurora.clone().only(Unit::Record)).await?, ["Aurora needs water"])?;
        equal(found(&process, &aurora.clone().matching(Filter::eq(Field::Role, "assistant"))).await?, NONE)?;
        equal(found(&bob, &aurora).await?, NONE)?;
        // The first process has found it without an index; the last one wrote nothing.
        world.tend().await?;
        let hits = process.search(&aurora).await?.hits;
        let in_both = hits.iter().all(|hit| hit.signals.text.is_some() && hit.signals.cosine.is_some());
        check!(in_both, "not in both indexes: {hits:?}");
    }
    Ok(())
}

async fn o7_a_context_of_one_conversation_recalls_what_was_just_said_in_another(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let monday = world.owner("ada")?.session(&session("monday")?);
    monday.append(vec![world.user("My rose is called Aurora.")]).await?;
    for _ in 0..2 {
        holds(&world.talk("ada")?.context("What is my rose called?", 1_000).await?, "Aurora")?;
        world.tend().await?;
    }
    let tuesday = world.ground.reader("ada").await?.session(&session("tuesday")?);
    holds(&tuesday.context("What is my rose called?", 1_000).await?, "Aurora")
}

async fn o7_what_has_just_dropped_out_of_the_window_is_recalled(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(8)).await?;
    for _ in 0..2 {
        let context = talk.context("What is the name of my rose?", 400).await?;
        let history = &context.receipt.history;
        check!(history.kept_messages < history.window_messages, "all of the window went in: {history:?}");
        holds(&context, "Aurora")?;
        world.tend().await?;
    }
    Ok(())
}

async fn o7_what_was_forgotten_or_changed_is_not_found_by_what_it_was(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for subject in ["fresh", "indexed"] {
        let ada = world.owner(subject)?;
        let said = world.user("My rose is called Aurora.");
        let id = said.id;
        world.talk(subject)?.append(vec![said]).await?;
        let rome = ada.remember(Remember::fact("Aurora lives in Rome")).await?;
        if subject == "indexed" {
            world.tend().await?;
        }
        ada.supersede(rome.id, Remember::fact("Boreas lives in Oslo")).await?;
        ada.forget(&Forget::Messages(vec![id])).await?;
        for _ in 0..2 {
            let left = found(&ada, &Search::new("Aurora")).await?;
            check!(left.iter().all(|text| !text.contains("Aurora")), "found {left:?}");
            equal(found(&ada, &Search::new("Oslo")).await?, ["Boreas lives in Oslo"])?;
            world.tend().await?;
        }
        ada.forget(&Forget::Everything).await?;
        equal(found(&world.owner(subject)?, &Search::new("Oslo")).await?, NONE)?;
    }
    Ok(())
}

async fn o7_an_instruction_is_never_found(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    world.talk("ada")?.append(vec![world.say(Role::System, "You are Aurora.")]).await?;
    for _ in 0..2 {
        equal(found(&world.owner("ada")?, &Search::new("Aurora")).await?, NONE)?;
        world.tend().await?;
    }
    Ok(())
}

async fn o7_an_instruction_is_not_found_without_words_either(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose needs water.")]).await?;
    // They are newer, and more than are asked for.
    let rules = [Role::System, Role::Developer, Role::System].map(|role| world.say(role, "You are Aurora."));
    talk.append(rules.into()).await?;
    let newest = Search::new("").limit(2);
    let shared = newest.clone().sharing([world.ground.scope("ada")?]);
    for _ in 0..2 {
        equal(found(&world.owner("ada")?, &newest).await?, ["My rose needs water."])?;
        equal(texts(&talk.search(&newest).await?), ["My rose needs water."])?;
        equal(found(&world.owner("bob")?, &shared).await?, ["My rose needs water."])?;
        let asked_for = newest.clone().matching(Filter::eq(Field::Role, "system"));
        equal(found(&world.owner("ada")?, &asked_for).await?, NONE)?;
        world.tend().await?;
    }
    Ok(())
}

async fn o7_what_is_not_indexed_yet_costs_a_search_a_bounded_number_of_bytes(bed: Bed<Stores>) -> Scene {
    let (world, counting) = (World::open(&bed).await?, Arc::<Counting>::default());
    let memory = world.ground.open_counted(&counting, |_, builder| builder).await?;
    let ada = memory.of(&world.ground.scope("ada")?);
    let talk = ada.session(&session("talk")?);
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    // Nine mebibytes, of which no search needs a word.
    let long = "- ".repeat(1 << 19);
    for _ in 0..9 {
        talk.append(vec![world.user(&long)]).await?;
    }
    talk.flush().await?;
    counting.reset();
    // However much was said later, the short message is found.
    equal(found(&ada, &Search::new("Aurora")).await?, ["My rose is called Aurora."])?;
    check!(counting.rows("get") <= 4, "{} messages are read, most of a mebibyte", counting.rows("get"));
    Ok(())
}

async fn every_receipt_of_a_record_says_how_durable_it_is(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let stores = world.memory.status().await.stores;
    let records = stores.iter().find(|store| store.part == "records").ok_or("there are no records")?;
    let health = records.health.as_ref().map_err(|error| Failure::new(error.to_string()))?;
    let ada = world.owner("ada")?;
    let told = ada.remember(Remember::fact("Aurora is a rose")).await?;
    let again = ada.remember(Remember::fact("aurora is a rose!")).await?;
    let skip = Gate::default().with_repeat(Repeat::Skip);
    let dropped = ada.remember(Remember::fact("Aurora is a rose").gated(skip)).await?;
    let newer = ada.supersede(told.id, Remember::fact("Aurora is a boat")).await?;
    let together = ada.remember_all(vec![Remember::fact("Boreas is a wind")]).await?;
    equal((told.outcome, dropped.outcome), (Remembered::Stored, Remembered::Skipped(Reason::Equal(told.id))))?;
    for receipt in [told, again, dropped, newer].iter().chain(&together) {
        equal(receipt.durability, health.durability)?;
    }
    Ok(())
}
