//! Bad input: a typed error or an exact round trip, and a store that works afterwards.

use memory_core::store::text::{TextEntry, TextQuery, Visibility};
use memory_core::{Filter, ItemId, SessionId, Unit};

use super::build::{Change, entry, message, near, put, query, span};
use super::model::{TextModel, items};
use crate::bad_input::{self, refusal};
use crate::generate::HOSTILE_NAMES;
use crate::{Bed, Failure, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    bad_fields_are_refused_or_come_back_as_they_were,
    bad_filters_are_refused_or_answered_rightly,
    bad_counts_are_refused_or_answered,
    spans_of_sessions_with_any_name_are_found_again,
    a_limit_beyond_all_items_finds_them_all,
]);

async fn bad_fields_are_refused_or_come_back_as_they_were(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let only = |number| Ok::<_, memory_core::Error>(TextQuery { limit: 2, ..query(&[&format!("w{number}")])? });
    for (number, (what, fields)) in bad_input::fields(Unit::Message)?.into_iter().enumerate() {
        let mut bad = entry(message(number as u64), &[&format!("w{number}")])?;
        bad.fields = fields;
        let answer = bed.store.put(&ada, std::slice::from_ref(&bad), Visibility::OnReturn).await;
        let stored = refusal(&what, answer)?.is_some_and(|rejected| rejected.is_empty());
        let hits = bed.store.search(&ada, &only(number)?).await?.hits;
        let expected: Vec<_> = stored.then_some(bad.fields).into_iter().collect();
        let found: Vec<_> = hits.into_iter().map(|hit| hit.fields).collect();
        check!(found == expected, "{what}: found {found:?}");
    }
    put(&bed.store, &ada, &[entry(message(9_999), &["river"])?]).await?;
    equal(items(&bed.store.search(&ada, &query(&["river"])?).await?), [message(9_999)])
}

async fn bad_filters_are_refused_or_answered_rightly(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut model = TextModel::default();
    for (number, (_, fields)) in bad_input::fields(Unit::Message)?.into_iter().enumerate() {
        let bad = TextEntry { fields, ..entry(message(number as u64), &["river"])? };
        let answer = bed.store.put(&ada, std::slice::from_ref(&bad), Visibility::OnReturn).await;
        if refusal("fields", answer)?.is_some_and(|rejected| rejected.is_empty()) {
            model.put(&[bad]);
        }
    }
    for (what, filter) in bad_input::filters() {
        let query = TextQuery { filter, limit: 1_000, ..query(&["river"])? };
        if let Some(found) = refusal(&what, bed.store.search(&ada, &query).await)? {
            model.check(&query, &found).map_err(|failure| Failure::new(format!("{what}: {failure}")))?;
        }
    }
    let query = TextQuery { filter: Filter::All, limit: 1_000, ..query(&["river"])? };
    model.check(&query, &bed.store.search(&ada, &query).await?)
}

async fn bad_counts_are_refused_or_answered(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut bad = Vec::new();
    for count in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, f32::MIN_POSITIVE, f32::MAX] {
        bad.push((format!("near {count}"), near(entry(message(1), &["stone"])?, &[("river", count)])?));
    }
    for count in [0, u32::MAX] {
        let mut entry = entry(message(1), &["river", "stone"])?;
        entry.own.iter_mut().for_each(|(_, held)| *held = count);
        bad.push((format!("own {count}"), entry));
    }
    let mut twice = entry(message(1), &["river"])?;
    twice.own.extend(twice.own.clone());
    bad.push(("a term twice".to_owned(), twice));
    for (number, (what, entry)) in bad.into_iter().enumerate() {
        let entry = TextEntry { ..entry.at_revision(2 + number as u64) };
        refusal(&what, bed.store.put(&ada, &[entry], Visibility::OnReturn).await)?;
        refusal(&what, bed.store.search(&ada, &query(&["river", "stone"])?).await)?;
    }
    let good = [entry(message(1), &["river"])?.at_revision(99), entry(message(2), &["river", "stone"])?];
    put(&bed.store, &ada, &good).await?;
    let query = query(&["river", "stone"])?;
    TextModel::of(&good).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn spans_of_sessions_with_any_name_are_found_again(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut spans: Vec<ItemId> = Vec::new();
    for name in HOSTILE_NAMES {
        for number in [0, u32::MAX] {
            spans.push(span(name, number)?);
            put(&bed.store, &ada, &[entry(span(name, number)?, &["river"])?.in_session(name)?]).await?;
        }
    }
    spans.push(ItemId::Span(SessionId::new(&"é".repeat(127))?, 3));
    put(&bed.store, &ada, &[entry(ItemId::Span(SessionId::new(&"é".repeat(127))?, 3), &["river"])?]).await?;
    spans.sort();
    let query = TextQuery { unit: Unit::Span, limit: 1_000, ..query(&["river"])? };
    equal(items(&bed.store.search(&ada, &query).await?), spans)
}

async fn a_limit_beyond_all_items_finds_them_all(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?, entry(message(2), &["river"])?]).await?;
    for limit in [usize::MAX, usize::MAX - 1, 1 << 40, 1 << 31] {
        let query = TextQuery { limit, ..query(&["river"])? };
        if let Some(found) = refusal("the limit", bed.store.search(&ada, &query).await)? {
            equal(items(&found), [1, 2].map(message))?;
        }
    }
    equal(items(&bed.store.search(&ada, &query(&["river"])?).await?).len(), 2)
}
