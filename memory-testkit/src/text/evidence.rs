//! The evidence: exact counts, and statistics of the owner's items of one unit.

use memory_core::store::text::TextHits;
use memory_core::{Field, Filter, Unit};

use super::build::{Change, entry, find, message, near, put, query, record, span, terms};
use super::model::TextModel;
use crate::generate::{self, Random};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    own_and_near_counts_come_back_as_they_were_put,
    statistics_count_what_the_filter_hides,
    statistics_are_whole_under_a_filter_that_lets_nothing_through,
    statistics_do_not_depend_on_the_limit,
    near_terms_alone_make_a_hit_and_count_in_no_statistics,
    a_query_without_terms_has_no_hits,
    an_unknown_owner_has_no_evidence,
    units_are_searched_and_counted_apart,
    terms_are_compared_whole_and_never_read_as_a_query,
    fields_of_a_hit_are_those_that_were_put,
    evidence_of_generated_entries_is_that_of_brute_force,
    an_entry_of_thousands_of_terms_keeps_every_count,
]);

async fn own_and_near_counts_come_back_as_they_were_put(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let first = near(entry(message(1), &["river", "river", "stone"])?, &[("stone", 0.25), ("lamp", 5.75)])?;
    put(&bed.store, &ada, &[first, entry(message(2), &["lamp"])?, entry(message(3), &["glass", "glass"])?]).await?;
    let found = bed.store.search(&ada, &query(&["stone", "river", "absent", "lamp"])?).await?;
    equal((found.documents, found.mean_length), (3, 4.0))?;
    equal(&found.containing, &vec![1, 1, 0, 1])?;
    let evidence: Vec<_> = found.hits.into_iter().map(|hit| (hit.item, hit.own, hit.near, hit.length)).collect();
    let first = (message(1), vec![1, 2, 0, 0], vec![0.25, 0.0, 0.0, 5.75], 9);
    equal(evidence, [first, (message(2), vec![0, 0, 0, 1], vec![0.0; 4], 1)])
}

async fn statistics_count_what_the_filter_hides(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let shown = entry(message(1), &["river"])?.tagged("shown");
    put(&bed.store, &ada, &[shown, entry(message(2), &["river", "stone", "lamp"])?]).await?;
    let mut query = query(&["river", "stone"])?;
    query.filter = Filter::eq(Field::Tag, "shown");
    let found = bed.store.search(&ada, &query).await?;
    equal((found.documents, found.mean_length), (2, 2.0))?;
    equal(found.containing, [2, 1])?;
    equal(found.hits.len(), 1)
}

async fn statistics_are_whole_under_a_filter_that_lets_nothing_through(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries = [
        entry(message(1), &["river"])?,
        entry(message(2), &["river", "stone", "lamp"])?,
        entry(message(3), &["glass", "reed"])?,
        entry(record(1), &["stone"])?,
    ];
    put(&bed.store, &ada, &entries).await?;
    for filter in [Filter::Or(Vec::new()), Filter::All.negate(), Filter::In(Field::Tag, Vec::new())] {
        let mut query = query(&["river", "stone", "absent"])?;
        (query.filter, query.limit) = (filter, 1);
        let found = bed.store.search(&ada, &query).await?;
        equal((found.documents, found.mean_length), (3, 2.0))?;
        equal((found.containing, found.hits), (vec![2, 1, 0], Vec::new()))?;
    }
    Ok(())
}

async fn statistics_do_not_depend_on_the_limit(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries: Vec<_> = (0..30).map(|number| entry(message(number), &["river"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    for limit in [1, 7, 30, 31] {
        let mut query = query(&["river"])?;
        query.limit = limit;
        let found = bed.store.search(&ada, &query).await?;
        equal((found.documents, found.mean_length, found.containing), (30, 1.0, vec![30]))?;
    }
    Ok(())
}

async fn near_terms_alone_make_a_hit_and_count_in_no_statistics(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let neighbour = near(entry(message(1), &["stone"])?, &[("river", 0.4)])?;
    let silent = near(entry(message(2), &[])?, &[("river", 1.0 / 3.0)])?;
    put(&bed.store, &ada, &[neighbour, silent]).await?;
    let found = bed.store.search(&ada, &query(&["river"])?).await?;
    equal((found.documents, found.mean_length, &found.containing), (2, 0.5, &vec![0]))?;
    let evidence: Vec<_> = found.hits.into_iter().map(|hit| (hit.item, hit.own, hit.near, hit.length)).collect();
    equal(evidence, [(message(2), vec![0], vec![1.0 / 3.0], 0), (message(1), vec![0], vec![0.4], 1)])
}

async fn a_query_without_terms_has_no_hits(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?, entry(message(2), &[])?]).await?;
    let found = bed.store.search(&ada, &query(&[])?).await?;
    equal(found, TextHits { documents: 2, mean_length: 0.5, containing: Vec::new(), hits: Vec::new() })
}

async fn an_unknown_owner_has_no_evidence(bed: Bed<Texts>) -> Scene {
    put(&bed.store, &bed.scope("ada")?, &[entry(message(1), &["river"])?]).await?;
    let found = bed.store.search(&bed.scope("nobody")?, &query(&["river", "stone"])?).await?;
    equal(found, TextHits { documents: 0, mean_length: 0.0, containing: vec![0, 0], hits: Vec::new() })
}

async fn units_are_searched_and_counted_apart(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let items = [message(1), record(1), record(2), span("s", 0)?, span("s", 1)?, span("s", 2)?];
    let entries: Vec<_> = items.into_iter().map(|item| entry(item, &["river"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    for (unit, count) in [(Unit::Message, 1), (Unit::Record, 2), (Unit::Span, 3)] {
        let mut query = query(&["river"])?;
        query.unit = unit;
        let found = bed.store.search(&ada, &query).await?;
        equal((found.documents, &found.containing, found.hits.len()), (count, &vec![count], count as usize))?;
        TextModel::of(&entries).check(&query, &found)?;
    }
    Ok(())
}

async fn terms_are_compared_whole_and_never_read_as_a_query(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let (longest, other) = ("x".repeat(128), format!("{}y", "x".repeat(127)));
    let words =
        ["OR", "or", "AND", "NOT", "NEAR", "tea", "teapot", "Tea", "1", "01", "1e0", "null", "NaN", &longest, &other];
    for (number, word) in words.iter().enumerate() {
        put(&bed.store, &ada, &[entry(message(number as u64), &[word])?]).await?;
    }
    for (number, word) in words.iter().enumerate() {
        equal(find(&bed.store, &ada, &[word]).await?, [message(number as u64)])?;
    }
    equal(find(&bed.store, &ada, &["te", "x"]).await?, [])?;
    let all = find(&bed.store, &ada, &["OR", "NOT", "tea"]).await?;
    equal(all, [message(0), message(3), message(5)])
}

async fn fields_of_a_hit_are_those_that_were_put(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let mut entries = Vec::new();
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        for _ in 0..40 {
            let mut entry = entry(generate::item(&mut random, unit), &["river"])?;
            entry.fields = generate::fields(&mut random, unit);
            entries.push(entry);
        }
    }
    put(&bed.store, &ada, &entries).await?;
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        let query = memory_core::store::text::TextQuery { unit, ..query(&["river"])? };
        TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn evidence_of_generated_entries_is_that_of_brute_force(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let mut model = TextModel::default();
    for _ in 0..20 {
        let mut entries = Vec::new();
        for _ in 0..15 {
            let unit = if random.chance(3, 4) { Unit::Message } else { Unit::Record };
            let again = if random.chance(1, 4) { model.item(random.below(300)) } else { None };
            let item = again.unwrap_or_else(|| generate::item(&mut random, unit));
            let revision = random.below(4) as u64;
            entries.push(generate::entry(&mut random, item, revision)?);
        }
        put(&bed.store, &ada, &entries).await?;
        model.put(&entries);
        for _ in 0..10 {
            let mut query = query(&[])?;
            query.terms = generate::terms(&mut random, 6)?;
            query.limit = random.pick(&[1, 3, 10, 1_000]);
            model.check(&query, &bed.store.search(&ada, &query).await?)?;
        }
    }
    Ok(())
}

async fn an_entry_of_thousands_of_terms_keeps_every_count(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let words: Vec<String> = (0..5_000).map(|number| format!("w{number}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut long = entry(message(1), &[])?;
    long.own = terms(&words)?.into_iter().zip(1..).collect();
    long.near = terms(&words)?.into_iter().map(|term| (term, 0.25)).collect();
    let entries = [long, entry(message(2), &["w4999"])?];
    put(&bed.store, &ada, &entries).await?;
    let query = query(&words)?;
    TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)
}
