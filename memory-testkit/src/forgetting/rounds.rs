//! Rounds that chance plays: a forget is cut off at a random call, and called again.

use std::time::Duration;

use memory_core::engine::{ForgetReceipt, Scoped, Search};
use memory_core::store::Durability;
use memory_core::{Error, ItemId, Scope};

use super::plot::{DOOMED, Plot};
use super::world::{World, left, owner};
use crate::doubles::Ending;
use crate::generate::Random;
use crate::isolation::Stores;
use crate::{Bed, Scene, equal, rounds};

scenarios!(TABLE: Stores = [
    a_forget_whose_answers_were_lost_is_ended_by_a_repeat,
    a_forget_that_was_given_up_is_ended_by_a_repeat,
]);

/// Calls of one forget at the most, nearly always.
const CALLS: usize = 16;
/// Long enough for every cache, lease and retry to be over.
const DAYS: Duration = Duration::from_secs(3 * 86_400);

async fn a_forget_whose_answers_were_lost_is_ended_by_a_repeat(bed: Bed<Stores>) -> Scene {
    play(&bed, &[Ending::LosesItsAnswer, Ending::LosesItsAnswer, Ending::Fails]).await
}

async fn a_forget_that_was_given_up_is_ended_by_a_repeat(bed: Bed<Stores>) -> Scene {
    play(&bed, &[Ending::IsDroppedBefore, Ending::IsDroppedAfter]).await
}

async fn play(bed: &Bed<Stores>, endings: &[Ending]) -> Scene {
    let usual = if bed.durability == Durability::Volatile { 100 } else { 30 };
    let world = World::open(bed).await?;
    let mut random = Random::new(bed.seed);
    for round in 0..rounds(usual) {
        let scope = bed.scope(&format!("round{round}"))?;
        Round { bed, world: &world, random: &mut random, plot_number: round }.play(&scope, endings).await?;
    }
    Ok(())
}

struct Round<'a> {
    bed: &'a Bed<Stores>,
    world: &'a World,
    random: &'a mut Random,
    plot_number: usize,
}

impl Round<'_> {
    async fn play(&mut self, scope: &Scope, endings: &[Ending]) -> Scene {
        let [sound, bare, guarded] = owner(self.world, scope);
        let mut plot = Plot::invent(self.random);
        plot.stage(self.world, &sound).await?;
        if self.random.chance(1, 2) {
            self.world.sound.upkeep_once().await?;
        }
        for _ in 0..=self.random.below(3) {
            let ending = endings.get(self.random.below(endings.len())).copied().unwrap_or(Ending::Fails);
            self.world.cut.arm(1 + self.random.below(CALLS) as u64, ending);
            let unlucky = if self.random.chance(1, 4) { &guarded } else { &bare };
            let answer = self.world.cut.give_up(unlucky.forget(&plot.what()?)).await;
            self.world.cut.disarm();
            if let Some(Ok(receipt)) = answer {
                self.is_true(&plot, &sound, &receipt).await?;
            }
            self.tell_more(&mut plot, &sound).await?;
            if self.random.chance(1, 3) {
                self.bed.clock.advance(DAYS);
            }
        }
        let receipt = sound.forget(&plot.what()?).await?;
        check!(receipt.complete, "round {}: the last repeat is not complete: {receipt:?}", self.plot_number);
        self.is_true(&plot, &sound, &receipt).await?;
        self.world.sound.upkeep_once().await?;
        let found = sound.search(&Search::new(DOOMED)).await?;
        check!(found.hits.is_empty(), "round {}: found {:?}, {plot:?}", self.plot_number, found.hits);
        let kept = left(&sound, &plot.items(false)).await?;
        let lost: Vec<ItemId> = plot.items(false).into_iter().filter(|item| !kept.contains(item)).collect();
        check!(lost.is_empty(), "round {}: lost {lost:?}, {plot:?}", self.plot_number);
        Ok(())
    }

    /// Passes if nothing is left where the receipt says so.
    async fn is_true(&self, plot: &Plot, sound: &Scoped, receipt: &ForgetReceipt) -> Scene {
        if !receipt.complete {
            return Ok(());
        }
        let left = left(sound, &plot.items(true)).await?;
        check!(left.is_empty(), "round {}: {receipt:?} leaves {left:?}, {plot:?}", self.plot_number);
        Ok(())
    }

    /// Derives a record from some item of the plot, as an extractor does that comes late.
    async fn tell_more(&mut self, plot: &mut Plot, sound: &Scoped) -> Scene {
        if self.random.chance(1, 2) {
            return Ok(());
        }
        let source = self.random.below(plot.len());
        let place = plot.add(source);
        match sound.remember(plot.record(place)?).await {
            Ok(told) => plot.stored(ItemId::Record(told.id)),
            Err(Error::Invalid { .. }) => {
                check!(plot.is_doomed(place), "round {}: refused {place} of {plot:?}", self.plot_number);
                plot.drop_last();
            }
            Err(other) => return Err(other.into()),
        }
        equal(plot.items(true).len() + plot.items(false).len(), plot.len())
    }
}
