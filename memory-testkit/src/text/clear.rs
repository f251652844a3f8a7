//! Clearing an owner's index: everything of that owner, and nothing of what was erased comes back.

use memory_core::store::text::TextQuery;
use memory_core::{Epoch, Unit};

use super::build::{Change, entry, find, message, put, query, record, span};
use super::model::TextModel;
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    clearing_takes_everything_of_one_owner_and_nothing_of_others,
    clearing_may_be_repeated_and_needs_nothing_to_be_there,
    what_is_cleared_may_be_put_again_in_any_version,
    clearing_lets_nothing_back_in_that_was_erased,
]);

async fn clearing_takes_everything_of_one_owner_and_nothing_of_others(bed: Bed<Texts>) -> Scene {
    let owners = [bed.scope("ada")?, bed.scope("ada2")?, bed.scope("ad")?];
    let items = [message(1), message(2), record(1), span("s", 0)?];
    let entries: Vec<_> = items.iter().map(|item| entry(item.clone(), &["river"])).collect::<Result<_, _>>()?;
    for owner in &owners {
        put(&bed.store, owner, &entries).await?;
    }
    let [ada, others @ ..] = owners;
    bed.store.clear(&ada).await?;
    for unit in [Unit::Message, Unit::Record, Unit::Span] {
        let query = TextQuery { unit, ..query(&["river"])? };
        TextModel::default().check(&query, &bed.store.search(&ada, &query).await?)?;
        for owner in &others {
            TextModel::of(&entries).check(&query, &bed.store.search(owner, &query).await?)?;
        }
    }
    equal(bed.store.versions(&ada, &items).await?, [])?;
    equal(bed.store.scan(&ada, None, 10).await?, [])
}

async fn clearing_may_be_repeated_and_needs_nothing_to_be_there(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    for _ in 0..2 {
        bed.store.clear(&ada).await?;
        equal(find(&bed.store, &ada, &["river"]).await?, [])?;
    }
    Ok(())
}

async fn what_is_cleared_may_be_put_again_in_any_version(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let new = [entry(message(1), &["river"])?.at_revision(9), entry(message(2), &["river", "stone"])?.at_revision(9)];
    let old = [entry(message(1), &["stone"])?.at_revision(3), entry(message(2), &["lamp"])?.at_revision(9)];
    put(&bed.store, &ada, &new).await?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &old).await?;
    let query = query(&["river", "stone", "lamp"])?;
    TextModel::of(&old).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn clearing_lets_nothing_back_in_that_was_erased(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let new = entry(message(1), &["river"])?.in_epoch(2);
    let late = entry(message(2), &["river"])?.in_epoch(1).at_revision(9);
    bed.store.erase(&ada, Epoch(2)).await?;
    put(&bed.store, &ada, std::slice::from_ref(&new)).await?;
    bed.store.clear(&ada).await?;
    put(&bed.store, &ada, &[late, new]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}
