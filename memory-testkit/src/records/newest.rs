//! What lists of records by time promise: the newest first, in pages, and the one meaning of a filter.

use std::cmp::Reverse;

use memory_core::record::{Record, Telling};
use memory_core::{Field, Fields, Filter, RecordId, StoredRecord, Timestamp, Trust};

use super::shelf::{Shelf, fact, ids, later, tell, texts};
use crate::chat::talk::MANY;
use crate::check::{Failure, Scene, equal};
use crate::generate::{self, Random};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    lists_the_newest_records_first,
    pages_from_the_newest_record_to_the_oldest,
    the_newest_that_match_are_those_of_the_definition,
    a_record_told_again_keeps_its_place_in_time,
]);

type Place = (Timestamp, RecordId);

fn place(row: &StoredRecord) -> Place {
    (row.record.created_at(), row.record.id)
}

/// Returns records of few different moments, so that many are of one.
fn of_moments(random: &mut Random, count: usize) -> Vec<Record> {
    let record = |number: usize, random: &mut Random| {
        tell(fact(&format!("fact {number}")), |telling| telling.at = later(random.below(7) as i64))
    };
    (0..count).map(|number| record(number, random)).collect()
}

async fn lists_the_newest_records_first(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let other = Shelf::new(&bed, "bob")?;
    let records = of_moments(&mut Random::new(bed.seed), 40);
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    other.put(&[&fact("another owner's")]).await?;
    let mut promised = shelf.all().await?;
    promised.sort_by_key(|row| Reverse(place(row)));
    let newest = |limit| shelf.records.store().newest(&shelf.scope, &Filter::All, None, limit);
    equal(newest(MANY).await?, promised.clone())?;
    equal(newest(usize::MAX).await?, promised.clone())?;
    equal(newest(0).await?, [])?;
    promised.truncate(3);
    equal(newest(3).await?, promised)
}

async fn pages_from_the_newest_record_to_the_oldest(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records = of_moments(&mut Random::new(bed.seed), 23);
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let store = shelf.records.store();
    let all = store.newest(&shelf.scope, &Filter::All, None, MANY).await?;
    let mut paged: Vec<StoredRecord> = Vec::new();
    loop {
        let page = store.newest(&shelf.scope, &Filter::All, paged.last().map(place), 5).await?;
        if page.is_empty() {
            break;
        }
        check!(page.len() <= 5, "a page of {} records where 5 were asked for", page.len());
        paged.extend(page);
        check!(paged.len() <= all.len(), "pages go on for ever");
    }
    equal(&paged, &all)?;
    // The place to go on from need not be a record any more.
    let middle: Vec<StoredRecord> = all.iter().skip(11).take(1).cloned().collect();
    shelf.delete(&ids(&middle)).await?;
    let behind = store.newest(&shelf.scope, &Filter::All, middle.first().map(place), MANY).await?;
    equal(behind, all.into_iter().skip(12).collect::<Vec<_>>())
}

async fn the_newest_that_match_are_those_of_the_definition(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut random = Random::new(bed.seed);
    let records: Vec<_> = (0..120).map(|_| generate::record(&mut random)).collect();
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let mut all = shelf.all().await?;
    all.sort_by_key(|row| Reverse(place(row)));
    let sessions: Vec<_> = all.iter().flat_map(|row| row.record.sessions().into_iter().cloned()).collect();
    for round in 0..150 {
        // Some ask for sessions alone, which stores may look up by a way of their own.
        let filter = match sessions.get(random.below(4 * sessions.len().max(1))) {
            Some(session) if round % 3 == 0 => Filter::eq(Field::Session, session.name()),
            _ => generate::filter(&mut random, 3),
        };
        let limit = if random.chance(1, 3) { 1 + random.below(20) } else { MANY };
        let before = all.get(random.below(2 * all.len())).map(place);
        let matches = |row: &&StoredRecord| {
            before.is_none_or(|before| place(row) < before) && filter.matches(&Fields::of_record(&row.record))
        };
        let promised: Vec<_> = all.iter().filter(matches).take(limit).cloned().collect();
        let found = shelf.records.store().newest(&shelf.scope, &filter, before, limit).await?;
        if found != promised {
            let (found, promised) = (ids(&found), ids(&promised));
            return Err(Failure::new(format!("{filter:?}\n    found    {found:?}\n    promised {promised:?}")));
        }
    }
    Ok(())
}

async fn a_record_told_again_keeps_its_place_in_time(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let old = fact("told first");
    let new = tell(fact("told last"), |telling| telling.at = later(10));
    shelf.put(&[&old, &new]).await?;
    let mut again = old.clone();
    again.again.push(Telling::new(later(20), Trust::User));
    shelf.put(&[&again]).await?;
    let newest = shelf.records.store().newest(&shelf.scope, &Filter::All, None, 2).await?;
    equal(texts(&newest), ["told last", "told first"])
}
