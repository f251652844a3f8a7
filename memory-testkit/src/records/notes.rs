//! What notes promise for records: each carries the version that an index has still to see.

use memory_core::store::records::Expect;
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target, latest_due};
use memory_core::{Clock as _, Error, RecordId, Seq};

use super::shelf::{Shelf, at, fact, later, reworded};
use crate::chat::talk::{MANY, only};
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    a_note_carries_the_version,
    a_settlement_of_an_older_version_leaves_the_newer,
    a_change_makes_a_retry_due_at_once,
    a_touch_notes_nothing,
    a_deletion_is_noted_above_every_version,
    a_record_put_after_its_deletion_is_not_gone,
    a_restore_notes_its_rows,
    a_failed_put_notes_nothing,
]);

async fn enlist(bed: &Bed<Records>) -> memory_core::Result<(IndexName, Shelf)> {
    let index = IndexName::new("text/test-1")?;
    crate::upkeep::enlist(&**bed.store.upkeep(), &index).await?;
    Ok((index, Shelf::plain(bed)?))
}

async fn due(bed: &Bed<Records>, index: &IndexName) -> memory_core::Result<Vec<Note>> {
    bed.store.upkeep().pending(index, bed.clock.now(), MANY).await
}

async fn done(bed: &Bed<Records>, index: &IndexName, note: &Note) -> memory_core::Result<()> {
    bed.store.upkeep().settle(index, &[(note.clone(), Outcome::Done { through: note.upto })]).await
}

fn about(note: &Note) -> (Option<RecordId>, Seq, bool) {
    let id = match &note.target {
        Target::Record(id) => Some(*id),
        _ => None,
    };
    (id, note.upto, note.gone)
}

async fn a_note_carries_the_version(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    for version in 1..4 {
        shelf.put(&[&reworded(&record, &format!("tea {version}"))]).await?;
        let note = only(due(&bed, &index).await?)?;
        equal(about(&note), (Some(record.id), Seq(version), false))?;
    }
    done(&bed, &index, &only(due(&bed, &index).await?)?).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_settlement_of_an_older_version_leaves_the_newer(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let note = only(due(&bed, &index).await?)?;
    shelf.put(&[&reworded(&record, "green tea")]).await?;
    done(&bed, &index, &note).await?;
    equal(about(&only(due(&bed, &index).await?)?), (Some(record.id), Seq(2), false))
}

async fn a_change_makes_a_retry_due_at_once(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let note = only(due(&bed, &index).await?)?;
    let outcome = Outcome::Retry { at: latest_due(bed.clock.now()), why: "busy".to_owned() };
    bed.store.upkeep().settle(&index, &[(note, outcome)]).await?;
    equal(due(&bed, &index).await?, [])?;
    shelf.put(&[&reworded(&record, "green tea")]).await?;
    equal(about(&only(due(&bed, &index).await?)?), (Some(record.id), Seq(2), false))
}

async fn a_touch_notes_nothing(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    done(&bed, &index, &only(due(&bed, &index).await?)?).await?;
    shelf.touch(&[record.id], later(1)).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_deletion_is_noted_above_every_version(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.put(&[&reworded(&record, "green tea")]).await?;
    let old = only(due(&bed, &index).await?)?;
    shelf.delete(&[record.id]).await?;
    done(&bed, &index, &old).await?;
    let note = only(due(&bed, &index).await?)?;
    check!(note.gone && note.upto > Seq(2), "found {note:?}");
    done(&bed, &index, &note).await?;
    equal(due(&bed, &index).await?, [])
}

async fn a_record_put_after_its_deletion_is_not_gone(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.delete(&[record.id]).await?;
    let gone = only(due(&bed, &index).await?)?;
    let version = only(shelf.put(&[&record]).await?)?;
    done(&bed, &index, &gone).await?;
    let note = only(due(&bed, &index).await?)?;
    equal(about(&note), (Some(record.id), Seq(version), false))
}

async fn a_restore_notes_its_rows(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    let bob = Shelf::new(&bed, "bob")?;
    bob.put(&[&record]).await?;
    bob.put(&[&reworded(&record, "green tea")]).await?;
    shelf.restore(&bob.all().await?).await?;
    let notes: Vec<_> = due(&bed, &index).await?.into_iter().filter(|note| note.scope == shelf.scope).collect();
    equal(about(&only(notes)?), (Some(record.id), Seq(2), false))
}

async fn a_failed_put_notes_nothing(bed: Bed<Records>) -> Scene {
    let (index, shelf) = enlist(&bed).await?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    done(&bed, &index, &only(due(&bed, &index).await?)?).await?;
    let other = reworded(&record, "coffee");
    let puts = [(&fact("new"), Expect::Absent), (&other, Expect::Version(9))];
    fails!(shelf.put_with(None, &puts).await, Error::Conflict);
    fails!(shelf.put_with(at(memory_core::Epoch(4)), &puts).await, Error::Fenced);
    equal(due(&bed, &index).await?, [])
}
