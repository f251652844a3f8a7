//! Windows that grow too full: their oldest part is folded behind a summary, and nothing is lost.

use std::sync::Arc;

use memory_core::engine::{Forget, PartKind, Search, Session};
use memory_core::store::chat::{Page, View};
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Seq, StoredMessage};

use super::world::{World, kinds, texts};
use crate::doubles::{Cut, Ending};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    s0_5_c21_a_full_window_is_folded_down_to_half_and_nothing_is_lost,
    s0_5_summaries_that_are_switched_off_fold_nothing,
    s1_4_at_message_51_the_oldest_ten_are_folded_and_archived,
    s3_8_what_was_said_is_found_by_its_words_in_the_window_and_in_the_archive,
    o5_a_fold_can_be_undone,
    o5_a_fold_that_ends_with_its_process_at_any_call_loses_nothing,
]);

const LIMIT: u64 = 1_500;

/// Opens a memory whose windows are folded so, and fills one beyond its limit.
async fn full(bed: &Bed<Stores>, window: BufferConfig) -> Result<(World, Session), Failure> {
    let world = World::with(bed, |_, builder| builder.buffer(window)).await?;
    let talk = world.talk("ada")?;
    let head = [
        world.say(Role::System, "You are a gardener."),
        world.user("My rose is called Aurora."),
        world.say(Role::Assistant, "A fine name."),
    ];
    talk.append([head.to_vec(), world.chatter(50)].concat()).await?;
    Ok((world, talk))
}

/// Returns what was said, archived or not.
async fn log(talk: &Session) -> Result<Vec<String>, Failure> {
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::Log)).await?.messages;
    Ok(rows.iter().filter_map(|row| row.message.as_deref()).map(Message::text).collect())
}

async fn active(talk: &Session) -> Result<Vec<StoredMessage>, Failure> {
    Ok(talk.read(&Page::newest(1_000)).await?.messages)
}

async fn s0_5_c21_a_full_window_is_folded_down_to_half_and_nothing_is_lost(bed: Bed<Stores>) -> Scene {
    let (world, talk) = full(&bed, BufferConfig::default().with_limit(LIMIT)).await?;
    let before = log(&talk).await?;
    check!(talk.state().await?.active_tokens > LIMIT, "the window is not full");
    let report = world.memory.upkeep_once().await?;
    check!(report.summarised > 0 && report.failures.is_empty(), "{report:?}");
    let state = talk.state().await?;
    check!(state.active_tokens <= LIMIT / 2, "{} tokens are left", state.active_tokens);
    equal(log(&talk).await?, before)?;
    let context = talk.context("Good morning", LIMIT).await?;
    equal(kinds(&context).get(..2), Some(&[PartKind::Instruction, PartKind::Summary][..]))?;
    let summary = context.parts.iter().find(|part| part.kind == PartKind::Summary).ok_or("there is no summary")?;
    equal(summary.message.role, Role::User)?;
    check!(summary.message.text().starts_with("<summary of="), "{}", summary.message.text());
    // What was archived is found as before.
    let found = world.ground.reader("ada").await?.search(&Search::new("Aurora").limit(1)).await?;
    equal(texts(&found), ["My rose is called Aurora."])?;
    equal(world.memory.upkeep_once().await?.summarised, 0)
}

async fn s0_5_summaries_that_are_switched_off_fold_nothing(bed: Bed<Stores>) -> Scene {
    let (world, talk) = full(&bed, BufferConfig::default().with_limit(LIMIT).with_folding(Folding::Off)).await?;
    let before = active(&talk).await?;
    check!(talk.state().await?.active_tokens > LIMIT, "the window is not full");
    for _ in 0..2 {
        equal(world.memory.upkeep_once().await?.summarised, 0)?;
        equal(active(&talk).await?, before.clone())?;
    }
    // Another process, which may, folds the window with the next message.
    talk.append(vec![world.user("Good night.")]).await?;
    let window = BufferConfig::default().with_limit(LIMIT);
    let other = world.ground.open(|_, builder| builder.buffer(window)).await?;
    check!(other.upkeep_once().await?.summarised > 0, "nothing is folded where it is not switched off");
    Ok(())
}

async fn s1_4_at_message_51_the_oldest_ten_are_folded_and_archived(bed: Bed<Stores>) -> Scene {
    let world =
        World::with(&bed, |_, builder| builder.buffer(BufferConfig::default().with_capacity_messages(50))).await?;
    let talk = world.talk("ada")?;
    talk.append(world.chatter(25)).await?;
    equal(world.memory.upkeep_once().await?.summarised, 0)?;
    let before = log(&talk).await?;
    equal(before.len(), 50)?;
    talk.append(vec![world.user("My rose is called Aurora.")]).await?;
    let report = world.memory.upkeep_once().await?;
    equal((report.summarised, report.failures), (1, vec![]))?;
    let rows = active(&talk).await?;
    let covers: Vec<_> = rows.iter().filter_map(|row| row.covers).map(|span| (span.first.0, span.last.0)).collect();
    equal((rows.len(), covers), (42, vec![(1, 10)]))?;
    let archived = talk.read(&Page::after(Seq(0), 1_000, View::All)).await?.messages;
    equal(archived.iter().filter(|row| row.archived_by.is_some()).count(), 10)?;
    equal(log(&talk).await?.get(..50), Some(&before[..]))
}

async fn s3_8_what_was_said_is_found_by_its_words_in_the_window_and_in_the_archive(bed: Bed<Stores>) -> Scene {
    let (world, talk) = full(&bed, BufferConfig::default().with_limit(LIMIT)).await?;
    talk.append(vec![world.user("My tulip is called Boreas.")]).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    let archived = |text: &str, rows: &[StoredMessage]| {
        rows.iter().any(|row| {
            row.archived_by.is_some() && row.message.as_deref().is_some_and(|message| message.text() == text)
        })
    };
    let rows = talk.read(&Page::after(Seq(0), 1_000, View::All)).await?.messages;
    check!(archived("My rose is called Aurora.", &rows) && !archived("My tulip is called Boreas.", &rows), "{rows:?}");
    // By the index alone, and by words alone.
    let reader = world.ground.reader("ada").await?;
    for (words, text) in [("Aurora", "My rose is called Aurora."), ("Boreas", "My tulip is called Boreas.")] {
        let found = reader.search(&Search::new(words).limit(1)).await?;
        equal(texts(&found), [text])?;
        check!(found.hits.iter().all(|hit| hit.signals.text_rank == Some(1)), "{:?}", found.hits);
    }
    Ok(())
}

async fn o5_a_fold_can_be_undone(bed: Bed<Stores>) -> Scene {
    let (world, talk) = full(&bed, BufferConfig::default().with_limit(LIMIT)).await?;
    let before = active(&talk).await?;
    check!(world.memory.upkeep_once().await?.summarised > 0, "nothing was folded");
    unfold(&talk).await?;
    equal(active(&talk).await?, before)
}

/// Undoes all folds of a conversation.
async fn unfold(talk: &Session) -> Scene {
    for _ in 0..10 {
        let rows = active(talk).await?;
        let Some(summary) = rows.iter().find(|row| row.covers.is_some()) else { break };
        talk.unfold(summary.id).await?;
    }
    Ok(())
}

async fn o5_a_fold_that_ends_with_its_process_at_any_call_loses_nothing(bed: Bed<Stores>) -> Scene {
    let window = BufferConfig::default().with_limit(LIMIT);
    let world = World::with(&bed, |_, builder| builder.buffer(window)).await?;
    for ending in [Ending::IsDroppedBefore, Ending::IsDroppedAfter] {
        for nth in 1.. {
            let talk = world.talk(&format!("{ending:?} {nth}"))?;
            talk.append(world.chatter(50)).await?;
            // A journal, if there is one, would send it at any of the calls.
            talk.flush().await?;
            let (said, before) = (log(&talk).await?, active(&talk).await?);
            let cut = Arc::<Cut>::default();
            let dying = world.ground.open_cut_by(&cut, |_, builder| builder.buffer(window)).await?;
            cut.arm(nth, ending);
            let answer = cut.give_up(dying.upkeep_once()).await;
            equal(&log(&talk).await?, &said)?;
            // Another process folds what is left to fold, if anything is.
            world.tend_later().await?;
            let left = talk.state().await?.active_tokens;
            check!(left < LIMIT * 4 / 5, "{left} tokens are left, {ending:?} at call {nth}");
            equal(&log(&talk).await?, &said)?;
            unfold(&talk).await?;
            equal(active(&talk).await?, before)?;
            talk.scoped().forget(&Forget::Everything).await?;
            if answer.is_some() {
                check!(nth > 5, "a pass makes {nth} calls");
                break;
            }
        }
    }
    Ok(())
}
