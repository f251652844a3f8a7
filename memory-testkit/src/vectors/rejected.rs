//! Vectors that cannot be stored or sought: each is refused alone, with a reason.

use memory_core::Error;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorEntry;

use super::build::{Change, entry, find, items, put, query, toward};
use super::model::VectorModel;
use crate::text::build::message;
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    each_bad_entry_is_refused_and_the_others_are_stored,
    one_bad_entry_of_a_hundred_is_reported_and_ninety_nine_are_stored,
    one_bad_piece_refuses_its_whole_item,
    a_refused_entry_leaves_the_stored_one_as_it_is,
    a_bulk_put_reports_what_it_refuses,
    vectors_that_cannot_be_sought_are_invalid,
    the_shortest_and_longest_vectors_are_found_by_their_direction,
]);

/// Returns vectors that have no direction in the store's space.
fn bad(dimension: usize) -> Vec<Vec<f32>> {
    let with = |number: f32| {
        let mut vector = toward(0, 0.5);
        vector.truncate(dimension - 1);
        vector.push(number);
        vector
    };
    vec![
        Vec::new(),
        vec![1.0; dimension - 1],
        vec![1.0; dimension + 1],
        vec![1.0; dimension * 2],
        vec![0.0; dimension],
        vec![-0.0; dimension],
        with(f32::NAN),
        with(f32::INFINITY),
        with(f32::NEG_INFINITY),
        vec![f32::NAN; dimension],
    ]
}

async fn each_bad_entry_is_refused_and_the_others_are_stored(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let good = entry(message(0), vec![toward(0, 0.5)]);
    let mut entries = vec![good.clone(), entry(message(1), Vec::new())];
    for (number, vector) in (2..).zip(bad(bed.store.space().dimension)) {
        entries.push(entry(message(number), vec![vector]));
    }
    let rejected = bed.store.put(&ada, &entries, Visibility::OnReturn).await?;
    let mut refused: Vec<_> = rejected.iter().map(|rejected| rejected.item.clone()).collect();
    refused.sort();
    equal(refused, entries.iter().skip(1).map(|entry| entry.item.clone()).collect::<Vec<_>>())?;
    for refused in rejected {
        fails!(Err::<(), _>(refused.error), Error::Invalid { .. });
    }
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[good]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn one_bad_entry_of_a_hundred_is_reported_and_ninety_nine_are_stored(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    for place in [0, 41, 99] {
        let mut entries: Vec<VectorEntry> = (0..100)
            .map(|number| entry(message(1_000 * place + number), vec![toward(0, 0.01 * number as f32)]))
            .collect();
        let bad = message(1_000 * place + place);
        entries.iter_mut().filter(|entry| entry.item == bad).for_each(|entry| entry.pieces = vec![vec![1.0; 3]]);
        let rejected = bed.store.put(&ada, &entries, Visibility::OnReturn).await?;
        equal(rejected.into_iter().map(|rejected| rejected.item).collect::<Vec<_>>(), [bad])?;
    }
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 1_000;
    equal(bed.store.search(&ada, &query).await?.len(), 297)
}

async fn one_bad_piece_refuses_its_whole_item(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let half = entry(message(1), vec![toward(0, 0.5), vec![f32::NAN; bed.store.space().dimension], toward(0, 0.1)]);
    let whole = entry(message(2), vec![toward(0, 0.5), toward(3, 0.1)]);
    let rejected = bed.store.put(&ada, &[half, whole], Visibility::OnReturn).await?;
    equal(rejected.into_iter().map(|rejected| rejected.item).collect::<Vec<_>>(), [message(1)])?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(2)])
}

async fn a_refused_entry_leaves_the_stored_one_as_it_is(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let stored = entry(message(1), vec![toward(0, 0.5)]);
    put(&bed.store, &ada, std::slice::from_ref(&stored)).await?;
    for pieces in [Vec::new(), vec![vec![0.0; bed.store.space().dimension]]] {
        let newer = entry(message(1), pieces).at_revision(2).tagged("newer");
        equal(bed.store.put(&ada, &[newer], Visibility::OnReturn).await?.len(), 1)?;
    }
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[stored]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn a_bulk_put_reports_what_it_refuses(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries = [entry(message(1), vec![vec![1.0]]), entry(message(2), vec![toward(0, 0.5)])];
    let rejected = bed.store.put(&ada, &entries, Visibility::AfterFlush).await?;
    equal(rejected.into_iter().map(|rejected| rejected.item).collect::<Vec<_>>(), [message(1)])?;
    bed.store.flush().await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(2)])
}

async fn vectors_that_cannot_be_sought_are_invalid(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.5)])]).await?;
    for vector in bad(bed.store.space().dimension) {
        fails!(bed.store.search(&ada, &query(&bed.store, vector)).await, Error::Invalid { .. });
    }
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn the_shortest_and_longest_vectors_are_found_by_their_direction(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let least = f32::from_bits(1);
    let scales = [f32::MAX, f32::MIN_POSITIVE, least, f32::MAX / 2.0, 1e-40];
    let mut entries = Vec::new();
    for (number, scale) in (0u64..).zip(scales) {
        let along = |axis: usize| toward(axis, 0.0).into_iter().map(|x| x * scale).collect::<Vec<f32>>();
        let diagonal = vec![scale; bed.store.space().dimension];
        entries.push(entry(message(2 * number), vec![along(usize::try_from(number).unwrap_or(0))]));
        entries.push(entry(message(2 * number + 1), vec![diagonal]));
    }
    put(&bed.store, &ada, &entries).await?;
    let model = VectorModel::of(&entries);
    for scale in scales {
        let mut query = query(&bed.store, vec![scale; bed.store.space().dimension]);
        query.with_vectors = true;
        let found = bed.store.search(&ada, &query).await?;
        let mut nearest: Vec<_> = items(&found).into_iter().take(scales.len()).collect();
        nearest.sort();
        equal(nearest, [1, 3, 5, 7, 9].map(message))?;
        model.check(&query, &found)?;
    }
    Ok(())
}
