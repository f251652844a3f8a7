//! Many callers at once: one wins, and no change is lost.

use futures_util::future::join_all;
use memory_core::Error;
use memory_core::record::Record;
use memory_core::store::records::Expect;

use super::shelf::{Shelf, brief, fact, later, reworded, tell, texts};
use crate::chat::talk::only;
use crate::check::{Failure, Scene, equal};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    thirty_two_identical_puts_store_one,
    one_of_many_puts_into_an_empty_place_wins,
    no_change_is_lost_where_versions_are_expected,
    a_sweep_beside_a_prolongation_loses_no_record,
]);

async fn thirty_two_identical_puts_store_one(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    let tasks = (0..32).map(|_| {
        let (shelf, record) = (shelf.clone(), record.clone());
        tokio::spawn(async move { shelf.expecting(&record, Expect::Absent).await })
    });
    for task in join_all(tasks).await {
        equal(task.map_err(|error| Failure::new(error.to_string()))??, [1])?;
    }
    equal(texts(&shelf.all().await?), ["tea"])
}

async fn one_of_many_puts_into_an_empty_place_wins(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("tea");
    let tasks = (0..16).map(|number| {
        let (shelf, record) = (shelf.clone(), reworded(&record, &format!("tea {number}")));
        tokio::spawn(async move { (record.text.clone(), shelf.expecting(&record, Expect::Absent).await) })
    });
    let mut winners = Vec::new();
    for task in join_all(tasks).await {
        match task.map_err(|error| Failure::new(error.to_string()))? {
            (text, Ok(versions)) => {
                equal(versions, [1])?;
                winners.push(text);
            }
            (_, Err(Error::IdConflict { .. })) => {}
            (_, Err(error)) => return Err(error.into()),
        }
    }
    equal(texts(&shelf.all().await?), [only(winners)?.as_str()])
}

/// Adds a sign of its own to the record's text, again and again until it was done `times` times.
async fn sign(shelf: Shelf, record: Record, own: char, times: usize) -> Result<(), Failure> {
    let mut done = 0;
    while done < times {
        let row = only(shelf.get(&[record.id]).await?)?;
        // Signs of its own, for the same text as another's would be a repeat.
        let next = reworded(&row.record, &format!("{}{own}", row.record.text));
        match shelf.expecting(&next, Expect::Version(row.version)).await {
            Ok(versions) => {
                equal(versions, [row.version + 1])?;
                done += 1;
            }
            Err(Error::Conflict) => tokio::task::yield_now().await,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn no_change_is_lost_where_versions_are_expected(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let record = fact("+");
    shelf.put(&[&record]).await?;
    let tasks = ('a'..='h').map(|own| tokio::spawn(sign(shelf.clone(), record.clone(), own, 10)));
    for task in join_all(tasks).await {
        task.map_err(|error| Failure::new(error.to_string()))??;
    }
    let row = only(shelf.all().await?)?;
    equal(row.version, 81)?;
    for own in 'a'..='h' {
        equal((own, row.record.text.matches(own).count()), (own, 10))?;
    }
    Ok(())
}

async fn a_sweep_beside_a_prolongation_loses_no_record(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    for round in 0..20 {
        let record = brief(&format!("short {round}"), 1);
        shelf.put(&[&record]).await?;
        let lasting = tell(record.clone(), |telling| telling.expires_at = None);
        let sweep = shelf.records.upkeep().sweep(later(2), 10);
        let (swept, put) = tokio::join!(sweep, shelf.expecting(&lasting, Expect::Version(1)));
        let left = shelf.get(&[record.id]).await?.len();
        match (swept?, put) {
            (0, Ok(_)) => equal(left, 1)?,
            (1, Err(Error::Conflict)) => equal(left, 0)?,
            other => check!(false, "found {other:?}, promised that one of both happens"),
        }
    }
    Ok(())
}
