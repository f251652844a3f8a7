//! Filters pushed down by record stores.

use std::sync::Arc;

use memory_core::store::records::{Expect, Put, RecordBatch};
use memory_core::{Fields, Record};

use super::{FILTERS, ITEMS, filters, limit};
use crate::generate::{self, Random};
use crate::{Bed, Records, Scene};

scenarios!(TABLE: Records = [s0_15_o10_random_filters_give_the_answer_of_brute_force]);

async fn s0_15_o10_random_filters_give_the_answer_of_brute_force(bed: Bed<Records>) -> Scene {
    let (ada, store) = (bed.scope("ada")?, bed.store.store());
    let mut random = Random::new(bed.seed);
    let mut records: Vec<Arc<Record>> = (0..ITEMS).map(|_| Arc::new(generate::record(&mut random))).collect();
    let puts = records.iter().map(|record| Put { record: record.clone(), expect: Expect::Absent }).collect();
    store.put(&ada, &RecordBatch { fence: None, puts }).await?;
    records.sort_by_key(|record| record.id);
    for filter in filters(&mut random, FILTERS) {
        let start = random.below(2 * ITEMS);
        let (after, limit) = (records.get(start).map(|record| record.id), limit(&mut random));
        let matching = records.iter().filter(|record| after.is_none_or(|after| record.id > after));
        let matching = matching.filter(|record| filter.matches(&Fields::of_record(record)));
        let promised: Vec<_> = matching.take(limit).map(|record| record.id).collect();
        let found = store.scan(&ada, &filter, after, limit).await?;
        let found: Vec<_> = found.into_iter().map(|row| row.record.id).collect();
        check!(found == promised, "{filter:?}: found {found:?}, promised {promised:?}");
    }
    Ok(())
}
