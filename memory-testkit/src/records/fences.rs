//! Fences: a put or a deletion that reaches its store late, after changes that its caller had not seen, is refused.

use memory_core::number::LARGEST;
use memory_core::store::chat::Fence;
use memory_core::store::records::Expect;
use memory_core::{Error, RecordId};

use super::shelf::{Shelf, fact, reworded, texts};
use crate::check::{Failure, Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    a_put_from_before_a_deletion_is_refused,
    a_put_from_before_a_deletion_that_found_nothing_is_refused,
    a_put_from_before_an_advance_is_refused,
    a_fence_is_advanced_once,
    a_fence_of_another_epoch_advances_nothing,
    refuses_a_fence_that_no_other_could_follow,
    an_equal_record_succeeds_whatever_was_deleted_since,
    a_late_deletion_of_a_record_takes_nothing_newer,
    deletes_what_is_older_than_said,
    a_deletion_that_finds_something_newer_deletes_nothing,
    of_a_put_and_a_deletion_of_its_record_one_is_refused,
    keeps_the_fences_of_owners_apart,
    a_restore_from_before_an_erasure_is_refused,
    a_restore_outlives_a_deletion_of_other_records,
]);

/// Tries to put a new record, and passes if that is refused and stores nothing.
async fn is_refused(shelf: &Shelf, fence: Fence) -> Scene {
    let before = shelf.all().await?;
    for expect in [Expect::Absent, Expect::Anything] {
        fails!(shelf.put_with(Some(fence), &[(&fact("late"), expect)]).await, Error::Conflict);
    }
    equal(shelf.all().await?, before)
}

async fn a_put_from_before_a_deletion_is_refused(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (record, kept) = (fact("tea"), fact("water"));
    shelf.put(&[&record, &kept]).await?;
    let seen = shelf.fence().await?;
    equal(shelf.delete_at(&[(record.id, 1)]).await?, 1)?;
    fails!(shelf.put_with(Some(seen), &[(&record, Expect::Absent)]).await, Error::Conflict);
    // Nor is anything else put, for it may be derived from what is gone.
    let changed = reworded(&kept, "sparkling water");
    fails!(shelf.put_with(Some(seen), &[(&changed, Expect::Version(1))]).await, Error::Conflict);
    is_refused(&shelf, seen).await?;
    equal(texts(&shelf.all().await?), ["water"])?;
    let now = shelf.fence().await?;
    check!(now > seen, "{now:?} follows {seen:?}");
    equal(shelf.put_with(Some(now), &[(&changed, Expect::Version(1))]).await?, [2])
}

async fn a_put_from_before_a_deletion_that_found_nothing_is_refused(bed: Bed<Records>) -> Scene {
    let (unknown, known) = (Shelf::new(&bed, "unknown")?, Shelf::new(&bed, "known")?);
    known.put(&[&fact("tea")]).await?;
    for shelf in [unknown, known] {
        let seen = shelf.fence().await?;
        let late = fact("late");
        equal(shelf.delete_at(&[(late.id, 0)]).await?, 0)?;
        fails!(shelf.put_with(Some(seen), &[(&late, Expect::Absent)]).await, Error::Conflict);
        is_refused(&shelf, seen).await?;
        equal(shelf.put_with(Some(shelf.fence().await?), &[(&late, Expect::Absent)]).await?, [1])?;
    }
    Ok(())
}

async fn a_put_from_before_an_advance_is_refused(bed: Bed<Records>) -> Scene {
    let (unknown, known) = (Shelf::new(&bed, "unknown")?, Shelf::new(&bed, "known")?);
    let record = fact("tea");
    known.put(&[&record]).await?;
    known.delete(&[record.id]).await?;
    known.put(&[&record]).await?;
    for shelf in [unknown, known] {
        let (before, seen) = (shelf.all().await?, shelf.fence().await?);
        let now = shelf.advance(seen).await?;
        check!(now > seen, "{now:?} follows {seen:?}");
        equal(shelf.fence().await?, now)?;
        is_refused(&shelf, seen).await?;
        equal(shelf.all().await?, before)?;
        shelf.put_with(Some(now), &[(&fact("new"), Expect::Absent)]).await?;
    }
    Ok(())
}

async fn a_fence_is_advanced_once(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let first = shelf.fence().await?;
    let second = shelf.advance(first).await?;
    equal(shelf.advance(first).await?, second)?;
    let third = shelf.advance(second).await?;
    check!(third > second, "{third:?} follows {second:?}");
    for late in [first, second] {
        equal(shelf.advance(late).await?, third)?;
    }
    equal(shelf.put_with(Some(third), &[(&fact("tea"), Expect::Absent)]).await?, [1])
}

async fn a_fence_of_another_epoch_advances_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    let old = shelf.fence().await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    let now = shelf.fence().await?;
    equal(now.epoch, epoch)?;
    equal(shelf.advance(Fence { generation: 1_000, ..old }).await?, now)?;
    equal(shelf.fence().await?, now)?;
    fails!(shelf.put_with(Some(old), &[(&fact("late"), Expect::Absent)]).await, Error::Fenced);
    equal(shelf.put_with(Some(now), &[(&fact("new"), Expect::Absent)]).await?, [1])
}

async fn refuses_a_fence_that_no_other_could_follow(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let seen = shelf.fence().await?;
    for generation in [LARGEST + 1, u64::MAX] {
        fails!(shelf.advance(Fence { generation, ..seen }).await, Error::Invalid { .. });
    }
    equal(shelf.fence().await?, seen)?;
    let last = Fence { generation: LARGEST, ..seen };
    check!(shelf.advance(last).await? > last, "the fence is not above {last:?}");
    is_refused(&shelf, last).await
}

async fn an_equal_record_succeeds_whatever_was_deleted_since(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, other, deleted) = (fact("tea"), fact("water"), fact("coffee"));
    shelf.put(&[&deleted]).await?;
    let seen = shelf.fence().await?;
    let puts = [(&one, Expect::Absent), (&other, Expect::Absent)];
    equal(shelf.put_with(Some(seen), &puts).await?, [1, 1])?;
    shelf.delete(&[deleted.id]).await?;
    // As after a lost answer.
    equal(shelf.put_with(Some(seen), &puts).await?, [1, 1])?;
    let new = fact("milk");
    let puts = [(&one, Expect::Absent), (&new, Expect::Absent)];
    fails!(shelf.put_with(Some(seen), &puts).await, Error::Conflict);
    equal(shelf.get(&[new.id]).await?, [])
}

async fn a_late_deletion_of_a_record_takes_nothing_newer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (again, changed) = (fact("tea"), fact("water"));
    shelf.put(&[&again, &changed]).await?;
    equal(shelf.delete_at(&[(again.id, 1)]).await?, 1)?;
    shelf.put(&[&again, &reworded(&changed, "sparkling water")]).await?;
    let (before, fence) = (shelf.all().await?, shelf.fence().await?);
    for late in [again.id, changed.id] {
        for version in [0, 1] {
            fails!(shelf.delete_at(&[(late, version)]).await, Error::Conflict);
        }
    }
    equal(shelf.all().await?, before)?;
    equal(shelf.fence().await?, fence)
}

async fn deletes_what_is_older_than_said(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = [fact("one"), fact("two"), fact("three")];
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let [one, two, three] = records.map(|record| record.id);
    equal(shelf.delete_at(&[(one, 1), (two, 2), (three, u64::MAX), (RecordId::fresh(), 0)]).await?, 3)?;
    equal(shelf.all().await?, [])
}

async fn a_deletion_that_finds_something_newer_deletes_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, newer, other) = (fact("tea"), fact("water"), fact("milk"));
    shelf.put(&[&one, &newer, &other]).await?;
    shelf.put(&[&reworded(&newer, "sparkling water")]).await?;
    let (before, fence) = (shelf.all().await?, shelf.fence().await?);
    fails!(shelf.delete_at(&[(one.id, 1), (newer.id, 1), (other.id, 1)]).await, Error::Conflict);
    equal(shelf.all().await?, before)?;
    equal(shelf.put_with(Some(fence), &[(&fact("new"), Expect::Absent)]).await?, [1])?;
    equal(shelf.delete_at(&[(one.id, 1), (newer.id, 2), (other.id, 1)]).await?, 3)
}

async fn of_a_put_and_a_deletion_of_its_record_one_is_refused(bed: Bed<Records>) -> Scene {
    for round in 0..32 {
        let shelf = Shelf::new(&bed, &format!("owner {round}"))?;
        let (record, fence) = (fact("tea"), shelf.fence().await?);
        let (putting, deleting, id) = (shelf.clone(), shelf.clone(), record.id);
        let put = async move { putting.put_with(Some(fence), &[(&record, Expect::Absent)]).await };
        let delete = async move { deleting.delete_at(&[(id, 0)]).await };
        // Each is begun first as often as the other.
        let (put, deleted) = if round % 2 == 0 {
            let put = tokio::spawn(put);
            (put, tokio::spawn(delete))
        } else {
            let deleted = tokio::spawn(delete);
            (tokio::spawn(put), deleted)
        };
        let stopped = |error: tokio::task::JoinError| Failure::new(error.to_string());
        match (put.await.map_err(stopped)?, deleted.await.map_err(stopped)?) {
            (Ok(_), Err(Error::Conflict)) => equal(shelf.all().await?.len(), 1)?,
            (Err(Error::Conflict), Ok(0)) => equal(shelf.all().await?, [])?,
            other => return Err(Failure::new(format!("both answers stand: {other:?}"))),
        }
    }
    Ok(())
}

async fn keeps_the_fences_of_owners_apart(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::new(&bed, "ada")?, Shelf::new(&bed, "bob")?);
    let (mine, foreign) = (fact("tea"), fact("water"));
    ada.put(&[&mine]).await?;
    bob.put(&[&foreign]).await?;
    let seen = ada.fence().await?;
    bob.delete_at(&[(foreign.id, 1), (mine.id, 1)]).await?;
    bob.advance(bob.fence().await?).await?;
    equal(ada.fence().await?, seen)?;
    equal(ada.put_with(Some(seen), &[(&fact("coffee"), Expect::Absent)]).await?, [1])
}

async fn a_restore_from_before_an_erasure_is_refused(bed: Bed<Records>) -> Scene {
    let (shelf, unknown) = (Shelf::plain(&bed)?, Shelf::new(&bed, "unknown")?);
    shelf.put(&[&fact("tea"), &fact("water")]).await?;
    let (rows, old) = (shelf.all().await?, shelf.fence().await?.epoch);
    shelf.restore_with(Some(old), &rows).await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    fails!(shelf.restore_with(Some(old), &rows).await, Error::Fenced);
    shelf.records.store().erase(&shelf.scope, epoch).await?;
    fails!(shelf.restore_with(Some(old), &rows).await, Error::Fenced);
    fails!(unknown.restore_with(Some(epoch), &rows).await, Error::Fenced);
    equal((shelf.all().await?, unknown.all().await?), (vec![], vec![]))?;
    shelf.restore_with(Some(shelf.fence().await?.epoch), &rows).await?;
    equal(shelf.all().await?, rows)
}

async fn a_restore_outlives_a_deletion_of_other_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (tea, water) = (fact("tea"), fact("water"));
    shelf.put(&[&tea]).await?;
    let (rows, epoch) = (shelf.all().await?, shelf.fence().await?.epoch);
    shelf.put(&[&water]).await?;
    shelf.delete(&[water.id]).await?;
    shelf.restore_with(Some(epoch), &rows).await?;
    equal(texts(&shelf.all().await?), ["tea"])
}
