//! Limits and filters: neither starves an answer.

use memory_core::store::text::TextQuery;
use memory_core::{Error, Field, Filter, Scalar, Timestamp};

use super::build::{Change, entry, message, put, query};
use super::model::{TextModel, items};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    s0_13_exactly_limit_hits_where_so_many_match,
    a_limit_of_zero_is_invalid,
    a_filter_that_matches_one_of_a_thousand_finds_all_it_matches,
    better_items_that_the_filter_hides_take_no_place,
    what_has_expired_takes_no_place,
    every_term_is_looked_up_not_only_the_rarest,
]);

async fn s0_13_exactly_limit_hits_where_so_many_match(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries: Vec<_> = (0..50).map(|number| entry(message(number), &["river"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    for limit in [1, 2, 10, 49, 50, 51, 10_000] {
        let found = bed.store.search(&ada, &TextQuery { limit, ..query(&["river"])? }).await?;
        equal(found.hits.len(), limit.min(50))?;
    }
    Ok(())
}

async fn a_limit_of_zero_is_invalid(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    let found = bed.store.search(&ada, &TextQuery { limit: 0, ..query(&["river"])? }).await;
    fails!(found, Error::Invalid { .. });
    let found = bed.store.search(&bed.scope("nobody")?, &TextQuery { limit: 0, ..query(&[])? }).await;
    fails!(found, Error::Invalid { .. });
    Ok(())
}

async fn a_filter_that_matches_one_of_a_thousand_finds_all_it_matches(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..5_000 {
        let entry = entry(message(number), &["river"])?;
        entries.push(if number % 1_000 == 7 { entry.tagged("rare") } else { entry });
    }
    for part in entries.chunks(1_000) {
        put(&bed.store, &ada, part).await?;
    }
    let mut query = query(&["river"])?;
    query.filter = Filter::eq(Field::Tag, "rare");
    for limit in [5, 3] {
        query.limit = limit;
        TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn better_items_that_the_filter_hides_take_no_place(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..400 {
        entries.push(entry(message(number), &["river", "river", "river"])?.said_at(9).tagged("hidden"));
    }
    for number in 400..405 {
        entries.push(entry(message(number), &["river", "stone", "lamp", "glass"])?.tagged("shown"));
    }
    put(&bed.store, &ada, &entries).await?;
    for filter in [Filter::eq(Field::Tag, "shown"), Filter::Ne(Field::Tag, Scalar::from("hidden"))] {
        let found = bed.store.search(&ada, &TextQuery { filter, limit: 5, ..query(&["river"])? }).await?;
        equal(items(&found), [400, 401, 402, 403, 404].map(message))?;
    }
    Ok(())
}

async fn what_has_expired_takes_no_place(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..200 {
        let mut entry = entry(message(number), &["river"])?;
        match number % 100 {
            3 => entry.fields.expires_at = None,
            4 => entry.fields.expires_at = Some(Timestamp(1_001)),
            5 => entry.fields.superseded_at = Some(Timestamp(1)),
            _ => entry.fields.expires_at = Some(Timestamp(1_000)),
        }
        entries.push(entry);
    }
    put(&bed.store, &ada, &entries).await?;
    let filter = Filter::current(Timestamp(1_000));
    let found = bed.store.search(&ada, &TextQuery { filter, limit: 4, ..query(&["river"])? }).await?;
    equal(items(&found), [3, 4, 103, 104].map(message))
}

async fn every_term_is_looked_up_not_only_the_rarest(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let words = ["one", "two", "three", "four"];
    let mut entries = Vec::new();
    for number in 0..40u64 {
        let own = words.iter().take(usize::try_from(number % 4).unwrap_or(0) + 1).copied().collect::<Vec<_>>();
        entries.push(entry(message(number), &own)?);
    }
    put(&bed.store, &ada, &entries).await?;
    let query = query(&words)?;
    TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)
}
