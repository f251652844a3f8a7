//! What deleting records promises.

use memory_core::RecordId;

use super::shelf::{Shelf, fact, ids, texts};
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    a_deleted_record_is_gone,
    tells_how_many_there_were,
    an_empty_list_deletes_nothing,
    deletes_one_of_fifty_and_leaves_the_others_as_they_are,
    a_deletion_forgets_access_statistics,
]);

async fn a_deleted_record_is_gone(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (kept, deleted) = (fact("tea"), fact("coffee"));
    shelf.put(&[&kept, &deleted]).await?;
    shelf.delete(&[deleted.id]).await?;
    equal(texts(&shelf.get(&[deleted.id, kept.id]).await?), ["tea"])?;
    equal(texts(&shelf.all().await?), ["tea"])
}

async fn tells_how_many_there_were(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = [fact("one"), fact("two"), fact("three")];
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let [one, two, three] = records.map(|record| record.id);
    equal(shelf.delete(&[one, RecordId::fresh(), two, one]).await?, 2)?;
    equal(shelf.delete(&[one, two]).await?, 0)?;
    equal(shelf.delete(&[one, three]).await?, 1)
}

async fn an_empty_list_deletes_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    shelf.put(&[&fact("tea")]).await?;
    let fence = shelf.fence().await?;
    equal(shelf.delete(&[]).await?, 0)?;
    equal(shelf.all().await?.len(), 1)?;
    equal(shelf.fence().await?, fence)
}

async fn deletes_one_of_fifty_and_leaves_the_others_as_they_are(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records: Vec<_> = (0..50).map(|number| fact(&format!("fact {number}"))).collect();
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let mut left = shelf.all().await?;
    let deleted = left.remove(27);
    equal(shelf.delete(&[deleted.record.id]).await?, 1)?;
    equal(shelf.all().await?, left.clone())?;
    equal(shelf.get(&ids(&left)).await?, left)
}

async fn a_deletion_forgets_access_statistics(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.touch(&[record.id], super::shelf::later(1)).await?;
    shelf.delete(&[record.id]).await?;
    shelf.put(&[&record]).await?;
    let counts: Vec<_> = shelf.all().await?.iter().map(|row| (row.accessed_at, row.access_count)).collect();
    equal(counts, [(None, 0)])
}
