//! Every writing method is repeated after a lost answer: the outcome is as if the first answer had arrived.

use std::sync::Arc;

use memory_core::store::records::Expect;
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, Error};

use super::shelf::{Shelf, at, brief, fact, later, reworded, texts};
use crate::check::{Scene, equal};
use crate::doubles::{Faulty, Tapped, When};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    put_is_repeated_after_a_lost_answer,
    touch_is_repeated_after_a_lost_answer,
    delete_is_repeated_after_a_lost_answer,
    advance_is_repeated_after_a_lost_answer,
    restore_is_repeated_after_a_lost_answer,
    sweep_is_repeated_after_a_lost_answer,
    erase_is_repeated_after_a_lost_answer,
]);

/// Returns the same shelf with the first answer to `method` lost.
fn cut(shelf: &Shelf, method: &'static str) -> Shelf {
    let tap = Arc::new(Faulty::at(1, When::LostAnswer).of(method));
    let records = shelf.records.clone().layered(|store| Arc::new(Tapped::new(store, tap)));
    Shelf { records, ..shelf.clone() }
}

async fn put_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (old, new) = (fact("tea"), fact("water"));
    shelf.put(&[&old]).await?;
    let changed = reworded(&old, "green tea");
    let puts = [(&changed, Expect::Version(1)), (&new, Expect::Absent)];
    let cut = cut(&shelf, "put");
    fails!(cut.put_with(None, &puts).await, Error::Backend { .. });
    equal(cut.put_with(None, &puts).await?, [2, 1])?;
    equal(texts(&shelf.get(&[old.id, new.id]).await?), ["green tea", "water"])
}

async fn touch_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let cut = cut(&shelf, "touch");
    fails!(cut.touch(&[record.id], later(1)).await, Error::Backend { .. });
    cut.touch(&[record.id], later(1)).await?;
    equal(shelf.all().await?.iter().map(|row| row.access_count).collect::<Vec<_>>(), [1])
}

async fn delete_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (record, kept) = (fact("tea"), fact("water"));
    shelf.put(&[&record, &kept]).await?;
    let cut = cut(&shelf, "delete");
    fails!(cut.delete(&[record.id]).await, Error::Backend { .. });
    equal(cut.delete(&[record.id]).await?, 0)?;
    equal(texts(&shelf.all().await?), ["water"])
}

async fn advance_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (seen, cut) = (shelf.fence().await?, cut(&shelf, "advance"));
    fails!(cut.advance(seen).await, Error::Backend { .. });
    let now = shelf.fence().await?;
    check!(now > seen, "{now:?} follows {seen:?}");
    equal(cut.advance(seen).await?, now)
}

async fn restore_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let (shelf, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    let record = fact("tea");
    bob.put(&[&record]).await?;
    bob.put(&[&reworded(&record, "green tea"), &fact("water")]).await?;
    let rows = bob.all().await?;
    let cut = cut(&shelf, "restore");
    fails!(cut.restore(&rows).await, Error::Backend { .. });
    cut.restore(&rows).await?;
    equal(shelf.all().await?, rows)
}

async fn sweep_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&brief("short", 1), &brief("longer", 5), &fact("lasting")]).await?;
    let tap = Arc::new(Faulty::at(1, When::LostAnswer).of("sweep"));
    let upkeep = Tapped::new(shelf.records.upkeep().clone(), tap);
    fails!(upkeep.sweep(later(2), 10).await, Error::Backend { .. });
    equal(upkeep.sweep(later(2), 10).await?, 0)?;
    equal(shelf.all().await?.len(), 2)
}

async fn erase_is_repeated_after_a_lost_answer(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    let cut = cut(&shelf, "erase");
    fails!(cut.records.store().erase(&cut.scope, Epoch(1)).await, Error::Backend { .. });
    equal(cut.records.store().erase(&cut.scope, Epoch(1)).await?.remaining, 0)?;
    equal(shelf.all().await?, [])?;
    fails!(shelf.put_with(at(Epoch(0)), &[(&fact("late"), Expect::Absent)]).await, Error::Fenced);
    Ok(())
}
