//! Summaries that go with what they cover, while records are derived from them: wherever that is cut off, the same call finds
//! these records.

use memory_core::engine::{Forget, Scoped};
use memory_core::{Error, Filter, ItemId, MessageId};
use tokio::task::JoinHandle;

use super::late::{Said, fact};
use super::plot::fold;
use super::world::{World, talk};
use crate::doubles::Ending;
use crate::isolation::Stores;
use crate::{Bed, Failure, Scene, equal};

scenarios!(TABLE: Stores = [
    what_was_told_of_a_summary_at_last_falls_although_the_forget_is_cut_off,
    what_was_told_of_a_summary_of_a_session_at_last_falls_although_the_forget_is_cut_off,
    what_was_told_of_a_summary_that_came_meanwhile_falls_although_the_answer_is_lost,
    what_was_told_of_a_summary_that_came_meanwhile_falls_with_its_session,
    an_unrelated_forget_ends_what_another_left,
    a_failed_unfold_deletes_nothing_and_leaves_no_trace,
]);

/// How many calls a forget makes from its redaction on, at the most.
const CALLS: u64 = 16;
/// How a call ends early: its future is dropped, or its answer is lost.
pub(super) const ENDINGS: [Ending; 2] = [Ending::IsDroppedAfter, Ending::LosesItsAnswer];

/// Begins to forget `what`, derives a record from `source` right before the redaction, and cuts the forget off at the `nth` call
/// from there on, the redaction itself being the first.
async fn cut_off(
    world: &World,
    (sound, unlucky): (&Scoped, &Scoped),
    (what, source): (&Forget, MessageId),
    (nth, ending): (u64, Ending),
) -> Scene {
    world.cut.arm_at("redact", Ending::IsDroppedBefore);
    let (forgetting, asked) = (unlucky.clone(), what.clone());
    let forgetting = tokio::spawn(async move { forgetting.forget(&asked).await });
    world.cut.reached().await;
    sound.remember(fact("ada has a pin", ItemId::Message(source))).await?;
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
            cut_off(&world, (&ada, &unlucky), (&what, said.summary), (nth, ending)).await?;
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
    cut_off(&world, (&ada, &unlucky), (&what, said.summary), (1, Ending::IsDroppedAfter)).await?;
    check!(!ada.records(&Filter::All, None, 10).await?.is_empty(), "nothing was left");
    ends(&ada, &Forget::Messages(vec![said.other])).await
}
