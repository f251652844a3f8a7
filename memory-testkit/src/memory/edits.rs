//! Messages that take the place of others, and windows without summaries: what left them stays in the log, and nothing brings it back.

use std::sync::Arc;

use memory_core::engine::{ContextRequest, Forget, Reason, Search, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Seq};

use super::world::{World, session, texts};
use crate::doubles::{Cut, Ending};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_4_above_the_capacity_the_oldest_messages_leave_without_a_summary,
    what_was_replaced_is_in_no_context_and_stays_in_the_log,
    a_replacement_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call,
    forgetting_a_replaced_message_brings_no_other_back,
]);

/// Returns what a context with room for everything shows of a conversation.
async fn shown(talk: &Session) -> Result<Vec<String>, Failure> {
    let context = talk.assemble(&ContextRequest::new("", 100_000).recall(0)).await?;
    Ok(context.messages().map(Message::text).collect())
}

async fn log(talk: &Session) -> Result<Vec<String>, Failure> {
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::Log)).await?.messages;
    Ok(rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect())
}

async fn s0_4_above_the_capacity_the_oldest_messages_leave_without_a_summary(bed: Bed<Stores>) -> Scene {
    let config = BufferConfig::default().with_capacity_messages(10).with_folding(Folding::Archive);
    let world = World::with(&bed, |_, builder| builder.buffer(config)).await?;
    let talk = world.talk("ada")?;
    talk.append([vec![world.user("My rose is called Aurora.")], world.chatter(12)].concat()).await?;
    let said = log(&talk).await?;
    for rest in [1, 2] {
        let report = world.memory.upkeep_once().await?;
        check!(report.archived > 0 && report.summarised == 0 && report.failures.is_empty(), "{report:?}");
        equal(shown(&talk).await?.len(), 10)?;
        talk.append(world.chatter(rest)).await?;
    }
    world.tend().await?;
    equal(log(&talk).await?.get(..25), Some(&said[..]))?;
    let found = world.ground.reader("ada").await?.search(&Search::new("Aurora").limit(1)).await?;
    equal(texts(&found), ["My rose is called Aurora."])
}

async fn what_was_replaced_is_in_no_context_and_stays_in_the_log(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let (question, first) = (world.user("What is my rose called?"), world.say(Role::Assistant, "It is called Peony."));
    let (second, replaced) = (world.say(Role::Assistant, "It is called Aurora."), first.id);
    talk.append(vec![question, first]).await?;
    // A lost answer: the same call again changes nothing.
    for _ in 0..2 {
        let receipt = talk.replace(replaced, vec![second.clone()]).await?;
        equal(receipt.head, Seq(3))?;
        equal(shown(&talk).await?, ["What is my rose called?", "It is called Aurora."])?;
        equal(log(&talk).await?, ["What is my rose called?", "It is called Peony.", "It is called Aurora."])?;
    }
    world.tend().await?;
    // A search finds the variant. No context recalls it, and the receipt says why.
    let found = world.owner("ada")?.search(&Search::new("Peony").limit(1)).await?;
    equal(texts(&found), ["It is called Peony."])?;
    let other = world.owner("ada")?.session(&session("other")?);
    let context = other.context("Is my rose called Peony?", 2_000).await?;
    check!(context.messages().all(|message| !message.text().contains("It is called Peony")), "{context:#?}");
    let reasons: Vec<Reason> = context.receipt.search.left_out.iter().map(|left| left.reason).collect();
    check!(reasons.contains(&Reason::Replaced), "{reasons:?}");
    Ok(())
}

async fn a_replacement_that_ends_with_its_process_at_any_call_is_completed_by_the_same_call(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let talk = world.talk(&format!("{ending:?} {nth}"))?;
            let (kept, question) = (world.chatter(2), world.user("Where are the tulips?"));
            let (from, answer) = (question.id, world.say(Role::Assistant, "In bed four."));
            talk.append([kept, vec![question, answer]].concat()).await?;
            let new = vec![world.user("Where are the daisies?"), world.say(Role::Assistant, "In bed five.")];
            let cut = Arc::<Cut>::default();
            let dying = world.ground.open_cut_by(&cut, |_, builder| builder).await?;
            let dying = dying.of(talk.scoped().scope()).session(talk.id());
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.replace(from, new.clone())).await;
            // Whatever was done, nothing is lost, and the same call ends it.
            check!(log(&talk).await?.len() >= 6, "a message is lost, {ending:?} at call {nth}");
            talk.replace(from, new).await?;
            let now = shown(&talk).await?;
            equal(now.get(4..), Some(&["Where are the daisies?".to_owned(), "In bed five.".to_owned()][..]))?;
            equal(log(&talk).await?.len(), 8)?;
            if answer.is_some() {
                check!(nth > 4, "a replacement makes {nth} calls");
                break;
            }
        }
    }
    Ok(())
}

async fn forgetting_a_replaced_message_brings_no_other_back(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let talk = world.talk("ada")?;
    let (question, answer) = (world.user("Where are the tulips?"), world.say(Role::Assistant, "In bed four."));
    let ids = [question.id, answer.id];
    talk.append([world.chatter(1), vec![question, answer]].concat()).await?;
    talk.replace(ids[0], vec![world.user("Where are the daisies?")]).await?;
    let expected = shown(&talk).await?;
    equal(expected.len(), 3)?;
    for id in ids {
        world.owner("ada")?.forget(&Forget::Messages(vec![id])).await?;
        equal(&shown(&talk).await?, &expected)?;
    }
    equal(log(&talk).await?, expected)
}
