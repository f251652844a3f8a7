//! What restoring records promises: exports and moves come back as they were.

use std::sync::Arc;

use memory_core::number::LARGEST;
use memory_core::store::upkeep::{IndexName, Outcome};
use memory_core::{Clock as _, Error, Seq, StoredRecord};

use super::shelf::{Shelf, fact, later, reworded, texts};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    restored_records_equal_the_exported_ones,
    restoring_again_changes_nothing,
    a_newer_row_replaces_an_older_one,
    an_older_row_of_equal_content_is_skipped,
    refuses_an_older_row_of_other_content,
    refuses_a_row_that_was_deleted_since,
    a_row_that_replaces_nothing_is_stored_as_it_was_exported,
    a_row_that_replaces_nothing_leaves_an_older_one_as_it_is,
    a_row_that_replaces_nothing_brings_no_deleted_one_back,
    restores_all_rows_or_none,
    versions_go_on_behind_restored_ones,
    refuses_numbers_that_cannot_be_counted_on_from,
    the_note_of_the_largest_version_is_settled,
]);

/// Returns a row of this version.
fn row(record: &memory_core::Record, version: u64, access_count: u64) -> StoredRecord {
    let accessed_at = (access_count > 0).then(|| later(1));
    StoredRecord { record: Arc::new(record.clone()), version, accessed_at, access_count }
}

async fn restored_records_equal_the_exported_ones(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    let records = [fact("one"), fact("two"), fact("three")];
    ada.put(&records.iter().collect::<Vec<_>>()).await?;
    for record in records.iter().take(2) {
        ada.put(&[&reworded(record, "reworded")]).await?;
        ada.touch(&[record.id], later(7)).await?;
    }
    let rows = ada.all().await?;
    bob.restore(&rows).await?;
    equal(bob.all().await?, rows.clone())?;
    equal(ada.all().await?, rows)
}

async fn restoring_again_changes_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let rows = [row(&fact("one"), 4, 2), row(&fact("two"), 1, 0)];
    shelf.restore(&rows).await?;
    let before = shelf.all().await?;
    shelf.restore(&rows).await?;
    shelf.restore(&[]).await?;
    equal(shelf.all().await?, before)
}

async fn a_newer_row_replaces_an_older_one(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.restore(&[row(&reworded(&record, "green tea"), 7, 3)]).await?;
    let found = only(shelf.all().await?)?;
    equal(found, row(&reworded(&record, "green tea"), 7, 3))
}

async fn an_older_row_of_equal_content_is_skipped(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.restore(&[row(&record, 5, 2)]).await?;
    for version in [1, 4, 5] {
        shelf.restore(&[row(&record, version, 9)]).await?;
    }
    equal(only(shelf.all().await?)?, row(&record, 5, 2))
}

async fn refuses_an_older_row_of_other_content(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.restore(&[row(&record, 5, 0)]).await?;
    for version in [1, 4, 5] {
        fails!(shelf.restore(&[row(&reworded(&record, "coffee"), version, 0)]).await, Error::Conflict);
    }
    equal(texts(&shelf.all().await?), ["tea"])
}

async fn refuses_a_row_that_was_deleted_since(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let exported = shelf.all().await?;
    shelf.delete(&[record.id]).await?;
    fails!(shelf.restore(&exported).await, Error::Conflict);
    equal(shelf.all().await?, [])?;
    shelf.restore(&[row(&record, 100, 0)]).await?;
    equal(only(shelf.all().await?)?.version, 100)
}

async fn a_row_that_replaces_nothing_is_stored_as_it_was_exported(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut rows = vec![row(&fact("one"), 4, 2), row(&fact("two"), 1, 0)];
    shelf.restore_missing(&rows).await?;
    shelf.restore_missing(&[]).await?;
    rows.sort_by_key(|row| row.record.id);
    equal(shelf.all().await?, rows)
}

async fn a_row_that_replaces_nothing_leaves_an_older_one_as_it_is(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.restore(&[row(&record, 5, 2)]).await?;
    for version in [1, 5, 6, LARGEST] {
        shelf.restore_missing(&[row(&record, version, 9)]).await?;
        let rows = [row(&fact("new"), 1, 0), row(&reworded(&record, "coffee"), version, 0)];
        fails!(shelf.restore_missing(&rows).await, Error::Conflict);
    }
    equal(only(shelf.all().await?)?, row(&record, 5, 2))
}

async fn a_row_that_replaces_nothing_brings_no_deleted_one_back(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.delete(&[record.id]).await?;
    for version in [1, 100, LARGEST] {
        fails!(shelf.restore_missing(&[row(&record, version, 0)]).await, Error::Conflict);
    }
    equal(shelf.all().await?, [])
}

async fn restores_all_rows_or_none(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.restore(&[row(&record, 5, 0)]).await?;
    let rows = [row(&fact("new"), 1, 0), row(&reworded(&record, "coffee"), 4, 0), row(&fact("newer"), 1, 0)];
    fails!(shelf.restore(&rows).await, Error::Conflict);
    equal(texts(&shelf.all().await?), ["tea"])
}

async fn versions_go_on_behind_restored_ones(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.restore(&[row(&record, 5, 0)]).await?;
    equal(shelf.put(&[&reworded(&record, "coffee")]).await?, [6])?;
    shelf.delete(&[record.id]).await?;
    let version = only(shelf.put(&[&record]).await?)?;
    check!(version > 7, "version {version} follows the deletion of version 6");
    Ok(())
}

async fn refuses_numbers_that_cannot_be_counted_on_from(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    for large in [LARGEST + 1, (u64::MAX >> 1) - 1, u64::MAX >> 1, u64::MAX] {
        fails!(shelf.restore(&[row(&fact("tea"), 1, 0), row(&fact("milk"), large, 0)]).await, Error::Invalid { .. });
        fails!(shelf.restore(&[row(&fact("tea"), 1, 0), row(&fact("milk"), 1, large)]).await, Error::Invalid { .. });
    }
    equal(shelf.all().await?, [])?;
    let record = fact("tea");
    shelf.restore(&[row(&record, LARGEST, LARGEST)]).await?;
    equal(only(shelf.all().await?)?, row(&record, LARGEST, LARGEST))
}

async fn the_note_of_the_largest_version_is_settled(bed: Bed<Records>) -> Scene {
    let (shelf, index) = (Shelf::plain(&bed)?, IndexName::new("text/test-1")?);
    let upkeep = bed.store.upkeep();
    crate::upkeep::enlist(&**upkeep, &index).await?;
    let settle = async |promised: u64, is_gone: bool| -> Scene {
        let note = only(upkeep.pending(&index, bed.clock.now(), 10).await?)?;
        equal((note.upto, note.gone), (Seq(promised), is_gone))?;
        upkeep.settle(&index, &[(note, Outcome::Done { through: Seq(promised) })]).await?;
        equal(upkeep.pending(&index, bed.clock.now(), 10).await?, [])
    };
    let record = fact("tea");
    shelf.restore(&[row(&record, LARGEST, 0)]).await?;
    settle(LARGEST, false).await?;
    equal(shelf.put(&[&reworded(&record, "green tea")]).await?, [LARGEST + 1])?;
    settle(LARGEST + 1, false).await?;
    shelf.delete(&[record.id]).await?;
    settle(LARGEST + 2, true).await
}
