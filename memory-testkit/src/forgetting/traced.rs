//! Summaries that go with what they cover, while records are derived from them: wherever that is cut off, the same call finds
//! these records.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Forget, Memory, Remember, Retained, Retention, Scoped};
use memory_core::{Error, Filter, ItemId, Scope};
use tokio::task::JoinHandle;

use super::late::{Said, fact};
use super::plot::fold;
use super::world::{World, talk};
use crate::doubles::{Counting, Ending, Tapped};
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    what_was_told_of_a_summary_at_last_falls_although_the_forget_is_cut_off,
    what_was_told_of_a_summary_of_a_session_at_last_falls_although_the_forget_is_cut_off,
    what_was_told_of_a_summary_that_came_meanwhile_falls_although_the_answer_is_lost,
    what_was_told_of_a_summary_that_came_meanwhile_falls_with_its_session,
    an_unrelated_forget_ends_what_another_left,
    a_failed_unfold_deletes_nothing_and_leaves_no_trace,
    a_trace_that_is_too_old_stays_until_what_it_leads_to_is_gone,
    what_retention_spares_of_a_forget_that_was_cut_off_falls_when_that_is_repeated,
    what_retention_spares_of_its_own_forget_falls_when_the_messages_are_forgotten,
]);

/// How many calls a forget makes from its redaction on, at the most.
const CALLS: u64 = 16;
/// How a call ends early: its future is dropped, or its answer is lost.
pub(super) const ENDINGS: [Ending; 2] = [Ending::IsDroppedAfter, Ending::LosesItsAnswer];

/// Begins to forget `what`, tells a record derived from it right before the redaction, and cuts the forget off at the `nth` call
/// from there on, the redaction itself being the first.
async fn cut_off(
    world: &World,
    (sound, unlucky): (&Scoped, &Scoped),
    (what, told): (&Forget, Remember),
    (nth, ending): (u64, Ending),
) -> Scene {
    world.cut.arm_at("redact", Ending::IsDroppedBefore);
    let (forgetting, asked) = (unlucky.clone(), what.clone());
    let forgetting = tokio::spawn(async move { forgetting.forget(&asked).await });
    world.cut.reached().await;
    sound.remember(told).await?;
    world.cut.arm(nth, ending);
    world.cut.resume();
    give_up(world, forgetting).await;
    Ok(())
}

/// Waits until a call has ended in whatever way, or drops it where the cut says so.
pub(super) async fn give_up<T>(world: &World, mut call: JoinHandle<T>) {
    let is_dropped = tokio::select! {
        _ = &mut call => false,
        () = world.cut.reached() => true,
    };
    if is_dropped {
        call.abort();
        drop(call.await);
    }
    world.cut.disarm();
}

/// Passes if `what` is forgotten, and no record is left.
pub(super) async fn ends(sound: &Scoped, what: &Forget) -> Scene {
    let receipt = sound.forget(what).await?;
    check!(receipt.complete, "something is left: {receipt:?}");
    equal(sound.records(&Filter::All, None, 10).await?, [])
}

/// Cuts off at every call, in every way, what forgets `what` of an owner's first message.
async fn cut_everywhere(bed: &Bed<Stores>, what: impl Fn(&Said) -> Result<Forget, Failure>) -> Scene {
    let world = World::open(bed).await?;
    for ending in ENDINGS {
        for nth in 1..=CALLS {
            let scope = bed.scope(&format!("{ending:?}-{nth}"))?;
            let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
            let said = Said::by(&world, &ada).await?;
            let what = what(&said)?;
            let told = fact("ada has a pin", ItemId::Message(said.summary));
            cut_off(&world, (&ada, &unlucky), (&what, told), (nth, ending)).await?;
            ends(&ada, &what).await?;
        }
    }
    Ok(())
}

async fn what_was_told_of_a_summary_at_last_falls_although_the_forget_is_cut_off(bed: Bed<Stores>) -> Scene {
    cut_everywhere(&bed, |said| Ok(Forget::Messages(vec![said.message]))).await
}

async fn what_was_told_of_a_summary_of_a_session_at_last_falls_although_the_forget_is_cut_off(
    bed: Bed<Stores>,
) -> Scene {
    cut_everywhere(&bed, |_| Ok(Forget::Session(talk()?))).await
}

async fn what_was_told_of_a_summary_that_came_meanwhile_falls_although_the_answer_is_lost(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    for ending in ENDINGS {
        let scope = bed.scope(&format!("{ending:?}"))?;
        let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
        let said = Said::by(&world, &ada).await?;
        let what = Forget::Messages(vec![said.message]);
        // What was derived from the message is found and about to be deleted. The summaries that cover the message were read before.
        world.cut.arm_at("delete", Ending::IsDroppedBefore);
        let (forgetting, asked) = (unlucky.clone(), what.clone());
        let forgetting = tokio::spawn(async move { forgetting.forget(&asked).await });
        world.cut.reached().await;
        let summary = fold(&world, &ada, &talk()?, 3, "the pin is 4711, and more").await?;
        world.cut.arm_at("redact", Ending::IsDroppedBefore);
        world.cut.resume();
        world.cut.reached().await;
        ada.remember(fact("ada has a pin", ItemId::Message(summary))).await?;
        world.cut.arm_at("redact", ending);
        world.cut.resume();
        give_up(&world, forgetting).await;
        ends(&ada, &what).await?;
    }
    Ok(())
}

async fn what_was_told_of_a_summary_that_came_meanwhile_falls_with_its_session(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, slow) = (world.sound.of(&scope), world.bare.of(&scope));
    Said::by(&world, &ada).await?;
    let what = Forget::Session(talk()?);
    world.cut.arm_at("redact", Ending::IsDroppedBefore);
    let meanwhile = async {
        // All rows of the session are read by now.
        world.cut.reached().await;
        let told = async {
            let summary = fold(&world, &ada, &talk()?, 3, "the pin is 4711, and more").await?;
            Ok::<_, Failure>(ada.remember(fact("ada has a pin", ItemId::Message(summary))).await?)
        };
        let told = told.await;
        world.cut.resume();
        told
    };
    let (receipt, told) = tokio::join!(slow.forget(&what), meanwhile);
    told?;
    check!(receipt?.complete, "something is left");
    equal(ada.records(&Filter::All, None, 10).await?, [])
}

async fn a_failed_unfold_deletes_nothing_and_leaves_no_trace(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, slow) = (world.sound.of(&scope), world.bare.of(&scope).session(&talk()?));
    let said = Said::by(&world, &ada).await?;
    ada.remember(fact("ada has a pin", ItemId::Message(said.summary))).await?;
    let before = ada.records(&Filter::All, None, 10).await?;
    world.cut.arm_at("compact", Ending::IsDroppedBefore);
    let meanwhile = async {
        world.cut.reached().await;
        let folded = fold(&world, &ada, &talk()?, 3, "the pin is 4711, and more").await;
        world.cut.resume();
        folded
    };
    let (unfolded, folded) = tokio::join!(slow.unfold(said.summary), meanwhile);
    folded?;
    fails!(unfolded, Error::Conflict);
    equal(ada.records(&Filter::All, None, 10).await?, before)
}

async fn an_unrelated_forget_ends_what_another_left(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    let what = Forget::Messages(vec![said.message]);
    let told = fact("ada has a pin", ItemId::Message(said.summary));
    cut_off(&world, (&ada, &unlucky), (&what, told), (1, Ending::IsDroppedAfter)).await?;
    check!(!ada.records(&Filter::All, None, 10).await?.is_empty(), "nothing was left");
    ends(&ada, &Forget::Messages(vec![said.other])).await
}

/// Cuts off the forgetting of an owner's first message, of which a pinned record was derived at last. Then tends a memory that keeps
/// only so much of what the owner has.
async fn cut_off_and_tended(bed: &Bed<Stores>, retention: Retention) -> Result<(Scoped, Said), Failure> {
    let world = World::open(bed).await?;
    let scope = bed.scope("ada")?;
    let (ada, unlucky) = (world.sound.of(&scope), world.bare.of(&scope));
    let said = Said::by(&world, &ada).await?;
    let what = Forget::Messages(vec![said.message]);
    let told = fact("ada has a pin", ItemId::Message(said.summary)).pinned();
    cut_off(&world, (&ada, &unlucky), (&what, told), (1, Ending::IsDroppedAfter)).await?;
    tend(&world, bed, scope, retention).await?;
    // The trace, and the record.
    equal(ada.records(&Filter::All, None, 10).await?.len(), 2)?;
    Ok((ada, said))
}

/// Tends a memory over the same stores in which so much is kept of an owner. A call pauses there when the cut of `world` says so.
async fn tend(world: &World, bed: &Bed<Stores>, scope: Scope, retention: Retention) -> Scene {
    bed.clock.advance(Duration::from_secs(31 * 24 * 3_600));
    let (chat, calls) = (world.chat.clone(), Arc::<Counting>::default());
    let chat = chat.layered(|store| Arc::new(Tapped::new(store, calls).cut_by(Arc::clone(&world.cut))));
    let builder = Memory::builder(chat, world.records.clone()).clock(bed.clock.clone());
    let memory = builder.retention(Retained::Owner(scope), retention).build().await?;
    equal(memory.upkeep_once().await?.failures, [""; 0])
}

async fn a_trace_that_is_too_old_stays_until_what_it_leads_to_is_gone(bed: Bed<Stores>) -> Scene {
    let month = Retention::default().with_record_age(Duration::from_secs(30 * 24 * 3_600));
    let (ada, said) = cut_off_and_tended(&bed, month).await?;
    ends(&ada, &Forget::Messages(vec![said.other])).await
}

async fn what_retention_spares_of_a_forget_that_was_cut_off_falls_when_that_is_repeated(bed: Bed<Stores>) -> Scene {
    let (ada, said) = cut_off_and_tended(&bed, Retention::default().with_messages(1)).await?;
    ends(&ada, &Forget::Messages(vec![said.message])).await
}

async fn what_retention_spares_of_its_own_forget_falls_when_the_messages_are_forgotten(bed: Bed<Stores>) -> Scene {
    let world = World::open(&bed).await?;
    let scope = bed.scope("ada")?;
    let ada = world.sound.of(&scope);
    let said = Said::by(&world, &ada).await?;
    world.cut.arm_at("redact", Ending::IsDroppedBefore);
    let meanwhile = async {
        world.cut.reached().await;
        let told = ada.remember(fact("ada has a pin", ItemId::Message(said.summary)).pinned()).await;
        world.cut.resume();
        told
    };
    let tended = tend(&world, &bed, scope, Retention::default().with_messages(1));
    let (tended, told) = tokio::join!(tended, meanwhile);
    told?;
    tended?;
    // The trace, and the record.
    equal(ada.records(&Filter::All, None, 10).await?.len(), 2)?;
    ends(&ada, &Forget::Messages(vec![said.message])).await
}
