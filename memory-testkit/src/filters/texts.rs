//! Filters pushed down by text stores.

use memory_core::Unit;
use memory_core::text::{TextEntry, TextQuery, Visibility};

use super::{ITEMS, filters, limit};
use crate::generate::{self, Random};
use crate::text::{TextModel, plain_entry, plain_query};
use crate::{Bed, Failure, Scene, Texts, equal};

scenarios!(TABLE: Texts = [random_filters_give_the_answer_of_brute_force]);

async fn random_filters_give_the_answer_of_brute_force(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let units = [Unit::Message, Unit::Record, Unit::Span];
    let mut entries = Vec::new();
    for unit in units {
        for _ in 0..ITEMS {
            let entry = plain_entry(generate::item(&mut random, unit), &["river"])?;
            entries.push(TextEntry { fields: generate::fields(&mut random, unit), ..entry });
        }
    }
    equal(bed.store.put(&ada, &entries, Visibility::OnReturn).await?.len(), 0)?;
    let model = TextModel::of(&entries);
    for filter in filters(&mut random) {
        for unit in units {
            let filter = filter.clone();
            let query = TextQuery { unit, filter, limit: limit(&mut random), ..plain_query(&["river"])? };
            let found = bed.store.search(&ada, &query).await?;
            model.check(&query, &found).map_err(|failure| Failure::new(format!("{:?}: {failure}", query.filter)))?;
        }
    }
    Ok(())
}
