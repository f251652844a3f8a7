//! What enlisting promises of incarnations and of steps: an index that was lost is filled again, and nobody waits for it.

use memory_core::Result;
use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, Target};
use uuid::Uuid;

use super::first;
use super::keeper::{Follower, Keeper};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::{Bed, Chat, Records};

scenarios!(CHAT: Chat, RECORDS: Records = [
    another_incarnation_notes_everything_anew,
    a_settlement_under_way_does_not_cover_another_incarnation,
    another_incarnation_keeps_the_notes_of_what_is_gone,
    another_incarnation_revives_what_was_given_up,
    without_an_incarnation_an_index_keeps_what_it_has,
    a_doubted_index_is_noted_anew,
    an_enlisting_in_steps_notes_everything_once,
    what_is_written_between_the_steps_is_noted,
    another_incarnation_begins_the_steps_anew,
    lists_the_indexes_that_follow,
]);

fn second() -> Incarnation {
    Incarnation(Uuid::from_u64_pair(2, 2))
}

impl<S: Keeper> Follower<S> {
    /// Notes up to `limit` items of what is stored already.
    async fn step(&self, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        self.store.upkeep().enlist(&self.index, incarnation, limit).await
    }

    /// Enlists in `incarnation` until all is noted.
    async fn enlist(&self, incarnation: Option<Incarnation>) -> Result<()> {
        while !self.step(incarnation, 100).await? {}
        Ok(())
    }

    async fn backlog(&self) -> Result<Backlog> {
        self.store.upkeep().backlog(&self.index).await
    }

    /// Returns what is kept of the index.
    async fn kept(&self) -> std::result::Result<Enlisted, crate::Failure> {
        only(self.store.upkeep().indexes().await?.into_iter().filter(|kept| kept.name == self.index).collect())
    }

    /// Returns what the notes that are due now are about, in order.
    async fn sorted(&self) -> Result<Vec<Target>> {
        let mut targets = self.targets().await?;
        targets.sort();
        Ok(targets)
    }
}

/// Returns what notes about `names` are about, in order.
fn targets<S: Keeper>(names: &[&str]) -> Result<Vec<Target>> {
    let mut targets = names.iter().map(|name| S::target(name)).collect::<Result<Vec<_>>>()?;
    targets.sort();
    Ok(targets)
}

async fn another_incarnation_notes_everything_anew<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "b"]).await?;
    follower.all_done().await?;
    follower.enlist(Some(second())).await?;
    equal(follower.sorted().await?, targets::<S>(&["a", "b"])?)?;
    equal(follower.note("b").await?.upto.0, 2)?;
    equal(follower.kept().await?.incarnation, Some(second()))?;
    follower.all_done().await?;
    equal(follower.backlog().await?, Backlog::default())?;
    follower.enlist(Some(second())).await?;
    equal(follower.backlog().await?, Backlog::default())
}

async fn a_settlement_under_way_does_not_cover_another_incarnation<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    let under_way = follower.due(0).await?;
    follower.enlist(Some(second())).await?;
    for note in under_way {
        follower.done(&note).await?;
    }
    equal(follower.sorted().await?, targets::<S>(&["a", "b"])?)
}

async fn another_incarnation_keeps_the_notes_of_what_is_gone<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let bob = bed.scope("bob")?;
    follower.write(&["a", "b"]).await?;
    follower.store.write(&bob, "a").await?;
    follower.all_done().await?;
    follower.store.remove(&follower.scope, "a").await?;
    super::bury(follower.store.upkeep(), &bob).await?;
    follower.enlist(Some(second())).await?;
    let (gone, others): (Vec<_>, Vec<_>) = follower.due(0).await?.into_iter().partition(|note| note.gone);
    equal(only(gone)?.target, S::target("a")?)?;
    let (burial, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|note| note.target == Target::Owner);
    equal(only(burial)?.scope, bob)?;
    equal(only(others)?.target, S::target("b")?)
}

async fn another_incarnation_revives_what_was_given_up<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    follower.give_up(&follower.note("a").await?).await?;
    follower.retry(&follower.note("b").await?, 60).await?;
    follower.enlist(Some(second())).await?;
    equal(follower.backlog().await?, Backlog { pending: 2, dead: 0 })?;
    for note in follower.due(0).await? {
        equal(note.attempts, 0)?;
    }
    equal(follower.sorted().await?, targets::<S>(&["a", "b"])?)
}

async fn without_an_incarnation_an_index_keeps_what_it_has<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    follower.all_done().await?;
    follower.enlist(None).await?;
    equal(follower.backlog().await?, Backlog::default())?;
    equal(follower.kept().await?.incarnation, Some(first()))?;
    // One that is not enlisted yet is, and noted anew when it tells its incarnation.
    let other = follower.beside("vector/test-1")?;
    other.enlist(None).await?;
    equal((other.kept().await?.incarnation, other.targets().await?.len()), (None, 1))?;
    other.all_done().await?;
    other.enlist(Some(first())).await?;
    equal(other.targets().await?.len(), 1)
}

async fn a_doubted_index_is_noted_anew<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    follower.all_done().await?;
    follower.store.upkeep().doubt(&follower.index).await?;
    follower.store.upkeep().doubt(&follower.index).await?;
    equal((follower.kept().await?.incarnation, follower.backlog().await?), (None, Backlog::default()))?;
    follower.enlist(Some(first())).await?;
    equal(follower.sorted().await?, targets::<S>(&["a", "b"])?)?;
    // What nobody enlisted cannot be doubted.
    let unknown = follower.beside("text/test-2")?;
    unknown.store.upkeep().doubt(&unknown.index).await?;
    equal(unknown.store.upkeep().indexes().await?.len(), 1)
}

async fn an_enlisting_in_steps_notes_everything_once<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    let names = ["a", "b", "c", "d", "e"];
    follower.write(&names).await?;
    for subject in ["bob", "carol"] {
        follower.store.write(&bed.scope(subject)?, "a").await?;
        follower.store.write(&bed.scope(subject)?, "b").await?;
    }
    let (mut before, mut steps) = (0, 0);
    loop {
        // Each step in another process: what is done is stored, not remembered.
        let other = Follower { store: bed.reopen().await?, ..Follower::new(&bed)? };
        let is_noted = other.step(Some(first()), 2).await?;
        let pending = follower.backlog().await?.pending;
        check!(pending <= before + 2, "a step of 2 noted {} items", pending - before);
        equal(follower.kept().await?.is_noted, is_noted)?;
        (before, steps) = (pending, steps + 1);
        if is_noted {
            break;
        }
        check!(steps < 50, "the steps come to no end");
    }
    equal(before, 9)?;
    equal(follower.due(0).await?.iter().filter(|note| note.scope == follower.scope).count(), names.len())?;
    follower.all_done().await?;
    check!(follower.step(Some(first()), 2).await?, "all was noted");
    equal(follower.backlog().await?, Backlog::default())
}

async fn what_is_written_between_the_steps_is_noted<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["b", "d", "f"]).await?;
    follower.step(Some(first()), 1).await?;
    follower.write(&["a", "c", "e", "g", "b"]).await?;
    follower.store.remove(&follower.scope, "d").await?;
    follower.store.write(&bed.scope("aaron")?, "z").await?;
    follower.store.write(&bed.scope("zoe")?, "z").await?;
    while !follower.step(Some(first()), 1).await? {}
    let notes = follower.due(0).await?;
    let mut own: Vec<_> = notes.iter().filter(|note| note.scope == follower.scope).collect();
    own.sort_by_key(|note| note.target.clone());
    equal(
        own.iter().map(|note| note.target.clone()).collect::<Vec<_>>(),
        targets::<S>(&["a", "b", "c", "d", "e", "f", "g"])?,
    )?;
    equal(follower.note("b").await?.upto.0, 2)?;
    equal(only(own.into_iter().filter(|note| note.gone).collect())?.target.clone(), S::target("d")?)?;
    equal(notes.len(), 9)
}

async fn another_incarnation_begins_the_steps_anew<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a", "b", "c", "d"]).await?;
    follower.step(Some(first()), 2).await?;
    follower.all_done().await?;
    follower.step(Some(second()), 2).await?;
    // Whoever goes on for the earlier one does not take its place.
    while !follower.step(None, 2).await? {}
    equal(follower.sorted().await?, targets::<S>(&["a", "b", "c", "d"])?)?;
    equal(follower.kept().await?.incarnation, Some(second()))
}

async fn lists_the_indexes_that_follow<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let upkeep = follower.store.upkeep();
    let (other, last) = (follower.beside("text/test-0")?, follower.beside("vector/test-1")?);
    other.enlist(Some(second())).await?;
    last.enlist(None).await?;
    let listed =
        |follower: &Follower<S>, incarnation| Enlisted { name: follower.index.clone(), incarnation, is_noted: true };
    let all = [listed(&other, Some(second())), listed(&follower, Some(first())), listed(&last, None)];
    equal(upkeep.indexes().await?, all.to_vec())?;
    upkeep.retire(&other.index).await?;
    equal(bed.reopen().await?.upkeep().indexes().await?, all.get(1..).unwrap_or_default().to_vec())
}
