//! What the erasure of an owner promises for records.

use memory_core::store::records::Expect;
use memory_core::{Epoch, Error};

use super::shelf::{Shelf, at, fact, later, reworded, texts};
use crate::check::{Scene, equal};
use crate::generate::{self, Random};
use crate::upkeep::bury;
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    an_erased_owner_has_no_records,
    an_erasure_leaves_all_other_owners_as_they_are,
    an_erasure_below_the_first_epoch_removes_nothing,
    an_erasure_fences_older_epochs_without_a_burial,
    what_is_put_behind_the_burial_stays,
    a_put_between_burial_and_erasure_is_kept_or_refused,
    a_deletion_is_erased_too,
]);

async fn an_erased_owner_has_no_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, other) = (fact("tea"), fact("coffee"));
    shelf.put(&[&one, &other]).await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    let erased = shelf.records.store().erase(&shelf.scope, epoch).await?;
    equal((erased.removed, erased.remaining), (2, 0))?;
    equal(shelf.all().await?, [])?;
    equal(shelf.get(&[one.id, other.id]).await?, [])?;
    equal(shelf.delete(&[one.id]).await?, 0)?;
    equal(shelf.put(&[&one]).await?, [1])
}

async fn an_erasure_leaves_all_other_owners_as_they_are(bed: Bed<Records>) -> Scene {
    let plain = Shelf::plain(&bed)?;
    let scopes = generate::owners(&mut Random::new(bed.seed), &bed.tenant, 50)?;
    let shelves: Vec<_> = scopes.into_iter().map(|scope| Shelf { scope, ..plain.clone() }).collect();
    let (shared, mut before) = (fact("shared"), Vec::new());
    for shelf in &shelves {
        shelf.put(&[&shared, &fact(shelf.scope.key())]).await?;
        shelf.touch(&[shared.id], later(1)).await?;
        before.push(shelf.all().await?);
    }
    let erased = usize::try_from(bed.seed % 50).unwrap_or(0);
    for shelf in shelves.iter().skip(erased).take(1) {
        let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
        equal(shelf.records.store().erase(&shelf.scope, epoch).await?.remaining, 0)?;
        equal(shelf.all().await?, [])?;
    }
    for (place, (shelf, before)) in shelves.iter().zip(before).enumerate() {
        check!(place == erased || shelf.all().await? == before, "the erasure changed {}", shelf.scope.key());
    }
    Ok(())
}

async fn an_erasure_below_the_first_epoch_removes_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    equal(shelf.records.store().erase(&shelf.scope, Epoch(0)).await?.removed, 0)?;
    equal(shelf.put_with(at(Epoch(0)), &[(&fact("coffee"), Expect::Absent)]).await?, [1])?;
    equal(shelf.all().await?.len(), 2)
}

async fn an_erasure_fences_older_epochs_without_a_burial(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    let erased = shelf.records.store().erase(&shelf.scope, Epoch(3)).await?;
    equal((erased.removed, erased.remaining), (1, 0))?;
    for epoch in 0..3 {
        let late = shelf.put_with(at(Epoch(epoch)), &[(&fact("late"), Expect::Absent)]).await;
        fails!(late, Error::Fenced);
    }
    equal(shelf.records.upkeep().epoch(&shelf.scope).await?, Epoch(3))?;
    shelf.put_with(at(Epoch(3)), &[(&fact("begun again"), Expect::Absent)]).await?;
    equal(texts(&shelf.all().await?), ["begun again"])
}

async fn what_is_put_behind_the_burial_stays(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    shelf.put_with(at(epoch), &[(&fact("coffee"), Expect::Absent)]).await?;
    equal(shelf.records.store().erase(&shelf.scope, epoch).await?.remaining, 0)?;
    equal(texts(&shelf.all().await?), ["coffee"])
}

async fn a_put_between_burial_and_erasure_is_kept_or_refused(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (same, changed) = (fact("tea"), fact("coffee"));
    shelf.put(&[&same, &changed]).await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    let other = reworded(&changed, "water");
    let mut promised = Vec::new();
    for record in [&same, &other] {
        if shelf.put_with(at(epoch), &[(record, Expect::Anything)]).await.is_ok() {
            promised.push(record.text.as_str());
        }
    }
    equal(shelf.records.store().erase(&shelf.scope, epoch).await?.remaining, 0)?;
    let rows = shelf.get(&[same.id, other.id]).await?;
    equal(texts(&rows), promised)
}

async fn a_deletion_is_erased_too(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.delete(&[record.id]).await?;
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    equal(shelf.records.store().erase(&shelf.scope, epoch).await?.remaining, 0)?;
    // Index entries carry the epoch, so that versions may restart with it.
    equal(shelf.put(&[&record]).await?, [1])
}
