//! Filters pushed down by vector stores.

use memory_core::Unit;
use memory_core::text::Visibility;
use memory_core::vector::VectorEntry;

use super::{ITEMS, filters, limit};
use crate::generate::{self, Random};
use crate::vectors::{VectorModel, plain_entry, plain_query};
use crate::{Bed, Failure, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [random_filters_give_the_answer_of_brute_force]);

async fn random_filters_give_the_answer_of_brute_force(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let dimension = bed.store.space().dimension;
    let mut entries = Vec::new();
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        for _ in 0..ITEMS / 2 {
            let item = generate::item(&mut random, unit);
            let pieces = (0..1 + random.below(2)).map(|_| generate::unit_vector(&mut random, dimension)).collect();
            entries.push(VectorEntry { fields: generate::fields(&mut random, unit), ..plain_entry(item, pieces) });
        }
    }
    equal(bed.store.put(&ada, &entries, Visibility::OnReturn).await?.len(), 0)?;
    let model = VectorModel::of(&entries);
    for filter in filters(&mut random) {
        let mut query = plain_query(&bed.store, generate::unit_vector(&mut random, dimension));
        (query.filter, query.limit) = (filter, limit(&mut random));
        let found = bed.store.search(&ada, &query).await?;
        model.check(&query, &found).map_err(|failure| Failure::new(format!("{:?}: {failure}", query.filter)))?;
    }
    Ok(())
}
