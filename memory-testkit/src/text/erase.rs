//! Erasing an owner: all of the epochs before, for good, and nobody else.

use memory_core::Epoch;
use memory_core::store::text::{TextEntry, Visibility};

use super::build::{Change, entry, find, message, near, put, query, record, span};
use super::model::TextModel;
use crate::generate::{self, Random};
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    erasing_removes_every_entry_and_counts_them,
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

async fn erasing_removes_every_entry_and_counts_them(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let items = [message(1), message(2), record(1), span("s", 0)?];
    let entries: Vec<_> = items.into_iter().map(|item| entry(item, &["river"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (4, 0))?;
    let query = query(&["river"])?;
    for unit in [memory_core::Unit::Message, memory_core::Unit::Record, memory_core::Unit::Span] {
        let query = memory_core::store::text::TextQuery { unit, ..query.clone() };
        TextModel::default().check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn erasing_may_be_repeated(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    for removed in [1, 0, 0] {
        let erased = bed.store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (removed, 0))?;
    }
    equal(find(&bed.store, &ada, &["river"]).await?, [])
}

async fn a_late_put_after_an_erasure_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    let late = [entry(message(1), &["river"])?.at_revision(9), near(entry(message(2), &[])?, &[("river", 1.0)])?];
    let new = entry(message(3), &["river"])?.in_epoch(1);
    // A late entry may be reported or not; it is never stored, and never keeps others of its put from being stored.
    bed.store.put(&ada, &late, Visibility::OnReturn).await?;
    bed.store.put(&ada, &[late.as_slice(), std::slice::from_ref(&new)].concat(), Visibility::OnReturn).await?;
    let query = query(&["river"])?;
    TextModel::of(&[new]).check(&query, &bed.store.search(&ada, &query).await?)
}

async fn a_late_bulk_put_after_an_erasure_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.put(&ada, &[entry(message(1), &["river"])?], Visibility::AfterFlush).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    bed.store.put(&ada, &[entry(message(2), &["river"])?], Visibility::AfterFlush).await?;
    bed.store.flush().await?;
    let query = query(&["river"])?;
    TextModel::default().check(&query, &bed.store.search(&ada, &query).await?)
}

async fn what_is_put_in_the_new_epoch_stays(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.at_revision(9)]).await?;
    bed.store.erase(&ada, Epoch(1)).await?;
    let again = entry(message(1), &["stone"])?.in_epoch(1);
    put(&bed.store, &ada, std::slice::from_ref(&again)).await?;
    for _ in 0..2 {
        let query = query(&["river", "stone"])?;
        TextModel::of(std::slice::from_ref(&again)).check(&query, &bed.store.search(&ada, &query).await?)?;
        let erased = bed.store.erase(&ada, Epoch(1)).await?;
        equal((erased.removed, erased.remaining), (0, 0))?;
    }
    Ok(())
}

async fn erasing_keeps_what_is_not_older(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    for epoch in 0..4 {
        put(&bed.store, &ada, &[entry(message(epoch), &["river"])?.in_epoch(epoch)]).await?;
    }
    let erased = bed.store.erase(&ada, Epoch(2)).await?;
    equal((erased.removed, erased.remaining), (2, 0))?;
    equal(find(&bed.store, &ada, &["river"]).await?, [2, 3].map(message))
}

async fn a_lower_bound_never_replaces_a_higher_one(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    bed.store.erase(&ada, Epoch(5)).await?;
    bed.store.erase(&ada, Epoch(2)).await?;
    bed.store.put(&ada, &[entry(message(1), &["river"])?.in_epoch(3)], Visibility::OnReturn).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.in_epoch(5)]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}

async fn erasing_below_the_first_epoch_removes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    let erased = bed.store.erase(&ada, Epoch(0)).await?;
    equal((erased.removed, erased.remaining), (0, 0))?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}

async fn an_owner_without_data_can_be_erased_ahead(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let erased = bed.store.erase(&ada, Epoch(1)).await?;
    equal((erased.removed, erased.remaining), (0, 0))?;
    bed.store.put(&ada, &[entry(message(1), &["river"])?], Visibility::OnReturn).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])
}

async fn erasing_one_of_fifty_leaves_the_others_as_they_are(bed: Bed<Texts>) -> Scene {
    let mut random = Random::new(bed.seed);
    let owners = generate::owners(&mut random, &bed.tenant, 50)?;
    let query = query(&["river", "stone"])?;
    let entries: Vec<TextEntry> = vec![
        near(entry(message(1), &["river"])?, &[("stone", 0.5)])?,
        entry(message(2), &["stone", "river", "stone"])?.in_session("s")?,
    ];
    let mut before = Vec::new();
    for owner in &owners {
        put(&bed.store, owner, &entries).await?;
        before.push(bed.store.search(owner, &query).await?);
    }
    for erased in [0, 10, 11, 20] {
        let Some(owner) = owners.get(erased) else { continue };
        bed.store.erase(owner, Epoch(1)).await?;
        if let Some(found) = before.get_mut(erased) {
            *found = memory_core::store::text::TextHits { containing: vec![0, 0], ..Default::default() };
        }
        for (owner, before) in owners.iter().zip(&before) {
            equal(&bed.store.search(owner, &query).await?, before)?;
        }
    }
    Ok(())
}
