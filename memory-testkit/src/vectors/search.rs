//! Limits, floors and filters: none starves an answer.

use memory_core::vector::{EmbeddingSpace, Similarity};
use memory_core::{Error, Field, Filter, Scalar, Timestamp};

use super::build::{Change, entry, items, put, query, toward};
use super::model::VectorModel;
use crate::text::build::message;
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    s0_13_exactly_limit_hits_where_so_many_match,
    a_limit_of_zero_is_invalid,
    a_query_of_another_space_is_a_mismatch,
    hits_below_the_floor_are_left_out,
    a_filter_that_matches_one_of_a_thousand_finds_all_it_matches,
    nearer_items_that_the_filter_hides_take_no_place,
    nearer_pieces_of_hidden_items_take_no_place,
    what_has_expired_takes_no_place,
    many_pieces_of_one_item_take_one_place,
    an_unknown_owner_has_no_hits,
]);

async fn s0_13_exactly_limit_hits_where_so_many_match(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries: Vec<_> =
        (0..50).map(|number| entry(message(number), vec![toward(0, number as f32), toward(1, 0.1)])).collect();
    put(&bed.store, &ada, &entries).await?;
    for limit in [1, 2, 10, 49, 50, 51, 10_000] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.limit = limit;
        equal(bed.store.search(&ada, &query).await?.len(), limit.min(50))?;
    }
    Ok(())
}

async fn a_limit_of_zero_is_invalid(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 0;
    fails!(bed.store.search(&ada, &query).await, Error::Invalid { .. });
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.0)])]).await?;
    fails!(bed.store.search(&ada, &query).await, Error::Invalid { .. });
    Ok(())
}

async fn a_query_of_another_space_is_a_mismatch(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.0)])]).await?;
    let space = bed.store.space().clone();
    let others = [
        EmbeddingSpace { model: format!("{}2", space.model), ..space.clone() },
        EmbeddingSpace { recipe: format!("{}2", space.recipe), ..space.clone() },
        EmbeddingSpace { normalised: !space.normalised, ..space.clone() },
        EmbeddingSpace { dimension: space.dimension + 1, ..space },
    ];
    for other in others {
        let mut vector = toward(0, 0.0);
        vector.resize(other.dimension, 0.0);
        let mut query = query(&bed.store, vector);
        query.space = other;
        fails!(bed.store.search(&ada, &query).await, Error::SpaceMismatch { .. });
    }
    let query = query(&bed.store, toward(0, 0.0));
    equal(items(&bed.store.search(&ada, &query).await?), [message(1)])
}

async fn hits_below_the_floor_are_left_out(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let slants = [0.0, 0.5, 1.0, 2.0, 8.0];
    let entries: Vec<_> =
        (1..).zip(slants).map(|(number, slant)| entry(message(number), vec![toward(0, slant)])).collect();
    put(&bed.store, &ada, &entries).await?;
    for (floor, count) in [(-1.0, 5), (0.0, 5), (0.3, 4), (0.7, 3), (0.8, 2), (0.95, 1)] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.floor = Some(Similarity::new(floor));
        let found = bed.store.search(&ada, &query).await?;
        equal(found.len(), count)?;
        VectorModel::of(&entries).check(&query, &found)?;
    }
    let mut query = query(&bed.store, toward(4, 0.0));
    query.floor = Some(Similarity::new(0.5));
    equal(bed.store.search(&ada, &query).await?.len(), 0)
}

async fn a_filter_that_matches_one_of_a_thousand_finds_all_it_matches(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..5_000 {
        let entry = entry(message(number), vec![toward(0, number as f32 / 5_000.0)]);
        entries.push(if number % 1_000 == 997 { entry.tagged("rare") } else { entry });
    }
    for part in entries.chunks(1_000) {
        put(&bed.store, &ada, part).await?;
    }
    for limit in [5, 3] {
        let mut query = query(&bed.store, toward(0, 0.0));
        query.filter = Filter::eq(Field::Tag, "rare");
        query.limit = limit;
        let found = bed.store.search(&ada, &query).await?;
        equal(found.len(), limit)?;
        VectorModel::of(&entries).check(&query, &found)?;
    }
    Ok(())
}

async fn nearer_items_that_the_filter_hides_take_no_place(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..400 {
        entries.push(entry(message(number), vec![toward(0, 0.001 * number as f32)]).tagged("hidden"));
    }
    for number in 400..405 {
        entries.push(entry(message(number), vec![toward(3, 0.1 * (number - 400) as f32)]).tagged("shown"));
    }
    put(&bed.store, &ada, &entries).await?;
    for filter in [Filter::eq(Field::Tag, "shown"), Filter::Ne(Field::Tag, Scalar::from("hidden"))] {
        let mut query = query(&bed.store, toward(0, 0.0));
        (query.filter, query.limit) = (filter, 5);
        let mut found = items(&bed.store.search(&ada, &query).await?);
        found.sort();
        equal(found, [400, 401, 402, 403, 404].map(message))?;
    }
    Ok(())
}

async fn nearer_pieces_of_hidden_items_take_no_place(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let pieces = (0..64).map(|number| toward(0, 0.001 * number as f32)).collect();
    let entries = [entry(message(1), pieces), entry(message(2), vec![toward(3, 0.0)]).tagged("shown")];
    put(&bed.store, &ada, &entries).await?;
    let mut query = query(&bed.store, toward(0, 0.0));
    (query.filter, query.limit) = (Filter::eq(Field::Tag, "shown"), 1);
    equal(items(&bed.store.search(&ada, &query).await?), [message(2)])
}

async fn what_has_expired_takes_no_place(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut entries = Vec::new();
    for number in 0..200 {
        let mut entry = entry(message(number), vec![toward(0, 0.001 * number as f32)]);
        match number % 100 {
            3 => entry.fields.expires_at = None,
            4 => entry.fields.expires_at = Some(Timestamp(1_001)),
            5 => entry.fields.superseded_at = Some(Timestamp(1)),
            _ => entry.fields.expires_at = Some(Timestamp(1_000)),
        }
        entries.push(entry);
    }
    put(&bed.store, &ada, &entries).await?;
    let mut query = query(&bed.store, toward(0, 0.0));
    (query.filter, query.limit) = (Filter::current(Timestamp(1_000)), 4);
    equal(items(&bed.store.search(&ada, &query).await?), [3, 4, 103, 104].map(message))
}

async fn many_pieces_of_one_item_take_one_place(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let pieces = (0..200).map(|number| toward(0, 0.001 * number as f32)).collect();
    let entries = [
        entry(message(1), pieces),
        entry(message(2), vec![toward(0, 0.5)]),
        entry(message(3), vec![toward(0, 0.9), toward(5, 0.0)]),
    ];
    put(&bed.store, &ada, &entries).await?;
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 3;
    equal(items(&bed.store.search(&ada, &query).await?), [1, 2, 3].map(message))
}

async fn an_unknown_owner_has_no_hits(bed: Bed<Vectors>) -> Scene {
    put(&bed.store, &bed.scope("ada")?, &[entry(message(1), vec![toward(0, 0.0)])]).await?;
    let query = query(&bed.store, toward(0, 0.0));
    equal(bed.store.search(&bed.scope("nobody")?, &query).await?.len(), 0)
}
