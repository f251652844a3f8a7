//! Filters pushed down by vector stores.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorEntry;
use memory_core::{Scope, Unit};

use super::{FILTERS, FILTERS_BESIDE, ITEMS, filters, limit, others, put_others};
use crate::generate::{self, Random};
use crate::vectors::build::{entry, query};
use crate::vectors::model::VectorModel;
use crate::{Bed, Failure, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    s0_15_o10_random_filters_give_the_answer_of_brute_force,
    a_thousand_other_owners_change_no_answer_to_random_filters,
]);

/// Returns entries of each unit with random vectors and fields.
fn entries(random: &mut Random, each: usize, dimension: usize) -> Vec<VectorEntry> {
    let mut entries = Vec::new();
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        for _ in 0..each {
            let item = generate::item(random, unit);
            let pieces = (0..1 + random.below(2)).map(|_| generate::unit_vector(random, dimension)).collect();
            entries.push(VectorEntry { fields: generate::fields(random, unit), ..entry(item, pieces) });
        }
    }
    entries
}

/// Puts an entry of each unit for other owners.
async fn put_some(store: Vectors, owners: Vec<Scope>, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    let dimension = store.space().dimension;
    for owner in owners {
        store.put(&owner, &entries(&mut random, 1, dimension), Visibility::AfterFlush).await?;
    }
    Ok(())
}

async fn s0_15_o10_random_filters_give_the_answer_of_brute_force(bed: Bed<Vectors>) -> Scene {
    as_brute_force(&bed, FILTERS).await
}

async fn a_thousand_other_owners_change_no_answer_to_random_filters(bed: Bed<Vectors>) -> Scene {
    let put = |number, owners| put_some(bed.store.clone(), owners, bed.seed.wrapping_add(number));
    put_others(others(&bed)?, put).await?;
    bed.store.flush().await?;
    as_brute_force(&bed, FILTERS_BESIDE).await
}

/// Asks with random filters for what one owner has.
async fn as_brute_force(bed: &Bed<Vectors>, count: usize) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let dimension = bed.store.space().dimension;
    let entries = entries(&mut random, ITEMS / 2, dimension);
    equal(bed.store.put(&ada, &entries, Visibility::OnReturn).await?.len(), 0)?;
    let model = VectorModel::of(&entries);
    for filter in filters(&mut random, count) {
        let mut query = query(&bed.store, generate::unit_vector(&mut random, dimension));
        (query.filter, query.limit) = (filter, limit(&mut random));
        let found = bed.store.search(&ada, &query).await?;
        model.check(&query, &found).map_err(|failure| Failure::new(format!("{:?}: {failure}", query.filter)))?;
    }
    Ok(())
}
