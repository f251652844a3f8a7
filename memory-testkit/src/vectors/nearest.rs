//! Nearness: the cosine of the best piece, exactly, in the documented order.

use memory_core::ItemId;
use memory_core::store::vectors::VectorEntry;

use super::build::{Change, entry, find, items, put, query, toward};
use super::model::VectorModel;
use crate::generate::{self, Cluster, Random};
use crate::text::build::{message, record, span};
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    the_nearest_stands_first,
    an_item_is_found_once_by_its_nearest_piece,
    opposite_vectors_are_found_last_and_below_zero,
    ties_stand_newest_first_then_by_item,
    the_limit_cuts_ties_where_the_order_does,
    the_length_of_a_vector_does_not_matter,
    s0_6_similarities_of_generated_vectors_are_those_of_brute_force,
    hits_carry_their_piece_at_unit_length_when_asked,
]);

async fn the_nearest_stands_first(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries: Vec<_> = [(1, 0.9), (2, 0.1), (3, 2.0), (4, 0.0), (5, 0.4)]
        .into_iter()
        .map(|(number, slant)| entry(message(number), vec![toward(0, slant)]))
        .collect();
    put(&bed.store, &ada, &entries).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [4, 2, 5, 1, 3].map(message))
}

async fn an_item_is_found_once_by_its_nearest_piece(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let many = |slants: &[f32]| slants.iter().map(|slant| toward(0, *slant)).collect::<Vec<_>>();
    put(&bed.store, &ada, &[entry(message(1), many(&[0.9, 0.1, 0.8])), entry(message(2), many(&[0.2, 0.3]))]).await?;
    put(&bed.store, &ada, &[entry(message(3), many(&[5.0, 4.0, 3.0, 2.0, 0.05]))]).await?;
    for limit in [3, 2, 1] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.limit = limit;
        let found: Vec<_> =
            bed.store.search(&ada, &query).await?.into_iter().map(|hit| (hit.item, hit.piece)).collect();
        let all = [(message(3), 4), (message(1), 1), (message(2), 0)];
        equal(found, all.into_iter().take(limit).collect::<Vec<_>>())?;
    }
    Ok(())
}

async fn opposite_vectors_are_found_last_and_below_zero(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let opposite = toward(0, 0.0).iter().map(|number| -number).collect();
    let entries = [
        entry(message(1), vec![opposite]),
        entry(message(2), vec![toward(4, 0.0)]),
        entry(message(3), vec![toward(0, 0.0)]),
    ];
    put(&bed.store, &ada, &entries).await?;
    let found = bed.store.search(&ada, &query(&bed.store, toward(0, 0.0))).await?;
    equal(items(&found), [3, 2, 1].map(message))?;
    let similarities: Vec<_> = found.iter().map(|hit| (hit.similarity.value() * 1_000.0).round() / 1_000.0).collect();
    equal(similarities, [1.0, 0.0, -1.0])
}

async fn ties_stand_newest_first_then_by_item(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let tied = [
        (record(2), 5),
        (span("s", 10)?, 5),
        (message(4), 5),
        (message(3), 6),
        (span("s", 9)?, 5),
        (message(5), -7),
        (record(1), 5),
        (message(1), i64::MIN),
        (message(9), i64::MAX),
    ];
    for (item, at) in &tied {
        put(&bed.store, &ada, &[entry(item.clone(), vec![toward(0, 0.5)]).said_at(*at)]).await?;
    }
    let mut order: Vec<(i64, ItemId)> = tied.into_iter().map(|(item, at)| (at, item)).collect();
    order.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
    let order: Vec<_> = order.into_iter().map(|(_, item)| item).collect();
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, order)
}

async fn the_limit_cuts_ties_where_the_order_does(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    for number in [3, 1, 4, 15, 9, 2, 6] {
        put(&bed.store, &ada, &[entry(message(number), vec![toward(0, 0.5)]).said_at(i64::from(number == 9))]).await?;
    }
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 3;
    equal(items(&bed.store.search(&ada, &query).await?), [9, 1, 2].map(message))
}

async fn the_length_of_a_vector_does_not_matter(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let scaled = |vector: Vec<f32>, by: f32| vector.into_iter().map(|number| number * by).collect::<Vec<f32>>();
    let scales = [1e-15, 1e-3, 1.0, 3.0, 1e3, 1e15];
    let entries: Vec<VectorEntry> = (1u64..)
        .zip(scales)
        .map(|(number, scale)| entry(message(number), vec![scaled(toward(0, number as f32 * 0.1), scale)]))
        .collect();
    put(&bed.store, &ada, &entries).await?;
    for scale in scales {
        let query = query(&bed.store, scaled(toward(0, 0.0), scale));
        let found = bed.store.search(&ada, &query).await?;
        VectorModel::of(&entries).check(&query, &found)?;
        equal(items(&found), [1, 2, 3, 4, 5, 6].map(message))?;
    }
    Ok(())
}

async fn s0_6_similarities_of_generated_vectors_are_those_of_brute_force(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let dimension = bed.store.space().dimension;
    let cluster = Cluster::new(&mut random, 6, dimension);
    let mut model = VectorModel::default();
    for _ in 0..10 {
        let mut entries = Vec::new();
        for _ in 0..30 {
            let unit = random.pick(&[Some(memory_core::Unit::Message), Some(memory_core::Unit::Record)]);
            let item = generate::item(&mut random, unit.unwrap_or(memory_core::Unit::Span));
            let pieces = (0..1 + random.below(4)).map(|_| cluster.draw(&mut random)).collect();
            let mut entry = entry(item, pieces);
            entry.fields = generate::fields(&mut random, entry.item.unit());
            entries.push(entry);
        }
        put(&bed.store, &ada, &entries).await?;
        model.put(&entries);
        for _ in 0..10 {
            let mut query = query(&bed.store, cluster.draw(&mut random));
            query.limit = random.pick(&[1, 3, 10, 1_000]);
            query.with_vectors = random.chance(1, 2);
            model.check(&query, &bed.store.search(&ada, &query).await?)?;
        }
    }
    Ok(())
}

async fn hits_carry_their_piece_at_unit_length_when_asked(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let long = toward(0, 0.75).into_iter().map(|number| number * 40.0).collect();
    let entries = [entry(message(1), vec![toward(4, 0.0), long])];
    put(&bed.store, &ada, &entries).await?;
    for with_vectors in [true, false] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.with_vectors = with_vectors;
        let found = bed.store.search(&ada, &query).await?;
        VectorModel::of(&entries).check(&query, &found)?;
        let vector = found.first().and_then(|hit| hit.vector.as_ref());
        let start = vector.map(|vector| vector.iter().take(3).map(|x| (x * 1_000.0).round()).collect::<Vec<_>>());
        equal(start, with_vectors.then(|| vec![800.0, 600.0, 0.0]))?;
    }
    Ok(())
}
