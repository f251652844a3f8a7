//! What a sweep promises: what has expired goes, and nothing else.

use memory_core::record::Record;
use memory_core::store::upkeep::IndexName;
use memory_core::{Clock as _, Timestamp};

use super::shelf::{Shelf, brief, fact, later, tell, texts};
use crate::chat::talk::{MANY, NOON};
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    a_sweep_deletes_what_has_expired,
    a_record_expires_at_its_moment_and_not_before,
    a_sweep_spares_pinned_records,
    a_sweep_spares_records_on_hold_until_it_is_lifted,
    a_sweep_checks_the_expiry_that_is_stored_now,
    a_sweep_deletes_no_more_than_asked_for,
    a_sweep_crosses_owners,
    a_sweep_notes_what_is_gone,
    a_swept_record_keeps_its_version_taken,
]);

async fn sweep(bed: &Bed<Records>, now: Timestamp) -> memory_core::Result<u64> {
    bed.store.upkeep().sweep(now, MANY).await
}

async fn a_sweep_deletes_what_has_expired(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&brief("short", 10), &brief("long", 100), &fact("lasting")]).await?;
    equal(sweep(&bed, NOON).await?, 0)?;
    equal(sweep(&bed, later(50)).await?, 1)?;
    let mut left: Vec<_> = shelf.all().await?;
    left.sort_by(|one, other| one.record.text.cmp(&other.record.text));
    equal(texts(&left), ["lasting", "long"])?;
    equal(sweep(&bed, later(50)).await?, 0)?;
    equal(sweep(&bed, Timestamp(i64::MAX)).await?, 1)?;
    equal(texts(&shelf.all().await?), ["lasting"])
}

async fn a_record_expires_at_its_moment_and_not_before(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&brief("short", 10)]).await?;
    equal(sweep(&bed, Timestamp(later(10).0 - 1)).await?, 0)?;
    equal(shelf.all().await?.len(), 1)?;
    equal(sweep(&bed, later(10)).await?, 1)?;
    equal(shelf.all().await?, [])
}

async fn a_sweep_spares_pinned_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let pinned = tell(brief("pinned", 10), |telling| telling.pinned = true);
    shelf.put(&[&pinned]).await?;
    equal(sweep(&bed, later(11)).await?, 0)?;
    equal(texts(&shelf.all().await?), ["pinned"])?;
    shelf.put(&[&tell(pinned, |telling| telling.pinned = false)]).await?;
    equal(sweep(&bed, later(11)).await?, 1)
}

async fn a_sweep_spares_records_on_hold_until_it_is_lifted(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let held = Record { hold: true, ..brief("held", 10) };
    shelf.put(&[&held]).await?;
    equal(sweep(&bed, later(11)).await?, 0)?;
    equal(texts(&shelf.all().await?), ["held"])?;
    shelf.put(&[&Record { hold: false, ..held }]).await?;
    equal(sweep(&bed, later(11)).await?, 1)?;
    equal(shelf.all().await?, [])
}

async fn a_sweep_checks_the_expiry_that_is_stored_now(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = brief("prolonged", 10);
    shelf.put(&[&record]).await?;
    shelf.put(&[&tell(record.clone(), |telling| telling.expires_at = Some(later(100)))]).await?;
    equal(sweep(&bed, later(11)).await?, 0)?;
    shelf.put(&[&tell(record.clone(), |telling| telling.expires_at = None)]).await?;
    equal(sweep(&bed, Timestamp(i64::MAX)).await?, 0)?;
    shelf.put(&[&record]).await?;
    equal(sweep(&bed, later(11)).await?, 1)
}

async fn a_sweep_deletes_no_more_than_asked_for(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    for number in 0..10 {
        shelf.put(&[&brief(&format!("short {number}"), number)]).await?;
    }
    equal(bed.store.upkeep().sweep(later(100), 0).await?, 0)?;
    for (limit, left) in [(4, 6), (4, 2), (4, 0), (4, 0)] {
        let before = shelf.all().await?.len();
        let swept = bed.store.upkeep().sweep(later(100), limit).await?;
        equal((swept as usize, shelf.all().await?.len()), (before - left, left))?;
    }
    Ok(())
}

async fn a_sweep_crosses_owners(bed: Bed<Records>) -> Scene {
    let shelves = [Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?, Shelf::new(&bed, "carol")?];
    for shelf in &shelves {
        shelf.put(&[&brief("short", 10), &fact("lasting")]).await?;
    }
    equal(sweep(&bed, later(10)).await?, 3)?;
    for shelf in &shelves {
        equal(texts(&shelf.all().await?), ["lasting"])?;
    }
    Ok(())
}

async fn a_sweep_notes_what_is_gone(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = brief("short", 10);
    shelf.put(&[&record, &fact("lasting")]).await?;
    let index = IndexName::new("text/test-1")?;
    crate::upkeep::enlist(&**bed.store.upkeep(), &index).await?;
    sweep(&bed, later(10)).await?;
    let notes = bed.store.upkeep().pending(&index, bed.clock.now(), MANY).await?;
    let gone: Vec<_> = notes.into_iter().filter(|note| note.gone).map(|note| note.target).collect();
    equal(gone, [memory_core::store::upkeep::Target::Record(record.id)])
}

async fn a_swept_record_keeps_its_version_taken(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = brief("short", 10);
    shelf.put(&[&record]).await?;
    sweep(&bed, later(10)).await?;
    let versions = shelf.put(&[&record]).await?;
    check!(versions.first().is_some_and(|version| *version > 2), "the versions are {versions:?}");
    Ok(())
}
