//! The order of hits: by core's score, ties by newer time, then by item.

use memory_core::rank::{Bm25, bm25f};
use memory_core::store::text::TextQuery;
use memory_core::{ItemId, Unit};

use super::build::{Change, entry, find, message, near, put, query, record, span};
use super::model::items;
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    more_of_a_rare_word_stands_before_less_of_it,
    a_rare_word_weighs_more_than_a_common_one,
    a_short_item_stands_before_a_long_one,
    scores_fall_along_the_hits,
    ties_stand_newest_first_then_by_item,
    spans_that_tie_stand_by_number_and_not_by_its_digits,
    the_limit_cuts_ties_where_the_order_does,
]);

async fn more_of_a_rare_word_stands_before_less_of_it(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries = [
        entry(message(1), &["river", "stone", "lamp"])?,
        entry(message(2), &["river", "river", "river"])?,
        near(entry(message(3), &["river", "stone", "lamp"])?, &[("river", 1.0)])?,
    ];
    put(&bed.store, &ada, &entries).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(2), message(3), message(1)])
}

async fn a_rare_word_weighs_more_than_a_common_one(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries: Vec<_> = (0..20).map(|number| entry(message(number), &["common"])).collect::<Result<_, _>>()?;
    entries.push(entry(message(99), &["rare"])?);
    put(&bed.store, &ada, &entries).await?;
    let found = find(&bed.store, &ada, &["common", "rare"]).await?;
    equal(found.first(), Some(&message(99)))
}

async fn a_short_item_stands_before_a_long_one(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let long = entry(message(1), &["river", "stone", "lamp", "glass", "winter"])?.said_at(9);
    put(&bed.store, &ada, &[long, entry(message(2), &["river"])?]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(2), message(1)])
}

async fn scores_fall_along_the_hits(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..60u64 {
        let mut entry = entry(message(number), &["river", "stone", "lamp"])?;
        for ((_, count), step) in entry.own.iter_mut().zip([7u64, 5, 3]) {
            *count = 1 + u32::try_from(number % step).unwrap_or(0);
        }
        entries.push(entry);
    }
    put(&bed.store, &ada, &entries).await?;
    let found = bed.store.search(&ada, &query(&["stone", "lamp"])?).await?;
    let scores = bm25f(&Bm25::default(), &found);
    equal(scores.len(), 60)?;
    check!(scores.iter().zip(scores.iter().skip(1)).all(|(a, b)| a >= b), "scores rise along {scores:?}");
    check!(scores.first() > scores.last(), "all scores are {:?}", scores.first());
    Ok(())
}

async fn ties_stand_newest_first_then_by_item(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let times =
        [(record(4), 5), (record(2), -1), (record(3), 5), (record(1), 5), (record(5), i64::MAX), (record(6), i64::MIN)];
    for (item, at) in times {
        put(&bed.store, &ada, &[entry(item, &["river"])?.said_at(at)]).await?;
    }
    let found = bed.store.search(&ada, &TextQuery { unit: Unit::Record, ..query(&["river"])? }).await?;
    equal(items(&found), [5, 1, 3, 4, 2, 6].map(record))
}

async fn spans_that_tie_stand_by_number_and_not_by_its_digits(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut spans: Vec<ItemId> = Vec::new();
    for session in ["a", "a b", "a.b", "ab", "b"] {
        for number in [9, 10, 100, 2] {
            spans.push(span(session, number)?);
        }
    }
    for item in &spans {
        put(&bed.store, &ada, &[entry(item.clone(), &["river"])?]).await?;
    }
    spans.sort();
    let found = bed.store.search(&ada, &TextQuery { unit: Unit::Span, ..query(&["river"])? }).await?;
    equal(items(&found), spans)
}

async fn the_limit_cuts_ties_where_the_order_does(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    for number in [3, 1, 4, 15, 9, 2, 6] {
        put(&bed.store, &ada, &[entry(message(number), &["river"])?]).await?;
    }
    let found = bed.store.search(&ada, &TextQuery { limit: 3, ..query(&["river"])? }).await?;
    equal(items(&found), [1, 2, 3].map(message))
}
