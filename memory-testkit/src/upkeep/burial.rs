//! What a burial promises: the erasure of an owner reaches every index.

use std::sync::Arc;

use memory_core::store::upkeep::{Backlog, Target, Upkeep as _};
use memory_core::{Epoch, Error};

use super::keeper::{Follower, Keeper};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::doubles::{Faulty, Tapped, When};
use crate::upkeep::bury;
use crate::{Bed, Chat, Records};

scenarios!(CHAT: Chat, RECORDS: Records = [
    a_burial_raises_the_epoch_by_one,
    a_burial_notes_the_owner_for_every_index,
    a_burial_of_an_unknown_owner_is_noted_too,
    a_burial_takes_the_place_of_all_notes_of_its_owner,
    a_burial_hides_at_once_what_was_stored_before,
    the_note_of_a_burial_survives_the_erasure,
    the_note_of_a_burial_survives_an_erasure_below_a_later_epoch,
    an_erasure_leaves_no_note_but_that_of_the_burial,
    a_settlement_does_not_cover_a_later_burial,
    notes_carry_the_epoch_of_their_owner,
    an_erased_owner_begins_anew,
    a_burial_touches_no_other_owner,
    a_late_burial_spares_what_was_stored_since,
    a_burial_raises_the_epoch_above_the_one_that_was_seen,
    bury_is_repeated_after_a_lost_answer,
]);

async fn a_burial_raises_the_epoch_by_one<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::new(&bed)?;
    let upkeep = follower.store.upkeep();
    equal(upkeep.epoch(&follower.scope).await?, Epoch(0))?;
    follower.write(&["a"]).await?;
    equal(upkeep.epoch(&follower.scope).await?, Epoch(0))?;
    for epoch in 1..4 {
        equal(bury(upkeep, &follower.scope).await?, Epoch(epoch))?;
        equal(upkeep.epoch(&follower.scope).await?, Epoch(epoch))?;
        follower.store.erase(&follower.scope, Epoch(epoch)).await?;
        equal(upkeep.epoch(&follower.scope).await?, Epoch(epoch))?;
    }
    equal(upkeep.epoch(&bed.scope("bob")?).await?, Epoch(0))
}

async fn a_burial_notes_the_owner_for_every_index<S: Keeper>(bed: Bed<S>) -> Scene {
    let one = Follower::enlisted(&bed).await?;
    let other = one.beside("vector/test-1")?;
    crate::upkeep::enlist(&**other.store.upkeep(), &other.index).await?;
    one.write(&["a"]).await?;
    let epoch = bury(one.store.upkeep(), &one.scope).await?;
    for follower in [&one, &other] {
        let notes: Vec<_> = follower.due(0).await?.into_iter().filter(|note| note.target == Target::Owner).collect();
        let note = only(notes)?;
        equal((&note.scope, note.epoch), (&follower.scope, epoch))?;
    }
    Ok(())
}

async fn a_burial_of_an_unknown_owner_is_noted_too<S: Keeper>(bed: Bed<S>) -> Scene {
    // Another store may hold something of the owner.
    let follower = Follower::enlisted(&bed).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    let note = only(follower.due(0).await?)?;
    equal((note.target, note.epoch), (Target::Owner, epoch))
}

async fn a_burial_takes_the_place_of_all_notes_of_its_owner<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    follower.give_up(&follower.note("b").await?).await?;
    follower.retry(&follower.note("c").await?, 60).await?;
    bury(follower.store.upkeep(), &follower.scope).await?;
    equal(only(follower.due(60).await?)?.target, Target::Owner)?;
    equal(follower.store.upkeep().backlog(&follower.index).await?, Backlog { pending: 1, dead: 0 })
}

async fn a_burial_hides_at_once_what_was_stored_before<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    check!(!follower.store.holds(&follower.scope, "a").await?, "what was stored before is still returned");
    follower.write(&["b"]).await?;
    check!(follower.store.holds(&follower.scope, "b").await?, "what is stored since is not returned");
    equal(follower.store.erase(&follower.scope, epoch).await?.remaining, 0)?;
    check!(follower.store.holds(&follower.scope, "b").await?, "what was stored since is erased");
    Ok(())
}

async fn the_note_of_a_burial_survives_the_erasure<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    let note = only(follower.due(0).await?)?;
    equal((&note.target, note.epoch), (&Target::Owner, epoch))?;
    follower.retry(&note, 60).await?;
    let again = only(follower.due(60).await?)?;
    equal((&again.target, again.attempts), (&Target::Owner, 1))?;
    follower.done(&again).await?;
    equal(follower.due(60).await?, [])
}

async fn the_note_of_a_burial_survives_an_erasure_below_a_later_epoch<S: Keeper>(bed: Bed<S>) -> Scene {
    // The epochs of two truth stores may differ; both are erased below the higher one.
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, Epoch(7)).await?;
    equal(only(follower.due(0).await?)?.target, Target::Owner)?;
    equal(follower.store.upkeep().epoch(&follower.scope).await?, Epoch(7))?;
    equal(bury(follower.store.upkeep(), &follower.scope).await?, Epoch(8))
}

async fn an_erasure_leaves_no_note_but_that_of_the_burial<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "b", "c"]).await?;
    follower.give_up(&follower.note("b").await?).await?;
    follower.store.remove(&follower.scope, "c").await?;
    follower.retry(&follower.note("c").await?, 60).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    equal(only(follower.due(60).await?)?.target, Target::Owner)?;
    let backlog = follower.store.upkeep().backlog(&follower.index).await?;
    equal((backlog.pending, backlog.dead), (1, 0))
}

async fn a_settlement_does_not_cover_a_later_burial<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    bury(follower.store.upkeep(), &follower.scope).await?;
    let old = only(follower.due(0).await?)?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.done(&old).await?;
    let note = only(follower.due(0).await?)?;
    equal((&note.target, note.epoch), (&Target::Owner, epoch))?;
    follower.done(&note).await?;
    equal(follower.due(0).await?, [])
}

async fn notes_carry_the_epoch_of_their_owner<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    follower.write(&["a"]).await?;
    equal(follower.note("a").await?.epoch, epoch)?;
    let later = follower.beside("text/later")?;
    crate::upkeep::enlist(&**later.store.upkeep(), &later.index).await?;
    equal(later.note("a").await?.epoch, epoch)
}

async fn an_erased_owner_begins_anew<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a", "a"]).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    let erased = follower.store.erase(&follower.scope, epoch).await?;
    check!(erased.removed > 0 && erased.remaining == 0, "found {erased:?}");
    check!(!follower.store.holds(&follower.scope, "a").await?, "something is left");
    follower.write(&["a"]).await?;
    check!(follower.store.holds(&follower.scope, "a").await?, "nothing can be written any more");
    let again = follower.store.erase(&follower.scope, epoch).await?;
    equal((again.removed, again.remaining), (0, 0))?;
    check!(follower.store.holds(&follower.scope, "a").await?, "a repeated erasure took what was written since");
    check!(!follower.note("a").await?.gone, "what was written since is noted as gone");
    Ok(())
}

async fn a_burial_touches_no_other_owner<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let others = [bed.scope("ad")?, bed.scope("adam")?, bed.scope("ADA")?, bed.scope("bob")?];
    for other in &others {
        follower.store.write(other, "a").await?;
    }
    follower.write(&["a"]).await?;
    let epoch = bury(follower.store.upkeep(), &follower.scope).await?;
    follower.store.erase(&follower.scope, epoch).await?;
    let notes = follower.due(0).await?;
    for other in &others {
        check!(follower.store.holds(other, "a").await?, "{other:?} was erased too");
        equal(follower.store.upkeep().epoch(other).await?, Epoch(0))?;
        let theirs: Vec<_> = notes.iter().filter(|note| note.scope == *other).collect();
        equal(only(theirs)?.target.clone(), S::target("a")?)?;
    }
    Ok(())
}

async fn a_late_burial_spares_what_was_stored_since<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let upkeep = follower.store.upkeep();
    follower.write(&["a"]).await?;
    for _ in 0..2 {
        let seen = upkeep.epoch(&follower.scope).await?;
        let epoch = upkeep.bury(&follower.scope, seen).await?;
        follower.write(&["b"]).await?;
        equal(upkeep.bury(&follower.scope, seen).await?, epoch)?;
        equal(upkeep.bury(&follower.scope, Epoch(0)).await?, epoch)?;
        equal(upkeep.epoch(&follower.scope).await?, epoch)?;
        check!(follower.store.holds(&follower.scope, "b").await?, "what was stored since is gone");
        equal(follower.due(0).await?.len(), 2)?;
    }
    Ok(())
}

async fn a_burial_raises_the_epoch_above_the_one_that_was_seen<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    let upkeep = follower.store.upkeep();
    follower.write(&["a"]).await?;
    equal(upkeep.bury(&follower.scope, Epoch(9)).await?, Epoch(10))?;
    equal(upkeep.epoch(&follower.scope).await?, Epoch(10))?;
    equal(only(follower.due(0).await?)?.epoch, Epoch(10))?;
    check!(!follower.store.holds(&follower.scope, "a").await?, "what was stored before is still returned");
    fails!(upkeep.bury(&follower.scope, Epoch(u64::MAX)).await, Error::Invalid { .. });
    equal(upkeep.epoch(&follower.scope).await?, Epoch(10))
}

async fn bury_is_repeated_after_a_lost_answer<S: Keeper>(bed: Bed<S>) -> Scene {
    let follower = Follower::enlisted(&bed).await?;
    follower.write(&["a"]).await?;
    let tap = Arc::new(Faulty::at(1, When::LostAnswer).of("bury"));
    let upkeep = Tapped::new(follower.store.upkeep().clone(), tap);
    fails!(upkeep.bury(&follower.scope, Epoch(0)).await, Error::Backend { .. });
    let epoch = upkeep.bury(&follower.scope, Epoch(0)).await?;
    equal(epoch, Epoch(1))?;
    equal(upkeep.epoch(&follower.scope).await?, epoch)?;
    equal(follower.store.erase(&follower.scope, epoch).await?.remaining, 0)?;
    check!(!follower.store.holds(&follower.scope, "a").await?, "something is left");
    equal(only(follower.due(0).await?)?.epoch, epoch)
}
