//! What settling promises: a settlement covers what its note covered when it was read, and nothing else.

use std::sync::Arc;

use memory_core::Seq;
use memory_core::store::upkeep::{Backlog, Outcome, latest_due};

use super::keeper::{Follower, Keeper};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::doubles::{Faulty, Tapped, When};
use crate::upkeep::{bury, enlist};
use crate::{Bed, Chat, Records};

/// A number that no note reaches.
const BEYOND: Seq = Seq(u64::MAX >> 1);

scenarios!(CHAT: Chat, RECORDS: Records = [
    a_note_done_is_gone,
    a_settlement_leaves_what_was_written_since,
    a_settlement_covers_no_more_than_its_note,
    a_settlement_does_not_cover_a_removal,
    a_late_settlement_touches_no_later_note,
    a_retry_waits_until_it_is_due,
    a_removal_makes_a_retry_due_at_once,
    counts_every_attempt,
    those_due_longest_come_first,
    a_dead_note_is_not_pending,
    a_write_revives_a_dead_note,
    dead_notes_are_revived_as_if_they_were_new,
    a_settlement_under_way_does_not_cover_a_revived_note,
    a_death_does_not_cover_what_was_written_since,
    one_bad_note_blocks_no_other,
    settles_many_notes_at_once,
    counts_what_is_pending_and_dead,
    counts_the_notes_of_one_owner_alone,
    strange_settlements_change_nothing,
    settle_is_repeated_after_a_lost_answer,
    enlist_is_repeated_after_a_lost_answer,
    retire_is_repeated_after_a_lost_answer,
    revive_is_repeated_after_a_lost_answer,
]);

async fn a_note_done_is_gone<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "a", "b"]).await?;
    let note = follower.note("a").await?;
    follower.done(&note).await?;
    equal(follower.targets().await?, [S::target("b")?])?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    equal((note.from, note.upto), (Seq(3), Seq(3)))
}

async fn a_settlement_leaves_what_was_written_since<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "a"]).await?;
    let note = follower.note("a").await?;
    follower.write(&["a"]).await?;
    follower.done(&note).await?;
    let left = follower.note("a").await?;
    equal((left.from, left.upto), (Seq(3), Seq(3)))?;
    follower.done(&left).await?;
    equal(follower.due(0).await?, [])
}

async fn a_settlement_covers_no_more_than_its_note<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.write(&["a", "a"]).await?;
    follower.settle(&note, Outcome::Done { through: BEYOND }).await?;
    equal(follower.note("a").await?.upto, Seq(3))
}

async fn a_settlement_does_not_cover_a_removal<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.store.remove(&follower.scope, "a").await?;
    follower.done(&note).await?;
    check!(follower.note("a").await?.gone, "the removal is not noted any more");
    // The note of the removal is another one, although the first covers as much.
    follower.settle(&note, Outcome::Done { through: BEYOND }).await?;
    check!(follower.note("a").await?.gone, "the removal is not noted any more");
    Ok(())
}

async fn a_late_settlement_touches_no_later_note<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let old = follower.note("a").await?;
    follower.done(&old).await?;
    follower.store.remove(&follower.scope, "a").await?;
    let gone = follower.note("a").await?;
    follower.done(&gone).await?;
    follower.write(&["a"]).await?;
    let promised = follower.note("a").await?;
    follower.done(&old).await?;
    follower.give_up(&old).await?;
    let found = follower.note("a").await?;
    equal((found.from, found.upto, found.gone), (promised.from, promised.upto, promised.gone))
}

async fn a_retry_waits_until_it_is_due<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.retry(&note, 60).await?;
    equal(follower.due(0).await?, [])?;
    equal(follower.due(59).await?, [])?;
    let again = only(follower.due(60).await?)?;
    equal((again.attempts, again.from, again.upto), (1, note.from, note.upto))?;
    equal(again.target, note.target)
}

async fn a_removal_makes_a_retry_due_at_once<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    follower.retry(&follower.note("a").await?, 60).await?;
    follower.store.remove(&follower.scope, "a").await?;
    check!(follower.note("a").await?.gone, "the removal is not noted");
    Ok(())
}

async fn counts_every_attempt<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    for attempts in 0..7 {
        let note = follower.note("a").await?;
        equal(note.attempts, attempts)?;
        follower.retry(&note, 0).await?;
    }
    follower.done(&follower.note("a").await?).await?;
    follower.write(&["a"]).await?;
    equal(follower.note("a").await?.attempts, 0)
}

async fn those_due_longest_come_first<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c", "d"]).await?;
    for (name, seconds) in [("a", 30), ("b", 10), ("c", 40), ("d", 20)] {
        follower.retry(&follower.note(name).await?, seconds).await?;
    }
    let targets: Vec<_> = follower.due(35).await?.into_iter().map(|note| note.target).collect();
    equal(targets, [S::target("b")?, S::target("d")?, S::target("a")?])?;
    let at = memory_core::Timestamp(memory_core::Clock::now(&*bed.clock).0 + 100_000_000);
    let first = follower.store.upkeep().pending(&follower.index, at, 2).await?;
    equal(first.into_iter().map(|note| note.target).collect::<Vec<_>>(), [S::target("b")?, S::target("d")?])
}

async fn a_dead_note_is_not_pending<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b"]).await?;
    follower.give_up(&follower.note("a").await?).await?;
    equal(follower.targets().await?, [S::target("b")?])?;
    equal(follower.due(1_000_000_000).await?.len(), 1)?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 1 })
}

async fn dead_notes_are_revived_as_if_they_were_new<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let other = follower.beside("text/test-2")?;
    enlist(&**other.store.upkeep(), &other.index).await?;
    follower.write(&["a", "b", "c"]).await?;
    let upkeep = follower.store.upkeep();
    equal(upkeep.revive(&follower.index).await?, 0)?;
    for name in ["a", "b"] {
        follower.retry(&follower.note(name).await?, 0).await?;
        follower.give_up(&follower.note(name).await?).await?;
    }
    other.give_up(&other.note("c").await?).await?;
    equal(upkeep.revive(&follower.index).await?, 2)?;
    equal(upkeep.revive(&follower.index).await?, 0)?;
    equal(upkeep.backlog(&follower.index).await?, Backlog { pending: 3, dead: 0 })?;
    equal((follower.note("a").await?.attempts, follower.note("b").await?.attempts), (0, 0))?;
    equal(upkeep.backlog(&other.index).await?, Backlog { pending: 2, dead: 1 })?;
    follower.all_done().await?;
    // What nobody enlisted has no notes.
    equal(upkeep.revive(&follower.beside("text/test-3")?.index).await?, 0)
}

async fn a_settlement_under_way_does_not_cover_a_revived_note<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.give_up(&note).await?;
    follower.store.upkeep().revive(&follower.index).await?;
    follower.give_up(&note).await?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 0 })
}

async fn a_write_revives_a_dead_note<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    follower.give_up(&follower.note("a").await?).await?;
    follower.write(&["a"]).await?;
    equal(follower.note("a").await?.upto, Seq(2))?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 0 })?;
    follower.give_up(&follower.note("a").await?).await?;
    follower.store.remove(&follower.scope, "a").await?;
    check!(follower.note("a").await?.gone, "the removal is not noted");
    Ok(())
}

async fn a_death_does_not_cover_what_was_written_since<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.write(&["a"]).await?;
    follower.give_up(&note).await?;
    equal(follower.note("a").await?.upto, Seq(2))
}

async fn one_bad_note_blocks_no_other<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    follower.retry(&follower.note("a").await?, 60).await?;
    follower.give_up(&follower.note("b").await?).await?;
    equal(follower.targets().await?, [S::target("c")?])?;
    follower.done(&follower.note("c").await?).await?;
    equal(only(follower.due(60).await?)?.target, S::target("a")?)
}

async fn settles_many_notes_at_once<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let names: Vec<_> = (0..20).map(|number| format!("name {number}")).collect();
    follower.write(&names.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    let why = || "no".to_owned();
    let settled = follower.due(0).await?.into_iter().enumerate().map(|(place, note)| {
        let outcome = match place % 4 {
            0 | 1 => Outcome::Done { through: note.upto },
            2 => Outcome::Retry { at: latest_due(memory_core::Clock::now(&*bed.clock)), why: why() },
            _ => Outcome::Dead { why: why() },
        };
        (note, outcome)
    });
    let settled: Vec<_> = settled.collect();
    follower.store.upkeep().settle(&follower.index, &settled).await?;
    equal(follower.due(0).await?, [])?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 5, dead: 5 })
}

async fn counts_what_is_pending_and_dead<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let backlog = || follower.store.upkeep().backlog(&follower.index);
    equal(backlog().await?, Backlog { pending: 0, dead: 0 })?;
    follower.write(&["a", "b", "c"]).await?;
    equal(backlog().await?, Backlog { pending: 3, dead: 0 })?;
    follower.retry(&follower.note("a").await?, 60).await?;
    equal(backlog().await?, Backlog { pending: 3, dead: 0 })?;
    follower.give_up(&follower.note("b").await?).await?;
    equal(backlog().await?, Backlog { pending: 2, dead: 1 })?;
    follower.done(&follower.note("c").await?).await?;
    equal(backlog().await?, Backlog { pending: 1, dead: 1 })
}

async fn counts_the_notes_of_one_owner_alone<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let (bob, begun) = (bed.scope("bob")?, bed.scope("ad")?);
    let backlog_of = |scope| follower.store.upkeep().backlog_of(scope, &follower.index);
    equal(backlog_of(&follower.scope).await?, Backlog::default())?;
    follower.write(&["a", "b", "c"]).await?;
    follower.store.write(&bob, "a").await?;
    equal(backlog_of(&follower.scope).await?, Backlog { pending: 3, dead: 0 })?;
    equal(backlog_of(&bob).await?, Backlog { pending: 1, dead: 0 })?;
    equal(backlog_of(&begun).await?, Backlog::default())?;
    let mine = follower.due(0).await?.into_iter().filter(|note| note.scope == follower.scope);
    for (place, note) in mine.enumerate() {
        match place {
            0 => follower.give_up(&note).await?,
            1 => follower.retry(&note, 60).await?,
            _ => follower.done(&note).await?,
        }
    }
    equal(backlog_of(&follower.scope).await?, Backlog { pending: 1, dead: 1 })?;
    equal(backlog_of(&bob).await?, Backlog { pending: 1, dead: 0 })?;
    let unknown = follower.beside("text/unknown")?;
    equal(unknown.store.upkeep().backlog_of(&bob, &unknown.index).await?, Backlog::default())?;
    // An erasure that the index has still to carry out is one note.
    bury(follower.store.upkeep(), &follower.scope).await?;
    equal(backlog_of(&follower.scope).await?, Backlog { pending: 1, dead: 0 })
}

async fn strange_settlements_change_nothing<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let note = follower.note("a").await?;
    follower.store.upkeep().settle(&follower.index, &[]).await?;
    follower.beside("text/unknown")?.done(&note).await?;
    let mut strange = note.clone();
    strange.scope = bed.scope("bob")?;
    follower.done(&strange).await?;
    strange.scope = note.scope.clone();
    strange.target = S::target("b")?;
    follower.done(&strange).await?;
    equal(follower.due(0).await?, [note])
}

/// Returns the upkeep with the first answer to `method` lost.
fn cut<S: Keeper>(follower: &Follower<S>, method: &'static str) -> Tapped<dyn memory_core::store::upkeep::Upkeep> {
    Tapped::new(follower.store.upkeep().clone(), Arc::new(Faulty::at(1, When::LostAnswer).of(method)))
}

async fn settle_is_repeated_after_a_lost_answer<S: Keeper>(bed: Bed<S>) -> Scene {
    use memory_core::store::upkeep::Upkeep as _;
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    let at = memory_core::Clock::now(&*bed.clock);
    let outcomes = [
        (follower.note("a").await?, Outcome::Done { through: Seq(1) }),
        (follower.note("b").await?, Outcome::Retry { at, why: "busy".to_owned() }),
        (follower.note("c").await?, Outcome::Dead { why: "never".to_owned() }),
    ];
    let upkeep = cut(&follower, "settle");
    fails!(upkeep.settle(&follower.index, &outcomes).await, memory_core::Error::Backend { .. });
    upkeep.settle(&follower.index, &outcomes).await?;
    let note = only(follower.due(0).await?)?;
    equal((note.target, note.attempts), (S::target("b")?, 1))?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 1 })
}

async fn enlist_is_repeated_after_a_lost_answer<S: Keeper>(bed: Bed<S>) -> Scene {
    use memory_core::store::upkeep::Upkeep as _;
    let follower = Follower::new(&bed)?;
    follower.write(&["a", "b"]).await?;
    let upkeep = cut(&follower, "enlist");
    fails!(upkeep.enlist(&follower.index, Some(crate::upkeep::first()), 100).await, memory_core::Error::Backend { .. });
    upkeep.enlist(&follower.index, Some(crate::upkeep::first()), 100).await?;
    equal(follower.due(0).await?.len(), 2)
}

async fn retire_is_repeated_after_a_lost_answer<S: Keeper>(bed: Bed<S>) -> Scene {
    use memory_core::store::upkeep::Upkeep as _;
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let upkeep = cut(&follower, "retire");
    fails!(upkeep.retire(&follower.index).await, memory_core::Error::Backend { .. });
    upkeep.retire(&follower.index).await?;
    equal(follower.due(0).await?, [])
}

async fn revive_is_repeated_after_a_lost_answer<S: Keeper>(bed: Bed<S>) -> Scene {
    use memory_core::store::upkeep::Upkeep as _;
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    follower.give_up(&follower.note("a").await?).await?;
    let upkeep = cut(&follower, "revive");
    fails!(upkeep.revive(&follower.index).await, memory_core::Error::Backend { .. });
    equal(upkeep.revive(&follower.index).await?, 0)?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 0 })
}
