//! Erasing an owner: all of the epochs before, for good, and nobody else.

use memory_core::Epoch;
use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorEntry;

use super::build::{Change, entry, find, items, put, query, toward};
use super::model::VectorModel;
use crate::generate::{self, Random};
use crate::text::build::{message, record, span};
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    erasing_removes_every_item_and_counts_them,
    erasing_may_be_repeated,
    a_late_put_after_an_erasure_changes_nothing,
    a_late_bulk_put_after_an_erasure_changes_nothing,
    what_is_put_in_the_new_epoch_stays,
    erasing_keeps_what_is_not_older,
    a_lower_bound_never_replaces_a_higher_one,
    erasing_below_the_first_epoch_removes_nothing,
    an_owner_without_data_can_be_erased_ahead,
    erasing_one_of_fifty_leaves_the_others_as_they_are,
]);

fn plain(number: u64) -> VectorEntry {
    entry(message(number), vec![toward(0, 0.5), toward(3, 0.1)])
}

async fn erasing_removes_every_item_and_counts_them(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries =
        [plain(1), plain(2), entry(record(1), vec![toward(0, 0.1)]), entry(span("s", 0)?, vec![toward(1, 0.1)])];
    put(&bed.store, &ada, &entries).await?;
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (4, 0))?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}

async fn erasing_may_be_repeated(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[plain(1)]).await?;
    for removed in [1, 0, 0] {
        let erased = bed.store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (removed, 0))?;
    }
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}

async fn a_late_put_after_an_erasure_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[plain(1)]).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    let new = plain(3).in_epoch(1);
    // A late entry may be reported or not; it is never stored, and never keeps others of its put from being stored.
    bed.store.put(&ada, &[plain(1).at_revision(9), plain(2)], Visibility::OnReturn).await?;
    bed.store.put(&ada, &[plain(1), new.clone()], Visibility::OnReturn).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&[new]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn a_late_bulk_put_after_an_erasure_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, &[plain(1)], Visibility::AfterFlush).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    bed.store.put(&ada, &[plain(2)], Visibility::AfterFlush).await?;
    bed.store.flush().await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}

async fn what_is_put_in_the_new_epoch_stays(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[plain(1).at_revision(9)]).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    let again = entry(message(1), vec![toward(5, 0.1)]).in_epoch(1);
    put(&bed.store, &ada, std::slice::from_ref(&again)).await?;
    for _ in 0..2 {
        let query = query(&bed.store, toward(0, 0.0));
        VectorModel::of(std::slice::from_ref(&again)).check(&query, &bed.store.search(&ada, &query).await?)?;
        let erased = bed.store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (0, 0))?;
    }
    Ok(())
}

async fn erasing_keeps_what_is_not_older(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    for epoch in 0..4 {
        put(&bed.store, &ada, &[plain(epoch).in_epoch(epoch)]).await?;
    }
    let erased = bed.store.erase(&ada, Epoch(2)).await?;
    equal((erased.removed, erased.remaining), (2, 0))?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [2, 3].map(message))
}

async fn a_lower_bound_never_replaces_a_higher_one(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.erase(&ada, Epoch(5)).await?;
    bed.store.erase(&ada, Epoch(2)).await?;
    bed.store.put(&ada, &[plain(1).in_epoch(3)], Visibility::OnReturn).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])?;
    put(&bed.store, &ada, &[plain(1).in_epoch(5)]).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn erasing_below_the_first_epoch_removes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[plain(1)]).await?;
    let erased = bed.store.erase(&ada, Epoch(0)).await?;
    equal((erased.removed, erased.remaining), (0, 0))?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn an_owner_without_data_can_be_erased_ahead(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (0, 0))?;
    bed.store.put(&ada, &[plain(1)], Visibility::OnReturn).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])
}

async fn erasing_one_of_fifty_leaves_the_others_as_they_are(bed: Bed<Vectors>) -> Scene {
    let mut random = Random::new(bed.seed);
    let owners = generate::owners(&mut random, &bed.tenant, 50)?;
    let mut query = query(&bed.store, toward(0, 0.0));
    query.with_vectors = true;
    let mut before = Vec::new();
    for owner in &owners {
        put(&bed.store, owner, &[plain(1), entry(message(2), vec![toward(1, 0.5)]).tagged("t")]).await?;
        before.push(bed.store.search(owner, &query).await?);
    }
    for erased in [0, 10, 11, 20] {
        let (Some(owner), Some(found)) = (owners.get(erased), before.get_mut(erased)) else { continue };
        equal(items(found).len(), 2)?;
        bed.store.erase(owner, Epoch(1)).await?;
        found.clear();
        for (owner, before) in owners.iter().zip(&before) {
            equal(&bed.store.search(owner, &query).await?, before)?;
        }
    }
    Ok(())
}
