//! What scans promise: the order of ids, pages, and the one meaning of a filter.

use memory_core::record::{Record, Superseded};
use memory_core::{Field, Fields, Filter, RecordId, StoredRecord};
use uuid::Uuid;

use super::shelf::{Shelf, brief, fact, ids, later, tell, texts};
use crate::chat::talk::MANY;
use crate::check::{Failure, Scene, equal};
use crate::generate::{self, Random};
use crate::{Bed, Records};

scenarios!(TABLE: Records = [
    scans_in_the_order_of_ids,
    pages_through_records,
    filters_before_it_limits,
    filters_as_the_definition_does,
    filters_by_agent_and_run,
    shows_what_is_current,
    shows_what_was_current,
    shows_what_has_not_expired,
    a_pinned_record_is_current_for_ever,
    scans_one_owner,
]);

async fn scans_in_the_order_of_ids(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut promised = vec![Uuid::nil(), Uuid::max(), Uuid::from_u128(1 << 127), Uuid::from_u128((1 << 127) - 1)];
    let mut random = Random::new(bed.seed);
    promised.extend((0..30).map(|_| random.id()));
    for id in &promised {
        shelf.put(&[&Record { id: RecordId(*id), ..fact("words") }]).await?;
    }
    promised.sort();
    equal(ids(&shelf.all().await?).into_iter().map(|id| id.0).collect::<Vec<_>>(), promised)
}

async fn pages_through_records(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let records: Vec<_> = (0..23).map(|number| fact(&format!("fact {number}"))).collect();
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let all = shelf.all().await?;
    let mut paged: Vec<StoredRecord> = Vec::new();
    loop {
        let after = paged.last().map(|row| row.record.id);
        let page = shelf.records.store().scan(&shelf.scope, &Filter::All, after, 5).await?;
        if page.is_empty() {
            break;
        }
        check!(page.len() <= 5, "a page of {} records where 5 were asked for", page.len());
        paged.extend(page);
        check!(paged.len() <= all.len(), "pages go on for ever");
    }
    equal(&paged, &all)?;
    equal(shelf.records.store().scan(&shelf.scope, &Filter::All, None, 0).await?, [])?;
    equal(shelf.records.store().scan(&shelf.scope, &Filter::All, None, usize::MAX).await?.len(), 23)?;
    // The place to go on from need not be a record any more.
    let middle = ids(&all).into_iter().skip(11).take(1).collect::<Vec<_>>();
    shelf.delete(&middle).await?;
    let behind = shelf.records.store().scan(&shelf.scope, &Filter::All, middle.first().copied(), MANY).await?;
    equal(behind, all.into_iter().skip(12).collect::<Vec<_>>())
}

async fn filters_before_it_limits(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut records: Vec<_> = (0..60).map(|number| fact(&format!("fact {number}"))).collect();
    records.sort_by_key(|record| record.id);
    for record in records.iter_mut().skip(9).step_by(20) {
        record.first.tags.push("rare".to_owned());
    }
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let rare = Filter::eq(Field::Tag, "rare");
    let found = shelf.records.store().scan(&shelf.scope, &rare, None, 2).await?;
    let promised: Vec<_> = records.iter().skip(9).step_by(20).map(|record| record.id).collect();
    equal(ids(&found), promised.iter().copied().take(2).collect::<Vec<_>>())?;
    let rest = shelf.records.store().scan(&shelf.scope, &rare, promised.get(1).copied(), 2).await?;
    equal(ids(&rest), promised.into_iter().skip(2).collect::<Vec<_>>())
}

async fn filters_as_the_definition_does(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let mut random = Random::new(bed.seed);
    let records: Vec<_> = (0..120).map(|_| generate::record(&mut random)).collect();
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let all = shelf.all().await?;
    equal(all.len(), records.len())?;
    for _ in 0..250 {
        let filter = generate::filter(&mut random, 3);
        let limit = if random.chance(1, 3) { 1 + random.below(20) } else { MANY };
        let after = if random.chance(1, 4) { Some(RecordId(random.id())) } else { None };
        let matches = |row: &&StoredRecord| {
            after.is_none_or(|after| row.record.id > after) && filter.matches(&Fields::of_record(&row.record))
        };
        let promised: Vec<_> = all.iter().filter(matches).take(limit).cloned().collect();
        let found = shelf.records.store().scan(&shelf.scope, &filter, after, limit).await?;
        if found != promised {
            let (found, promised) = (ids(&found), ids(&promised));
            return Err(Failure::new(format!("{filter:?}\n    found    {found:?}\n    promised {promised:?}")));
        }
    }
    Ok(())
}

/// Puts records of every stage of life, and returns the store.
async fn lives(bed: &Bed<Records>) -> memory_core::Result<Shelf> {
    let shelf = Shelf::plain(bed)?;
    let mut records = vec![
        fact("plain"),
        brief("expires at 10", 10),
        fact("true from 10"),
        fact("true until 10"),
        fact("superseded at 10"),
    ];
    for record in &mut records {
        match record.text.as_str() {
            "true from 10" => record.first.valid_from = Some(later(10)),
            "true until 10" => record.first.valid_to = Some(later(10)),
            "superseded at 10" => record.superseded = Some(Superseded { by: RecordId::fresh(), at: later(10) }),
            _ => {}
        }
    }
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    Ok(shelf)
}

async fn shown(shelf: &Shelf, filter: &Filter) -> memory_core::Result<Vec<String>> {
    let rows = shelf.records.store().scan(&shelf.scope, filter, None, MANY).await?;
    let mut texts: Vec<_> = texts(&rows).into_iter().map(str::to_owned).collect();
    texts.sort();
    Ok(texts)
}

async fn filters_by_agent_and_run(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let of = |agent: Option<&str>, run: Option<&str>, text: &str| {
        let record = tell(fact(text), |telling| telling.run = run.map(str::to_owned));
        Record { agent: agent.map(str::to_owned), ..record }
    };
    let records = [
        of(Some("planner"), Some("1"), "a"),
        of(Some("planner"), Some("2"), "b"),
        of(Some("Planner"), Some("1"), "c"),
        of(None, None, "d"),
    ];
    shelf.put(&records.iter().collect::<Vec<_>>()).await?;
    let planner = Filter::eq(Field::Agent, "planner");
    for (filter, promised) in [
        (planner.clone(), vec!["a", "b"]),
        (planner.clone().and(Filter::eq(Field::Run, "2")), vec!["b"]),
        (planner.negate(), vec!["c", "d"]),
        (Filter::Exists(Field::Agent).negate(), vec!["d"]),
    ] {
        let rows = shelf.records.store().scan(&shelf.scope, &filter, None, MANY).await?;
        let mut found = texts(&rows);
        found.sort_unstable();
        equal(found, promised)?;
    }
    Ok(())
}

async fn shows_what_is_current(bed: Bed<Records>) -> Scene {
    let shelf = lives(&bed).await?;
    equal(shown(&shelf, &Filter::current(later(9))).await?, ["expires at 10", "plain", "true until 10"])?;
    equal(shown(&shelf, &Filter::current(later(10))).await?, ["plain", "true from 10"])
}

async fn shows_what_was_current(bed: Bed<Records>) -> Scene {
    let shelf = lives(&bed).await?;
    let then = shown(&shelf, &Filter::as_of(later(9), later(9))).await?;
    equal(then, ["expires at 10", "plain", "superseded at 10", "true until 10"])?;
    let then = shown(&shelf, &Filter::as_of(later(9), later(20))).await?;
    equal(then, ["plain", "superseded at 10", "true until 10"])?;
    equal(shown(&shelf, &Filter::as_of(later(10), later(20))).await?, ["plain", "true from 10"])?;
    equal(shown(&shelf, &Filter::as_of(later(-1), later(20))).await?, [""; 0])
}

async fn shows_what_has_not_expired(bed: Bed<Records>) -> Scene {
    let shelf = lives(&bed).await?;
    let (past, ever) = (["plain", "superseded at 10", "true from 10", "true until 10"], &Filter::All);
    equal(shown(&shelf, &Filter::unexpired(later(9))).await?, shown(&shelf, ever).await?)?;
    equal(shown(&shelf, &Filter::unexpired(later(10))).await?, past)
}

async fn a_pinned_record_is_current_for_ever(bed: Bed<Records>) -> Scene {
    let shelf = Shelf::plain(&bed)?;
    let pinned = tell(brief("pinned", 10), |telling| telling.pinned = true);
    let held = Record { hold: true, ..brief("held", 10) };
    shelf.put(&[&pinned, &held]).await?;
    equal(shown(&shelf, &Filter::current(later(11))).await?, ["pinned"])
}

async fn scans_one_owner(bed: Bed<Records>) -> Scene {
    let (ada, bob) = (Shelf::plain(&bed)?, Shelf::new(&bed, "bob")?);
    ada.put(&[&fact("mine"), &fact("mine")]).await?;
    bob.put(&[&fact("secret")]).await?;
    equal(texts(&ada.all().await?), ["mine", "mine"])?;
    equal(Shelf::new(&bed, "ad")?.all().await?, [])?;
    equal(Shelf::new(&bed, "adam")?.all().await?, [])
}
