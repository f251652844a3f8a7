//! What every store promises for two erasures of one owner at once: both end, and everything is removed and counted
//! once.
//!
//! Stores delete in steps. One that waited for the other to delete the same rows finds none of them, and has to look again
//! before it takes that for the end: what it then forgot would be out of reach of every later erasure.

use std::sync::Arc;

use memory_core::store::Store;
use memory_core::store::text::Visibility;
use memory_core::{Epoch, Scope};

use crate::check::{Scene, equal};
use crate::records::{Shelf, fact};
use crate::text::build as text;
use crate::upkeep::bury;
use crate::vectors::build as vectors;
use crate::{Bed, Records, Texts, Vectors};

scenarios!(TEXT: Texts = [two_erasures_at_once_remove_all_texts]);
scenarios!(VECTORS: Vectors = [two_erasures_at_once_remove_all_vectors]);
scenarios!(RECORDS: Records = [two_erasures_at_once_remove_all_records]);

/// More items than any store deletes in one step.
const ITEMS: u64 = 12_000;

/// How many of them are put together.
const BATCH: usize = 1_000;

async fn two_erasures_at_once_remove_all_texts(bed: Bed<Texts>) -> Scene {
    let (ada, second) = (bed.scope("ada")?, bed.reopen().await?);
    let entries = (1..=ITEMS).map(|number| text::entry(text::message(number), &["river"]));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    for part in entries.chunks(BATCH) {
        equal(bed.store.put(&ada, part, Visibility::AfterFlush).await?.len(), 0)?;
    }
    bed.store.flush().await?;
    erase_at_once(bed.store.clone(), second, &ada).await?;
    equal(bed.store.search(&ada, &text::query(&["river"])?).await?.hits.len(), 0)
}

async fn two_erasures_at_once_remove_all_vectors(bed: Bed<Vectors>) -> Scene {
    let (ada, second) = (bed.scope("ada")?, bed.reopen().await?);
    let vector = |number: u64| (0..8).map(|axis| ((number * 7 + axis) % 13) as f32 + 1.0).collect();
    let entries = (1..=ITEMS).map(|number| vectors::entry(text::message(number), vec![vector(number)]));
    for part in entries.collect::<Vec<_>>().chunks(BATCH) {
        equal(bed.store.put(&ada, part, Visibility::AfterFlush).await?.len(), 0)?;
    }
    bed.store.flush().await?;
    erase_at_once(bed.store.clone(), second, &ada).await?;
    equal(bed.store.search(&ada, &vectors::query(&bed.store, vector(1))).await?.len(), 0)
}

async fn two_erasures_at_once_remove_all_records(bed: Bed<Records>) -> Scene {
    let (shelf, second) = (Shelf::plain(&bed)?, bed.reopen().await?);
    let records: Vec<_> = (1..=ITEMS).map(|number| fact(&format!("rose number {number}"))).collect();
    for part in records.chunks(BATCH) {
        shelf.put(&part.iter().collect::<Vec<_>>()).await?;
    }
    bury(shelf.records.upkeep(), &shelf.scope).await?;
    erase_at_once(shelf.records.store().clone(), second.store().clone(), &shelf.scope).await?;
    equal(shelf.all().await?, [])
}

/// Erases an owner of [`ITEMS`] items twice at once; passes if all are counted and nothing is left, then and later.
async fn erase_at_once(one: Arc<dyn Store>, other: Arc<dyn Store>, scope: &Scope) -> Scene {
    // Connected, so that neither is late.
    tokio::try_join!(one.ping(), other.ping())?;
    let (one, other) = tokio::join!(one.erase(scope, Epoch(1)), other.erase(scope, Epoch(1)));
    let (one, other) = (one?, other?);
    equal((one.remaining, other.remaining), (0, 0))?;
    // A store that counts before it deletes counts some twice.
    check!(one.removed + other.removed >= ITEMS, "{one:?} and {other:?} are not all of {ITEMS} items");
    Ok(())
}
