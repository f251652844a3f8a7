//! Summaries that are taken out of a window while records are derived from them: wherever that is cut off, a later forget of what
//! they covered finds these records.

use memory_core::engine::{Forget, Session};
use memory_core::store::chat::{Page, View};
use memory_core::{Error, ItemId, Message, MessageId, Role, Seq, SeqRange, StoredMessage};

use super::late::{Said, fact};
use super::plot::{fold_span, said};
use super::traced::{ENDINGS, ends, give_up};
use super::world::{World, talk};
use crate::doubles::Ending;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    what_was_derived_from_a_summary_falls_although_the_unfold_was_cut_off,
    what_was_told_of_a_summary_at_last_falls_although_the_unfold_was_cut_off,
    what_was_derived_from_a_summary_falls_although_an_edit_was_cut_off,
    an_old_handle_unfolds_nothing_of_a_conversation_that_was_restored,
]);

/// Calls of an unfold at the most.
const CALLS: u64 = 32;
/// Calls of an edit that unfolds a summary at the most.
const EDITING: u64 = 48;

async fn what_was_derived_from_a_summary_falls_although_the_unfold_was_cut_off(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for ending in ENDINGS {
        for nth in 1..=CALLS {
            let scope = bed.scope(&format!("{ending:?}-{nth}"))?;
            let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope).session(&talk()?));
            let said = Said::by(&world, &ada).await?;
            ada.remember(fact("ada has a pin", ItemId::Message(said.summary))).await?;
            let summary = said.summary;
            world.cut.arm(nth, ending);
            give_up(&world, tokio::spawn(async move { unlucky.unfold(summary).await })).await;
            ends(&ada, &Forget::Messages(vec![said.message])).await?;
        }
    }
    Ok(())
}

async fn what_was_told_of_a_summary_at_last_falls_although_the_unfold_was_cut_off(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for ending in ENDINGS {
        for nth in 1..=CALLS / 2 {
            let scope = bed.scope(&format!("{ending:?}-{nth}"))?;
            let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope).session(&talk()?));
            let said = Said::by(&world, &ada).await?;
            let summary = said.summary;
            // It has been looked for what was derived.
            world.cut.arm_at("compact", Ending::IsDroppedBefore);
            let unfolding = tokio::spawn(async move { unlucky.unfold(summary).await });
            world.cut.reached().await;
            ada.remember(fact("ada has a pin", ItemId::Message(said.summary))).await?;
            world.cut.arm(nth, ending);
            world.cut.resume();
            give_up(&world, unfolding).await;
            ends(&ada, &Forget::Messages(vec![said.message])).await?;
        }
    }
    Ok(())
}

/// A question with a long answer, a part of which is folded.
struct Turn {
    question: MessageId,
    folded: MessageId,
    summary: MessageId,
}

impl Turn {
    async fn by(world: &World, talk: &Session) -> Result<Self, Failure> {
        let messages: Vec<Message> = ["where?", "one", "two", "three"].map(|text| said(Role::User, text)).to_vec();
        let mut ids = messages.iter().map(|message| message.id);
        let (question, folded) = ids.next().zip(ids.next()).ok_or("nothing was said")?;
        talk.append(messages).await?;
        let span = SeqRange { first: Seq(2), last: Seq(3) };
        let summary = fold_span(world, talk.scoped(), talk.id(), span, "one and two").await?;
        Ok(Self { question, folded, summary })
    }
}

async fn what_was_derived_from_a_summary_falls_although_an_edit_was_cut_off(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for nth in 1..=EDITING {
        let scope = bed.scope(&format!("ada{nth}"))?;
        let ada = world.sound.of(&scope);
        let (sound, unlucky) = (ada.session(&talk()?), world.bare.of(&scope).session(&talk()?));
        let turn = Turn::by(&world, &sound).await?;
        ada.remember(fact("ada counts", ItemId::Message(turn.summary))).await?;
        let edited = vec![said(Role::User, "when?")];
        let (question, first) = (turn.question, edited.clone());
        world.cut.arm(nth, Ending::IsDroppedAfter);
        give_up(&world, tokio::spawn(async move { unlucky.replace(question, first).await })).await;
        sound.replace(question, edited).await?;
        ends(&ada, &Forget::Messages(vec![turn.folded])).await?;
    }
    Ok(())
}

async fn an_old_handle_unfolds_nothing_of_a_conversation_that_was_restored(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let ada = world.sound.of(&bed.scope("ada")?);
    let (told, old) = (Said::by(&world, &ada).await?, ada.session(&talk()?));
    old.append(vec![said(Role::User, "four")]).await?;
    let rows = old.read(&Page::after(Seq(0), 10, View::All)).await?.messages;
    ada.forget(&Forget::Session(talk()?)).await?;
    ada.session(&talk()?).restore(&rows).await?;
    fails!(old.unfold(told.summary).await, Error::Fenced);
    let left = ada.session(&talk()?).read(&Page::after(Seq(0), 10, View::All)).await?.messages;
    let marks = |rows: &[StoredMessage]| rows.iter().map(|row| (row.id, row.archived_by)).collect::<Vec<_>>();
    equal(marks(&left), marks(&rows))
}
