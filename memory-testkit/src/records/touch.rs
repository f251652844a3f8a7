//! What access statistics promise.

use futures_util::future::join_all;
use memory_core::RecordId;

use super::shelf::{Shelf, fact, later};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    counts_every_moment,
    counts_one_moment_once,
    counts_only_forwards_in_time,
    a_touch_changes_no_version,
    skips_what_is_not_there,
    touches_together_count_each_moment_once,
]);

async fn counts_every_moment(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, other) = (fact("tea"), fact("coffee"));
    shelf.put(&[&one, &other]).await?;
    for second in 1..=3 {
        shelf.touch(&[one.id], later(second)).await?;
    }
    shelf.touch(&[one.id, other.id], later(4)).await?;
    let rows = shelf.get(&[one.id, other.id]).await?;
    let found: Vec<_> = rows.iter().map(|row| (row.accessed_at, row.access_count)).collect();
    equal(found, [(Some(later(4)), 4), (Some(later(4)), 1)])
}

async fn counts_one_moment_once(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.touch(&[record.id, record.id], later(1)).await?;
    shelf.touch(&[record.id], later(1)).await?;
    let row = only(shelf.all().await?)?;
    equal((row.accessed_at, row.access_count), (Some(later(1)), 1))
}

async fn counts_only_forwards_in_time(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    for second in [5, 3, 4, 5, -7] {
        shelf.touch(&[record.id], later(second)).await?;
    }
    let row = only(shelf.all().await?)?;
    equal((row.accessed_at, row.access_count), (Some(later(5)), 1))
}

async fn a_touch_changes_no_version(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.touch(&[record.id], later(1)).await?;
    let row = only(shelf.all().await?)?;
    equal((row.version, &*row.record), (1, &record))?;
    equal(shelf.put(&[&record]).await?, [1])?;
    equal(only(shelf.all().await?)?.access_count, 1)
}

async fn skips_what_is_not_there(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (kept, deleted) = (fact("tea"), fact("coffee"));
    shelf.put(&[&kept, &deleted]).await?;
    shelf.delete(&[deleted.id]).await?;
    shelf.touch(&[RecordId::fresh(), deleted.id, kept.id], later(1)).await?;
    shelf.touch(&[], later(2)).await?;
    equal(shelf.get(&[deleted.id]).await?, [])?;
    equal(only(shelf.all().await?)?.access_count, 1)
}

async fn touches_together_count_each_moment_once(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let tasks = (0..32).map(|_| {
        let shelf = shelf.clone();
        let id = record.id;
        tokio::spawn(async move { shelf.touch(&[id], later(1)).await })
    });
    for task in join_all(tasks).await {
        task.map_err(|error| crate::Failure::new(error.to_string()))??;
    }
    equal(only(shelf.all().await?)?.access_count, 1)
}
