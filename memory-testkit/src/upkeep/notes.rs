//! What notes promise: nothing that is written stays unindexed for good.

use memory_core::store::upkeep::Backlog;
use memory_core::{Epoch, Seq};

use super::bury;
use super::keeper::{Follower, Keeper};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::{Bed, Chat, Records};

scenarios!(CHAT: Chat, RECORDS: Records = [
    a_write_notes_itself_in_the_same_step,
    keeps_one_note_for_many_writes,
    notes_go_to_every_enlisted_index_and_to_no_other,
    enlisting_notes_what_is_stored_already,
    enlisting_again_leaves_an_index_as_it_is,
    retiring_drops_an_index_with_its_notes,
    enlisting_a_retired_index_notes_everything_anew,
    notes_cross_owners,
    returns_no_more_notes_than_asked_for,
    a_removal_is_noted_as_gone,
    enlisting_notes_nothing_that_was_removed,
    notes_of_one_owner_say_nothing_of_another,
    an_index_may_have_any_signs_in_its_name,
]);

async fn an_index_may_have_any_signs_in_its_name<S: Keeper>(bed: Bed<S>) -> Scene {
    for (number, name) in
        (0..).zip(["facts/a=b", "facts/=", "facts/a=b=c", "a%b", "a*b?[c]", "a:b", "a\\b'\"", "a;b|c"])
    {
        let scope = bed.scope(&format!("owner {number}"))?;
        let follower = Follower::new(&bed)?.beside(name)?;
        crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
        follower.store.write(&scope, "a").await?;
        let note = follower.due(0).await?.into_iter().find(|note| note.scope == scope);
        check!(note.is_some(), "a write was not noted for the index {name}");
        equal(follower.store.upkeep().backlog(&follower.index).await?.pending, 1)?;
        follower.all_done().await?;
        equal(follower.due(0).await?, [])?;
        bury(follower.store.upkeep(), &scope).await?;
        equal(follower.due(0).await?.len(), 1)?;
        follower.store.upkeep().retire(&follower.index).await?;
        equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog::default())?;
    }
    Ok(())
}

async fn a_write_notes_itself_in_the_same_step<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    // What another opening sees is stored, not remembered.
    let other = Follower { store: bed.reopen().await?, ..Follower::new(&bed)? };
    let note = only(other.due(0).await?)?;
    equal((&note.scope, &note.target), (&follower.scope, &S::target("a")?))?;
    equal((note.epoch, note.from, note.upto), (Epoch(0), Seq(1), Seq(1)))?;
    equal((note.attempts, note.gone), (0, false))
}

async fn keeps_one_note_for_many_writes<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "a", "a"]).await?;
    equal(follower.due(0).await?.len(), 2)?;
    equal(follower.note("a").await?.upto, Seq(3))?;
    equal(follower.note("b").await?.upto, Seq(1))
}

async fn notes_go_to_every_enlisted_index_and_to_no_other<S: Keeper>(bed: Bed<S>) -> Scene {
    let one = Follower::enlisted(&bed).await?;
    let other = one.beside("vector/test-1")?;
    let unknown = one.beside("text/test-2")?;
    crate::upkeep::enlist(&**other.store.upkeep(), &other.index).await?;
    one.write(&["a"]).await?;
    equal((one.due(0).await?.len(), other.due(0).await?.len()), (1, 1))?;
    equal(unknown.due(0).await?, [])?;
    equal(unknown.store.upkeep().backlog(&unknown.index).await?, Backlog::default())?;
    one.all_done().await?;
    equal((one.due(0).await?.len(), other.due(0).await?.len()), (0, 1))
}

async fn enlisting_notes_what_is_stored_already<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a", "b", "b"]).await?;
    follower.store.write(&bed.scope("bob")?, "a").await?;
    crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
    let mut notes = follower.due(0).await?;
    notes.sort_by_key(|note| (note.scope.clone(), note.target.clone()));
    let mut promised = vec![
        (follower.scope.clone(), S::target("a")?, Seq(1)),
        (follower.scope.clone(), S::target("b")?, Seq(2)),
        (bed.scope("bob")?, S::target("a")?, Seq(1)),
    ];
    promised.sort();
    equal(notes.into_iter().map(|note| (note.scope, note.target, note.upto)).collect::<Vec<_>>(), promised)
}

async fn enlisting_again_leaves_an_index_as_it_is<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    let note = follower.note("a").await?;
    follower.done(&note).await?;
    follower.retry(&follower.note("b").await?, 60).await?;
    crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
    equal(follower.due(0).await?, [])?;
    equal(only(follower.due(60).await?)?.attempts, 1)
}

async fn retiring_drops_an_index_with_its_notes<S: Keeper>(bed: Bed<S>) -> Scene {
    let one = Follower::enlisted(&bed).await?;
    let other = one.beside("vector/test-1")?;
    crate::upkeep::enlist(&**other.store.upkeep(), &other.index).await?;
    one.write(&["a", "b"]).await?;
    one.give_up(&one.note("b").await?).await?;
    one.store.upkeep().retire(&one.index).await?;
    one.store.upkeep().retire(&one.index).await?;
    one.write(&["c"]).await?;
    equal(one.due(0).await?, [])?;
    equal(one.store.upkeep().backlog(&one.index).await?, Backlog::default())?;
    equal(other.due(0).await?.len(), 3)
}

async fn enlisting_a_retired_index_notes_everything_anew<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    follower.done(&follower.note("a").await?).await?;
    follower.give_up(&follower.note("b").await?).await?;
    follower.store.upkeep().retire(&follower.index).await?;
    crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
    let mut targets = follower.targets().await?;
    targets.sort();
    let mut promised = vec![S::target("a")?, S::target("b")?, S::target("c")?];
    promised.sort();
    equal(targets, promised)?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 3, dead: 0 })
}

async fn notes_cross_owners<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let mut promised = Vec::new();
    for subject in ["ada", "bob", "carol"] {
        follower.store.write(&bed.scope(subject)?, "a").await?;
        promised.push(bed.scope(subject)?);
    }
    let mut found: Vec<_> = follower.due(0).await?.into_iter().map(|note| note.scope).collect();
    found.sort();
    promised.sort();
    equal(found, promised)
}

async fn returns_no_more_notes_than_asked_for<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c", "d", "e"]).await?;
    let now = memory_core::Clock::now(&*bed.clock);
    for limit in [0, 1, 3, 5, 6, usize::MAX] {
        let notes = follower.store.upkeep().pending(&follower.index, now, limit).await?;
        equal(notes.len(), limit.min(5))?;
    }
    let mut seen = Vec::new();
    while let [note] = &*follower.store.upkeep().pending(&follower.index, now, 1).await? {
        follower.done(note).await?;
        seen.push(note.target.clone());
        check!(seen.len() <= 5, "settled notes come again: {seen:?}");
    }
    seen.sort();
    seen.dedup();
    equal(seen.len(), 5)
}

async fn a_removal_is_noted_as_gone<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    follower.all_done().await?;
    follower.store.remove(&follower.scope, "a").await?;
    let note = only(follower.due(0).await?)?;
    equal((&note.target, note.gone), (&S::target("a")?, true))?;
    follower.done(&note).await?;
    equal(follower.due(0).await?, [])?;
    // There is nothing left to remove, and so nothing to note.
    follower.store.remove(&follower.scope, "a").await?;
    equal(follower.due(0).await?, [])
}

async fn enlisting_notes_nothing_that_was_removed<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    follower.write(&["a", "b"]).await?;
    follower.store.remove(&follower.scope, "a").await?;
    crate::upkeep::enlist(&**follower.store.upkeep(), &follower.index).await?;
    equal(follower.targets().await?, [S::target("b")?])
}

async fn notes_of_one_owner_say_nothing_of_another<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let bob = bed.scope("bob")?;
    follower.write(&["a"]).await?;
    follower.store.write(&bob, "a").await?;
    for note in follower.due(0).await?.into_iter().filter(|note| note.scope == follower.scope) {
        follower.done(&note).await?;
    }
    equal(only(follower.due(0).await?)?.scope, bob.clone())?;
    follower.store.remove(&follower.scope, "a").await?;
    let gone: Vec<_> = follower.due(0).await?.into_iter().filter(|note| note.gone).collect();
    equal(only(gone)?.scope, follower.scope.clone())?;
    check!(follower.store.holds(&bob, "a").await?, "the other owner's is gone");
    Ok(())
}
