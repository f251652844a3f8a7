//! What survives the store's being closed and opened again, and another process beside it.

use memory_core::store::upkeep::IndexName;
use memory_core::{Clock as _, Epoch, Error, Scope};

use super::shelf::{Shelf, at, fact, later, reworded, texts};
use crate::chat::talk::{MANY, only};
use crate::check::{Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Needs, Records};

scenarios!(BESIDE: Records = [what_one_opening_puts_another_gets]);

scenarios!(TABLE: Records, Needs::Durability = [
    s1_7_a_restart_keeps_records,
    a_restart_keeps_deletions_epochs_and_notes,
]);

async fn what_one_opening_puts_another_gets(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let other = Shelf { records: bed.reopen().await?, ..shelf.clone() };
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    equal(texts(&other.all().await?), ["tea"])?;
    equal(other.put(&[&reworded(&record, "green tea")]).await?, [2])?;
    equal(texts(&shelf.get(&[record.id]).await?), ["green tea"])?;
    other.delete(&[record.id]).await?;
    equal(shelf.all().await?, [])
}

/// Restarts the store; `shelf` must be its last user.
async fn restart(bed: Bed<Records>, shelf: Shelf) -> memory_core::Result<(Bed<Records>, Shelf)> {
    let scope: Scope = shelf.scope;
    drop(shelf.records);
    let bed = bed.restart().await?;
    let shelf = Shelf { records: bed.store.clone(), scope };
    Ok((bed, shelf))
}

async fn s1_7_a_restart_keeps_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, other) = (fact("tea"), fact("water"));
    shelf.put(&[&one, &other]).await?;
    shelf.put(&[&reworded(&one, "green tea")]).await?;
    shelf.touch(&[one.id], later(1)).await?;
    let before = shelf.all().await?;
    let (_bed, shelf) = restart(bed, shelf).await?;
    equal(shelf.all().await?, before)?;
    equal(shelf.put(&[&reworded(&one, "black tea")]).await?, [3])
}

async fn a_restart_keeps_deletions_epochs_and_notes(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let index = IndexName::new("text/test-1")?;
    crate::upkeep::enlist(&**shelf.records.upkeep(), &index).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.delete(&[record.id]).await?;
    let bob = bed.scope("bob")?;
    bury(shelf.records.upkeep(), &bob).await?;
    let before = shelf.records.upkeep().pending(&index, bed.clock.now(), MANY).await?;
    let fence = shelf.fence().await?;
    let (bed, shelf) = restart(bed, shelf).await?;
    equal(shelf.records.upkeep().pending(&index, bed.clock.now(), MANY).await?, before)?;
    equal(shelf.fence().await?, fence)?;
    let late = Shelf { scope: bob, ..shelf.clone() };
    fails!(late.put_with(at(Epoch(0)), &[(&record, memory_core::store::records::Expect::Absent)]).await, Error::Fenced);
    let version = only(shelf.put(&[&record]).await?)?;
    check!(version > 2, "version {version} follows the deletion of version 1");
    Ok(())
}
