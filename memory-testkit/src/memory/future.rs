//! What a design listed for later: files, vector databases, memory across conversations, summaries of summaries.

use memory_core::engine::{ContextRequest, PartKind, Remember, Search};
use memory_core::model::{Embedder as _, Purpose};
use memory_core::store::chat::{Page, View};
use memory_core::window::BufferConfig;
use memory_core::{Message, Role, Seq};

use super::world::{World, session, texts};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    s4_17b_another_memory_over_the_same_stores_holds_all_that_was_written_down,
    s4_17c_a_vector_database_finds_what_means_the_same,
    s4_17e_what_was_said_in_one_conversation_is_recalled_in_another,
    s4_17g_old_summaries_are_summarised_again_and_nothing_is_lost,
]);

async fn s4_17b_another_memory_over_the_same_stores_holds_all_that_was_written_down(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora."), world.say(Role::Assistant, "A fine name.")]).await?;
    let ada = talk.scoped();
    let told = ada.remember(Remember::fact("Ada lives in Porto")).await?;
    world.tend().await?;
    // A process that wrote nothing.
    let reader = world.ground.reader("ada").await?;
    let context = reader.session(talk.id()).assemble(&ContextRequest::new("", 1_000).recall(0)).await?;
    equal(context.messages().map(Message::text).collect::<Vec<_>>(), ["My rose is called Aurora.", "A fine name."])?;
    let records = reader.get(&[told.id]).await?;
    equal(records.iter().map(|stored| stored.record.text.as_str()).collect::<Vec<_>>(), ["Ada lives in Porto"])?;
    equal(texts(&reader.search(&Search::new("Porto").limit(1)).await?), ["Ada lives in Porto"])
}

async fn s4_17c_a_vector_database_finds_what_means_the_same(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    for text in ["Ada lives in Porto", "Roses need water", "Copper became cheaper"] {
        ada.remember(Remember::fact(text)).await?;
    }
    world.tend().await?;
    let reader = world.ground.reader("ada").await?;
    // A vector alone: no word is asked for.
    let vector = world.ground.embedder.embed(&["water for roses"], Purpose::Query).await?.pop().ok_or("no vector")?;
    let search = Search::new("").vector(world.ground.embedder.space().clone(), vector).limit(1);
    let found = reader.search(&search).await?;
    equal(&found.receipt.degraded, &vec![])?;
    equal(texts(&found), ["Roses need water"])?;
    check!(found.hits.iter().all(|hit| hit.signals.vector_rank == Some(1)), "{:?}", found.hits);
    Ok(())
}

async fn s4_17e_what_was_said_in_one_conversation_is_recalled_in_another(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    ada.session(&session("spring")?).append(vec![world.user("My rose is called Aurora.")]).await?;
    world.tend().await?;
    let autumn = world.ground.reader("ada").await?.session(&session("autumn")?);
    let context = autumn.context("What is the name of my rose?", 1_000).await?;
    let recalled: Vec<_> = context.parts.iter().filter(|part| part.kind == PartKind::Recalled).collect();
    check!(recalled.iter().any(|part| part.message.text().contains("Aurora")), "{context:#?}");
    // It is recalled, and not a part of the new conversation.
    equal(context.receipt.history.kept_messages, 0)
}

async fn s4_17g_old_summaries_are_summarised_again_and_nothing_is_lost(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_capacity_messages(20).with_max_summaries(3, 3);
    let world = World::with(&bed, |_, builder| builder.buffer(window)).await?;
    let talk = world.talk("ada")?;
    let mut said = Vec::new();
    for _ in 0..12 {
        let turns = world.chatter(6);
        said.extend(turns.iter().map(Message::text));
        talk.append(turns).await?;
        while world.memory.upkeep_once().await?.summarised > 0 {}
    }
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::All)).await?.messages;
    let summaries: Vec<_> = rows.iter().filter(|row| row.covers.is_some()).collect();
    let active = summaries.iter().filter(|row| row.archived_by.is_none()).count();
    check!(active <= 3, "{active} summaries are in the window");
    let of_others = summaries.iter().filter(|above| summaries.iter().any(|row| row.archived_by == Some(above.id)));
    check!(of_others.count() > 0, "no summary covers another: {summaries:?}");
    let log = talk.read(&Page::after(Seq(0), 1_000, View::Log)).await?.messages;
    let log: Vec<String> = log.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect();
    equal(log, said)
}
