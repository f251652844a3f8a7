//! What a memory does where nothing is set: the anti-patterns and recommendations of LlamaIndex's users, one scenario each.

use std::sync::{Arc, Mutex, PoisonError};

use memory_core::engine::{ContextRequest, Event, Observer, Search};
use memory_core::window::{BufferConfig, Oversize};
use memory_core::{Block, Error, Message, Role, Scope};
use serde_json::Map;

use super::world::{World, holds, texts};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s2_13a_s2_14a_long_talk_is_summarised_unless_that_is_switched_off,
    s2_13b_s2_14b_calls_of_tools_are_counted_by_their_structure,
    s2_13f_s2_14c_what_leaves_a_window_is_told,
    s2_13c_s2_14d_a_turn_that_is_too_large_is_an_error_unless_set_otherwise,
    s2_13d_s2_14e_a_context_holds_what_is_near_in_time_and_in_meaning,
]);

/// Counts the messages that left a window.
#[derive(Debug, Default)]
struct Left(Mutex<usize>);

impl Observer for Left {
    fn observe(&self, _: Option<&Scope>, event: &Event) {
        if let Event::Archived { .. } = event {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
    }
}

/// Opens a memory whose buffer nobody has set.
async fn plain(bed: &Bed<Stores>) -> Result<(World, Arc<Left>), Failure> {
    let left = Arc::new(Left::default());
    let observer = Arc::clone(&left);
    let world = World::with(bed, |_, builder| builder.buffer(BufferConfig::default()).observer(observer)).await?;
    Ok((world, left))
}

/// Returns turns of more tokens than a window takes by default.
fn long_talk(world: &World) -> Vec<Message> {
    let turn = |n: usize| {
        let asked = world.user(&format!("Question {n}: {}", "what grows in the shade of the old wall? ".repeat(40)));
        [asked, world.say(Role::Assistant, &format!("Answer {n}: ferns."))]
    };
    (0..80).flat_map(turn).collect()
}

async fn s2_13a_s2_14a_long_talk_is_summarised_unless_that_is_switched_off(bed: Bed<Stores>) -> Scene {
    let (world, _) = plain(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(long_talk(&world)).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was summarised");
    equal(talk.state().await?.head.0, 160)
}

async fn s2_13b_s2_14b_calls_of_tools_are_counted_by_their_structure(bed: Bed<Stores>) -> Scene {
    let (world, _) = plain(&bed).await?;
    let talk = world.talk("ada")?;
    let arguments = format!("{{\"place\":\"{}\"}}", "Lisbon ".repeat(50));
    let call = Block::ToolCall { id: "1".to_owned(), name: "weather".to_owned(), arguments, extra: Map::new() };
    let calls = Message::of_blocks(Role::Assistant, vec![call], world.memory.now());
    let answer = Message::of_blocks(
        Role::Tool,
        vec![Block::tool_result("1", vec![Block::text("sunny ".repeat(50))])],
        world.memory.now(),
    );
    talk.append(vec![world.user("How is the weather?")]).await?;
    let tokens = talk.append(vec![calls, answer]).await?.tokens;
    check!(tokens >= 100, "a call and a result of a hundred words count {tokens} tokens");
    Ok(())
}

async fn s2_13f_s2_14c_what_leaves_a_window_is_told(bed: Bed<Stores>) -> Scene {
    let (world, left) = plain(&bed).await?;
    world.talk("ada")?.append(long_talk(&world)).await?;
    let archived = world.memory.upkeep_once().await?.archived;
    let told = *left.0.lock().unwrap_or_else(PoisonError::into_inner);
    check!(archived > 0, "no message left");
    equal(told, archived)
}

async fn s2_13c_s2_14d_a_turn_that_is_too_large_is_an_error_unless_set_otherwise(bed: Bed<Stores>) -> Scene {
    let (world, _) = plain(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user(&"a very long line ".repeat(200))]).await?;
    fails!(talk.context("", 100).await, Error::OverBudget { .. });
    let kept = talk.assemble(&ContextRequest::new("", 100).oversize(Oversize::TruncateMiddle)).await?;
    check!(kept.tokens() <= 100, "{} tokens", kept.tokens());
    Ok(())
}

async fn s2_13d_s2_14e_a_context_holds_what_is_near_in_time_and_in_meaning(bed: Bed<Stores>) -> Scene {
    let (world, _) = plain(&bed).await?;
    let talk = world.talk("ada")?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    talk.append(world.chatter(60)).await?;
    talk.append(vec![world.user("It is raining today.")]).await?;
    world.tend().await?;
    let context = talk.context("What is the name of my rose?", 400).await?;
    holds(&context, "Aurora")?;
    holds(&context, "raining")?;
    // By its vector alone, too.
    let by_meaning = world.owner("ada")?.search(&Search::new("rose called Aurora").limit(1)).await?;
    equal(texts(&by_meaning), ["My rose is called Aurora."])
}
