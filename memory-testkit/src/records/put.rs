//! What puts and gets promise.

use memory_core::record::Superseded;
use memory_core::store::records::Expect;
use memory_core::{Epoch, Error, Limits, RecordId};

use super::shelf::{Shelf, at, brief, fact, later, reworded, texts};
use crate::chat::talk::only;
use crate::check::{Scene, equal};
use crate::upkeep::bury;
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    the_first_version_is_one_and_every_change_is_one_more,
    an_equal_record_again_changes_nothing,
    an_equal_record_succeeds_whatever_it_expects,
    refuses_another_version_than_expected,
    refuses_other_content_where_none_is_expected,
    puts_all_records_of_a_batch_or_none,
    refuses_one_id_twice_in_a_batch,
    supersedes_one_record_by_another_in_one_put,
    refuses_another_epoch,
    an_empty_batch_puts_nothing,
    a_record_put_after_its_deletion_gets_a_higher_version,
    a_deleted_record_counts_as_absent,
    gets_in_the_order_of_the_ids,
    gets_expired_and_superseded_records,
    skips_absent_and_foreign_ids_alike,
    takes_one_id_of_two_owners_for_two_records,
    a_put_keeps_access_statistics,
    takes_the_largest_batches,
    tells_how_durable_a_put_is,
]);

async fn the_first_version_is_one_and_every_change_is_one_more(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (one, other) = (fact("tea"), fact("coffee"));
    equal(shelf.put(&[&one, &other]).await?, [1, 1])?;
    for version in 2..5 {
        equal(shelf.put(&[&reworded(&one, &format!("tea {version}"))]).await?, [version])?;
    }
    let rows = shelf.get(&[one.id, other.id]).await?;
    equal(rows.iter().map(|row| row.version).collect::<Vec<_>>(), [4, 1])?;
    equal(texts(&rows), ["tea 4", "coffee"])?;
    equal(rows.iter().map(|row| (row.accessed_at, row.access_count)).collect::<Vec<_>>(), [(None, 0), (None, 0)])
}

async fn an_equal_record_again_changes_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&reworded(&record, "coffee")]).await?;
    equal(shelf.put(&[&record]).await?, [2])?;
    let before = shelf.all().await?;
    equal(shelf.put(&[&record]).await?, [2])?;
    equal(shelf.all().await?, before)
}

async fn an_equal_record_succeeds_whatever_it_expects(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    equal(shelf.expecting(&record, Expect::Absent).await?, [1])?;
    for expect in [Expect::Absent, Expect::Anything, Expect::Version(1), Expect::Version(0), Expect::Version(9)] {
        equal(shelf.expecting(&record, expect).await?, [1])?;
    }
    Ok(())
}

async fn refuses_another_version_than_expected(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    fails!(shelf.expecting(&record, Expect::Version(1)).await, Error::Conflict);
    shelf.put(&[&record]).await?;
    shelf.put(&[&reworded(&record, "green tea")]).await?;
    for stale in [0, 1, 3, u64::MAX >> 1] {
        fails!(shelf.expecting(&reworded(&record, "black tea"), Expect::Version(stale)).await, Error::Conflict);
    }
    equal(texts(&shelf.all().await?), ["green tea"])?;
    equal(shelf.expecting(&reworded(&record, "black tea"), Expect::Version(2)).await?, [3])?;
    equal(texts(&shelf.all().await?), ["black tea"])
}

async fn refuses_other_content_where_none_is_expected(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    let other = reworded(&record, "coffee");
    let named = record.id.to_string();
    fails!(shelf.expecting(&other, Expect::Absent).await, Error::IdConflict { ref id } if *id == named);
    equal(texts(&shelf.all().await?), ["tea"])
}

async fn puts_all_records_of_a_batch_or_none(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (stored, new) = (fact("tea"), fact("water"));
    shelf.put(&[&stored]).await?;
    let before = shelf.all().await?;
    let other = reworded(&stored, "coffee");
    for (expect, is_conflict) in [(Expect::Version(7), true), (Expect::Absent, false)] {
        let answer = shelf.put_with(None, &[(&new, Expect::Absent), (&other, expect)]).await;
        if is_conflict {
            fails!(answer, Error::Conflict);
        } else {
            fails!(answer, Error::IdConflict { .. });
        }
        equal(shelf.all().await?, before.clone())?;
        equal(shelf.get(&[new.id]).await?, [])?;
    }
    equal(shelf.expecting(&new, Expect::Absent).await?, [1])
}

async fn refuses_one_id_twice_in_a_batch(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    fails!(shelf.put(&[&record, &reworded(&record, "coffee")]).await, Error::Invalid { .. });
    fails!(shelf.put(&[&record, &record]).await, Error::Invalid { .. });
    equal(shelf.all().await?, [])
}

async fn supersedes_one_record_by_another_in_one_put(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (old, new) = (fact("lives in Rome"), fact("lives in Oslo"));
    shelf.put(&[&old]).await?;
    let mut retired = old.clone();
    retired.superseded = Some(Superseded { by: new.id, at: later(5) });
    let puts = [(&retired, Expect::Version(1)), (&new, Expect::Absent)];
    equal(shelf.put_with(None, &puts).await?, [2, 1])?;
    // After a lost answer the same call again finds what it wants.
    equal(shelf.put_with(None, &puts).await?, [2, 1])?;
    let rows = shelf.get(&[old.id, new.id]).await?;
    equal(rows.iter().map(|row| row.record.superseded).collect::<Vec<_>>(), [retired.superseded, None])
}

async fn refuses_another_epoch(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    equal(shelf.put_with(at(Epoch(0)), &[(&record, Expect::Absent)]).await?, [1])?;
    fails!(shelf.put_with(at(Epoch(1)), &[(&fact("early"), Expect::Absent)]).await, Error::Fenced);
    let epoch = bury(shelf.records.upkeep(), &shelf.scope).await?;
    fails!(shelf.put_with(at(Epoch(0)), &[(&fact("late"), Expect::Anything)]).await, Error::Fenced);
    shelf.records.store().erase(&shelf.scope, epoch).await?;
    fails!(shelf.put_with(at(Epoch(0)), &[(&fact("late"), Expect::Anything)]).await, Error::Fenced);
    equal(shelf.all().await?, [])?;
    equal(shelf.put_with(at(epoch), &[(&fact("new"), Expect::Absent)]).await?, [1])?;
    equal(shelf.put(&[&fact("unchecked")]).await?, [1])
}

async fn an_empty_batch_puts_nothing(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    equal(shelf.put(&[]).await?, [0_u64; 0])?;
    equal(shelf.all().await?, [])
}

async fn a_record_put_after_its_deletion_gets_a_higher_version(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    let mut highest = 0;
    for round in 0..3 {
        for word in ["tea", "coffee"] {
            let version = only(shelf.put(&[&reworded(&record, &format!("{word} {round}"))]).await?)?;
            check!(version > highest, "version {version} follows {highest}");
            highest = version;
        }
        equal(shelf.delete(&[record.id]).await?, 1)?;
    }
    // Equal content is no repeat where a deletion stands between.
    let version = only(shelf.put(&[&reworded(&record, "coffee 2")]).await?)?;
    check!(version > highest + 1, "version {version} follows the deletion of {highest}");
    Ok(())
}

async fn a_deleted_record_counts_as_absent(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.delete(&[record.id]).await?;
    fails!(shelf.expecting(&record, Expect::Version(1)).await, Error::Conflict);
    let version = only(shelf.expecting(&reworded(&record, "coffee"), Expect::Absent).await?)?;
    check!(version > 1, "the version is {version}");
    equal(texts(&shelf.all().await?), ["coffee"])
}

async fn gets_in_the_order_of_the_ids(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = [fact("one"), fact("two"), fact("three")];
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let [one, two, three] = records.map(|record| record.id);
    equal(texts(&shelf.get(&[three, one, two]).await?), ["three", "one", "two"])?;
    equal(texts(&shelf.get(&[two, three]).await?), ["two", "three"])?;
    equal(shelf.get(&[]).await?, [])
}

async fn gets_expired_and_superseded_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let (expired, mut superseded, mut future) = (brief("expired", -1_000_000), fact("superseded"), fact("future"));
    superseded.superseded = Some(Superseded { by: future.id, at: later(-60) });
    future.first.valid_from = Some(later(1_000_000_000));
    shelf.put(&[&expired, &superseded, &future]).await?;
    equal(shelf.get(&[expired.id, superseded.id, future.id]).await?.len(), 3)?;
    equal(shelf.all().await?.len(), 3)
}

async fn skips_absent_and_foreign_ids_alike(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    let (mine, foreign) = (fact("mine"), fact("secret"));
    ada.put(&[&mine]).await?;
    bob.put(&[&foreign]).await?;
    let wanted = [RecordId::fresh(), foreign.id, mine.id];
    equal(texts(&ada.get(&wanted).await?), ["mine"])?;
    equal(ada.delete(&[foreign.id, RecordId::fresh()]).await?, 0)?;
    ada.touch(&wanted, later(1)).await?;
    // A foreign record is as good as absent for what a put expects too.
    equal(ada.expecting(&reworded(&foreign, "mine too"), Expect::Absent).await?, [1])?;
    let row = only(bob.all().await?)?;
    equal((row.record.text.as_str(), row.version, row.access_count), ("secret", 1, 0))
}

async fn takes_one_id_of_two_owners_for_two_records(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    let record = fact("tea");
    ada.put(&[&record]).await?;
    bob.put(&[&reworded(&record, "coffee")]).await?;
    ada.put(&[&reworded(&record, "green tea")]).await?;
    equal(bob.get(&[record.id]).await?.first().map(|row| row.version), Some(1))?;
    ada.delete(&[record.id]).await?;
    equal(texts(&bob.all().await?), ["coffee"])
}

async fn a_put_keeps_access_statistics(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    shelf.put(&[&record]).await?;
    shelf.touch(&[record.id], later(1)).await?;
    shelf.put(&[&reworded(&record, "green tea")]).await?;
    let row = only(shelf.all().await?)?;
    equal((row.version, row.accessed_at, row.access_count), (2, Some(later(1)), 1))
}

async fn takes_the_largest_batches(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records: Vec<_> = (0..Limits::default().records).map(|number| fact(&number.to_string())).collect();
    let (batch, ids): (Vec<_>, Vec<_>) = records.iter().map(|record| (record, record.id)).unzip();
    equal(shelf.put(&batch).await?, vec![1; batch.len()])?;
    equal(shelf.put(&batch).await?, vec![1; batch.len()])?;
    equal(shelf.get(&ids).await?.len(), batch.len())?;
    shelf.touch(&ids, later(1)).await?;
    equal(shelf.all().await?.iter().map(|row| row.access_count).sum::<u64>(), batch.len() as u64)?;
    equal(shelf.delete(&ids).await?, batch.len() as u64)?;
    equal(shelf.all().await?, [])
}

async fn tells_how_durable_a_put_is(bed: Bed<Records>) -> Scene {
    Shelf::plain(&bed)?.put(&[&fact("tea")]).await?;
    equal(bed.store.store().durability(), bed.durability)
}
