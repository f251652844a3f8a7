//! What a context holds: its parts in their order, within the budget, in every turn of an agent.

use memory_core::engine::{ContextRequest, PartKind};
use memory_core::message::Defaults;
use memory_core::window::Budget;
use memory_core::{Error, Message, MessageId, Role};
use serde_json::json;

use super::world::{World, holds, kinds, session};
use crate::isolation::Stores;
use crate::{Bed, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_21_what_was_said_is_in_the_next_context,
    s2_1_parts_stand_in_their_order_and_keep_the_budget,
    s2_1_the_block_stands_before_a_query_that_was_appended_already_and_before_its_calls,
    s2_7_a_reserve_or_query_above_the_limit_is_over_budget,
    s2_13c_no_context_is_silently_empty,
    s2_13d_history_is_recalled_unless_it_is_switched_off,
    s2_14e_what_the_window_tells_is_no_reason_to_recall_something_else,
    row_11_conversations_through_one_handle_recall_what_each_asks_for,
]);

async fn s0_21_what_was_said_is_in_the_next_context(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let context = talk.context("My name is Charlie.", 500).await?;
    equal(kinds(&context), [PartKind::Query])?;
    talk.append(vec![world.user("My name is Charlie."), world.say(Role::Assistant, "Hello!")]).await?;
    for process in [world.owner("ada")?, world.ground.reader("ada").await?] {
        let context = process.session(talk.id()).context("What is my name?", 500).await?;
        holds(&context, "Charlie")?;
        equal(context.messages().last().map(Message::text).as_deref(), Some("What is my name?"))?;
    }
    Ok(())
}

async fn s2_1_parts_stand_in_their_order_and_keep_the_budget(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.say(Role::System, "You are a gardener."), world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(60)).await?;
    world.tend().await?;
    for budget in [400, 500, 700, 2_000] {
        let context = talk.context("What is the name of my rose?", budget).await?;
        equal(kinds(&context), [PartKind::Instruction, PartKind::History, PartKind::Recalled, PartKind::Query])?;
        check!(context.tokens() <= budget, "{} tokens in {budget}", context.tokens());
        equal(context.tokens(), context.parts.iter().map(|part| part.tokens).sum::<u64>())?;
        let block = context.parts.iter().find(|part| part.kind == PartKind::Recalled).ok_or("nothing is recalled")?;
        check!(block.message.text().contains("Aurora"), "recalled {}", block.message.text());
        equal(block.message.role, Role::User)?;
    }
    Ok(())
}

async fn s2_1_the_block_stands_before_a_query_that_was_appended_already_and_before_its_calls(
    bed: Bed<Stores>,
) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(60)).await?;
    world.tend().await?;
    let query = "What is the name of my rose?";
    talk.append(vec![world.user(query)]).await?;
    let context = talk.context(query, 500).await?;
    equal(kinds(&context), [PartKind::History, PartKind::Recalled, PartKind::Query])?;
    equal(context.messages().last().map(Message::text).as_deref(), Some(query))?;
    let call = json!({ "role": "assistant", "content": null, "tool_calls":
        [{ "id": "c", "type": "function", "function": { "name": "look_up", "arguments": "{}" } }] });
    let result = json!({ "role": "tool", "tool_call_id": "c", "content": "a list of roses" });
    for value in [call, result] {
        let defaults = Defaults { id: MessageId::fresh(), at: world.memory.now() };
        talk.append(vec![Message::from_openai(&value, defaults)?]).await?;
    }
    let context = talk.context(query, 600).await?;
    equal(kinds(&context), [PartKind::History, PartKind::Recalled, PartKind::Query, PartKind::History])?;
    equal(context.messages().filter(|message| message.text() == query).count(), 1)
}

async fn s2_7_a_reserve_or_query_above_the_limit_is_over_budget(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    fails!(talk.context("", Budget::new(100).reserve(101)).await, Error::OverBudget { need: 101, budget: 100 });
    fails!(talk.context(&"rose ".repeat(200), 100).await, Error::OverBudget { .. });
    talk.append(world.chatter(60)).await?;
    let context = talk.context("", Budget::new(1_000).reserve(400)).await?;
    check!(context.tokens() <= 600, "{} tokens beside a reserve of 400", context.tokens());
    equal((context.receipt.tokens.limit, context.receipt.tokens.reserved), (600, 400))
}

async fn s2_13c_no_context_is_silently_empty(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    for budget in [0, 1, 5, 50, 5_000] {
        match talk.context("", budget).await {
            Ok(context) => holds(&context, "Aurora")?,
            Err(Error::OverBudget { need, .. }) => check!(need > budget, "{need} tokens fit into {budget}"),
            Err(other) => return Err(other.into()),
        }
    }
    holds(&talk.context("", 5_000).await?, "Aurora")
}

async fn s2_13d_history_is_recalled_unless_it_is_switched_off(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(60)).await?;
    world.tend().await?;
    let request = ContextRequest::new("What is the name of my rose?", 400);
    holds(&talk.assemble(&request).await?, "Aurora")?;
    let without = talk.assemble(&request.recall(0)).await?;
    check!(without.messages().all(|message| !message.text().contains("Aurora")), "recalled {without:#?}");
    // What is left out is counted.
    let history = &without.receipt.history;
    equal(history.window_messages, history.kept_messages + history.no_room + history.no_start)
}

async fn s2_14e_what_the_window_tells_is_no_reason_to_recall_something_else(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let (talk, other) = (world.talk("ada")?, world.owner("ada")?.session(&session("balcony")?));
    other.append(world.chatter(8)).await?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    world.tend().await?;
    let query = "What is my rose called?";
    let context = talk.context(query, 2_000).await?;
    holds(&context, "Aurora")?;
    equal(kinds(&context), [PartKind::History, PartKind::Query])?;
    // Where no window tells it, it is recalled.
    let context = other.context(query, 2_000).await?;
    holds(&context, "Aurora")?;
    equal(kinds(&context), [PartKind::History, PartKind::Recalled, PartKind::Query])
}

async fn row_11_conversations_through_one_handle_recall_what_each_asks_for(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.owner("ada")?;
    let talks = [("a", "rose", "Aurora"), ("b", "boat", "Beluga"), ("c", "cat", "Carioca")];
    for (name, what, called) in talks {
        let talk = ada.session(&session(name)?);
        talk.append(vec![world.user(&format!("My {what} is called {called}."))]).await?;
        talk.append(world.chatter(8)).await?;
    }
    for _ in 0..2 {
        for (name, what, called) in talks {
            let talk = ada.session(&session(name)?);
            let context = talk.context(&format!("What is the name of my {what}?"), 400).await?;
            let history = &context.receipt.history;
            check!(history.kept_messages < history.window_messages, "all of the window went in: {history:?}");
            holds(&context, called)?;
        }
        world.tend().await?;
    }
    Ok(())
}
