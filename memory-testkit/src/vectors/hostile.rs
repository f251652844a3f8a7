//! Bad input beside the vectors themselves: a typed error or an exact round trip, and a store that works afterwards.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::Similarity;
use memory_core::{ItemId, Unit};

use super::build::{entry, find, items, put, query, toward};
use super::model::VectorModel;
use crate::bad_input::{self, refusal};
use crate::generate::HOSTILE_NAMES;
use crate::text::build::{message, span};
use crate::{Bed, Failure, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    bad_fields_are_refused_or_come_back_as_they_were,
    bad_filters_are_refused_or_answered_rightly,
    spans_of_sessions_with_any_name_are_found_again,
    a_limit_beyond_all_items_finds_them_all,
    a_floor_of_nothing_hides_nothing,
]);

async fn bad_fields_are_refused_or_come_back_as_they_were(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let query = query(&bed.store, toward(0, 0.0));
    for (number, (what, fields)) in (1..).zip(bad_input::fields(Unit::Message)?) {
        let bad = VectorEntry { fields, ..entry(message(1), vec![toward(0, 0.5)]) };
        let bad = VectorEntry { version: crate::text::build::revision(number), ..bad };
        let answer = bed.store.put(&ada, std::slice::from_ref(&bad), Visibility::OnReturn).await;
        if refusal(&what, answer)?.is_some_and(|rejected| rejected.is_empty()) {
            let hits = bed.store.search(&ada, &query).await?;
            let found: Vec<_> = hits.into_iter().map(|hit| hit.fields).collect();
            check!(found == [bad.fields], "{what}: found {found:?}");
        }
    }
    put(&bed.store, &ada, &[entry(message(2), vec![toward(0, 0.0)])]).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?.first(), Some(&message(2)))
}

async fn bad_filters_are_refused_or_answered_rightly(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut model = VectorModel::default();
    for (number, (what, fields)) in (0..).zip(bad_input::fields(Unit::Message)?) {
        let bad = VectorEntry { fields, ..entry(message(number), vec![toward(0, 0.01 * number as f32)]) };
        let answer = bed.store.put(&ada, std::slice::from_ref(&bad), Visibility::OnReturn).await;
        if refusal(&what, answer)?.is_some_and(|rejected| rejected.is_empty()) {
            model.put(&[bad]);
        }
    }
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 1_000;
    for (what, filter) in bad_input::filters() {
        query.filter = filter;
        if let Some(found) = refusal(&what, bed.store.search(&ada, &query).await)? {
            model.check(&query, &found).map_err(|failure| Failure::new(format!("{what}: {failure}")))?;
        }
    }
    query.filter = memory_core::Filter::All;
    model.check(&query, &bed.store.search(&ada, &query).await?)
}

async fn spans_of_sessions_with_any_name_are_found_again(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut spans: Vec<ItemId> = Vec::new();
    for name in HOSTILE_NAMES.iter().map(|name| (*name).to_owned()).chain(["é".repeat(127)]) {
        for number in [0, u32::MAX] {
            spans.push(span(&name, number)?);
        }
    }
    for item in &spans {
        put(&bed.store, &ada, &[entry(item.clone(), vec![toward(0, 0.5)])]).await?;
    }
    spans.sort();
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 1_000;
    equal(items(&bed.store.search(&ada, &query).await?), spans)
}

async fn a_limit_beyond_all_items_finds_them_all(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[1, 2].map(|number| entry(message(number), vec![toward(0, 0.5), toward(0, 0.6)]))).await?;
    for limit in [usize::MAX, usize::MAX - 1, 1 << 40, 1 << 31] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.limit = limit;
        if let Some(found) = refusal("the limit", bed.store.search(&ada, &query).await)? {
            equal(items(&found), [1, 2].map(message))?;
        }
    }
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?.len(), 2)
}

async fn a_floor_of_nothing_hides_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let opposite = toward(0, 0.0).into_iter().map(|number| -number).collect();
    put(&bed.store, &ada, &[entry(message(1), vec![opposite])]).await?;
    for floor in [None, Some(-1.0), Some(-5.0), Some(f32::NAN), Some(f32::NEG_INFINITY)] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.floor = floor.map(Similarity::new);
        equal(items(&bed.store.search(&ada, &query).await?), [message(1)])?;
    }
    Ok(())
}
