//! Filters pushed down by text stores.

use memory_core::store::text::{TextEntry, TextQuery, Visibility};
use memory_core::{Result, Scope, Unit};

use super::{FILTERS, FILTERS_BESIDE, ITEMS, filters, limit, others, put_others};
use crate::generate::{self, Random};
use crate::text::build::{entry, query};
use crate::text::model::TextModel;
use crate::{Bed, Failure, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    s0_15_o10_random_filters_give_the_answer_of_brute_force,
    a_thousand_other_owners_change_no_answer_to_random_filters,
]);

const UNITS: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// Returns entries of each unit with random fields.
fn entries(random: &mut Random, each: usize) -> Result<Vec<TextEntry>> {
    let mut entries = Vec::new();
    for unit in UNITS {
        for _ in 0..each {
            let entry = entry(generate::item(random, unit), &["river"])?;
            entries.push(TextEntry { fields: generate::fields(random, unit), ..entry });
        }
    }
    Ok(entries)
}

/// Puts an entry of each unit for other owners.
async fn put_some(store: Texts, owners: Vec<Scope>, seed: u64) -> Scene {
    let mut random = Random::new(seed);
    for owner in owners {
        store.put(&owner, &entries(&mut random, 1)?, Visibility::AfterFlush).await?;
    }
    Ok(())
}

async fn s0_15_o10_random_filters_give_the_answer_of_brute_force(bed: Bed<Texts>) -> Scene {
    as_brute_force(&bed, FILTERS).await
}

async fn a_thousand_other_owners_change_no_answer_to_random_filters(bed: Bed<Texts>) -> Scene {
    let put = |number, owners| put_some(bed.store.clone(), owners, bed.seed.wrapping_add(number));
    put_others(others(&bed)?, put).await?;
    bed.store.flush().await?;
    as_brute_force(&bed, FILTERS_BESIDE).await
}

/// Asks with random filters for what one owner has.
async fn as_brute_force(bed: &Bed<Texts>, count: usize) -> Scene {
    let ada = bed.scope("ada")?;
    let mut random = Random::new(bed.seed);
    let entries = entries(&mut random, ITEMS)?;
    equal(bed.store.put(&ada, &entries, Visibility::OnReturn).await?.len(), 0)?;
    let model = TextModel::of(&entries);
    for filter in filters(&mut random, count) {
        for unit in UNITS {
            let filter = filter.clone();
            let query = TextQuery { unit, filter, limit: limit(&mut random), ..query(&["river"])? };
            let found = bed.store.search(&ada, &query).await?;
            model.check(&query, &found).map_err(|failure| Failure::new(format!("{:?}: {failure}", query.filter)))?;
        }
    }
    Ok(())
}
