//! Clearing an owner's index: everything of that owner, and nothing of what was erased comes back.

use memory_core::Epoch;

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::text::build::{message, record, span};
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    clearing_takes_everything_of_one_owner_and_nothing_of_others,
    clearing_may_be_repeated_and_needs_nothing_to_be_there,
    what_is_cleared_may_be_put_again_in_any_version,
    clearing_lets_nothing_back_in_that_was_erased,
]);

async fn clearing_takes_everything_of_one_owner_and_nothing_of_others(bed: Bed<Vectors>) -> Scene {
    let owners = [bed.scope("ada")?, bed.scope("ada2")?, bed.scope("ad")?];
    let items = [message(1), message(2), record(1), span("s", 0)?];
    let entries: Vec<_> = items.iter().map(|item| entry(item.clone(), vec![toward(0, 0.5), toward(3, 0.5)])).collect();
    for owner in &owners {
        put(&bed.store, owner, &entries).await?;
    }
    let [ada, others @ ..] = owners;
    bed.store.clear(&ada).await?;
    let query = query(&bed.store, toward(0, 0.0));
    equal(bed.store.search(&ada, &query).await?, [])?;
    for owner in &others {
        VectorModel::of(&entries).check(&query, &bed.store.search(owner, &query).await?)?;
    }
    equal(bed.store.versions(&ada, &items).await?, [])?;
    equal(bed.store.scan(&ada, None, 10).await?, [])
}

async fn clearing_may_be_repeated_and_needs_nothing_to_be_there(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.5)])]).await?;
    for _ in 0..2 {
        bed.store.clear(&ada).await?;
        equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [])?;
    }
    Ok(())
}

async fn what_is_cleared_may_be_put_again_in_any_version(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let of = |number, slant, revision| entry(message(number), vec![toward(0, slant)]).at_revision(revision);
    let (new, old) = ([of(1, 0.1, 9), of(2, 0.2, 9)], [of(1, 0.5, 3), of(2, 0.7, 9)]);
    put(&bed.store, &ada, &new).await?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &old).await?;
    let query = query(&bed.store, toward(0, 0.0));
    VectorModel::of(&old).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn clearing_lets_nothing_back_in_that_was_erased(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let new = entry(message(1), vec![toward(0, 0.5)]).in_epoch(2);
    let late = entry(message(2), vec![toward(0, 0.5)]).in_epoch(1).at_revision(9);
    bed.store.erase(&ada, Epoch(2)).await?;
    put(&bed.store, &ada, std::slice::from_ref(&new)).await?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &[late, new]).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}
