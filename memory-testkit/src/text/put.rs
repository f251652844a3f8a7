//! Putting entries: findable when promised, and only ever replaced by newer ones.

use memory_core::Epoch;
use memory_core::store::text::{TextEntry, Visibility};

use super::build::{Change, entry, find, message, near, put, query, record};
use super::model::TextModel;
use crate::{Bed, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    a_put_is_findable_on_return,
    a_bulk_put_is_findable_when_flush_returns,
    a_newer_version_replaces_the_whole_entry,
    an_older_version_changes_nothing,
    the_same_version_is_put_in_the_place_of_the_first,
    the_epoch_counts_before_the_revision,
    the_newest_version_of_one_put_wins_wherever_it_stands,
    a_repeated_put_changes_nothing,
    an_empty_put_changes_nothing,
    a_thousand_entries_of_one_put_are_all_found,
]);

async fn a_put_is_findable_on_return(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    for number in 1..=20 {
        put(&bed.store, &ada, &[entry(message(number), &["river"])?]).await?;
        equal(find(&bed.store, &ada, &["river"]).await?.len() as u64, number)?;
    }
    Ok(())
}

async fn a_bulk_put_is_findable_when_flush_returns(bed: Bed<Texts>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    let rejected = bed.store.put(&ada, &[entry(message(1), &["river"])?], Visibility::AfterFlush).await?;
    equal(rejected.len(), 0)?;
    bed.store.put(&bob, &[entry(message(2), &["river"])?], Visibility::AfterFlush).await?;
    bed.store.flush().await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])?;
    equal(find(&bed.store, &bob, &["river"]).await?, [message(2)])?;
    bed.store.flush().await?;
    Ok(())
}

async fn a_newer_version_replaces_the_whole_entry(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let first = near(entry(message(1), &["river", "river", "stone"])?.tagged("old"), &[("lamp", 0.5)])?;
    let second = near(entry(message(1), &["stone", "glass"])?.at_revision(2).said_at(7), &[("winter", 1.5)])?;
    put(&bed.store, &ada, &[first]).await?;
    put(&bed.store, &ada, std::slice::from_ref(&second)).await?;
    for gone in ["river", "lamp"] {
        equal(find(&bed.store, &ada, &[gone]).await?, [])?;
    }
    shows(&bed, &second).await
}

async fn an_older_version_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let newer = entry(message(1), &["stone"])?.at_revision(8);
    put(&bed.store, &ada, std::slice::from_ref(&newer)).await?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?.at_revision(7)]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])?;
    shows(&bed, &newer).await
}

async fn the_same_version_is_put_in_the_place_of_the_first(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let second = entry(message(1), &["stone"])?;
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    put(&bed.store, &ada, std::slice::from_ref(&second)).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])?;
    shows(&bed, &second).await
}

async fn the_epoch_counts_before_the_revision(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let later = entry(message(1), &["stone"])?.in_epoch(2).at_revision(0);
    let revised = entry(message(1), &["river"])?.in_epoch(1).at_revision(u64::from(u32::MAX));
    put(&bed.store, &ada, std::slice::from_ref(&later)).await?;
    put(&bed.store, &ada, std::slice::from_ref(&revised)).await?;
    shows(&bed, &later).await?;
    equal(later.version.epoch, Epoch(2))?;
    put(&bed.store, &ada, &[entry(message(2), &["river"])?.in_epoch(1).at_revision(9)]).await?;
    put(&bed.store, &ada, &[entry(message(2), &["stone"])?.in_epoch(2).at_revision(0)]).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [])
}

async fn the_newest_version_of_one_put_wins_wherever_it_stands(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let versions = |item: u64| {
        let of = |word: &str, number| Ok(entry(message(item), &[word])?.at_revision(number));
        Ok::<_, memory_core::Error>([of("first", 1)?, of("second", 2)?, of("third", 3)?])
    };
    let [first, second, third] = versions(1)?;
    put(&bed.store, &ada, &[second, third, first]).await?;
    let [first, second, third] = versions(2)?;
    put(&bed.store, &ada, &[third, first, second]).await?;
    let found = find(&bed.store, &ada, &["first", "second", "third"]).await?;
    equal(found, [message(1), message(2)])?;
    equal(find(&bed.store, &ada, &["third"]).await?.len(), 2)?;
    equal(find(&bed.store, &ada, &["first", "second"]).await?, [])
}

async fn a_repeated_put_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries = [entry(message(1), &["river", "stone"])?, near(entry(message(2), &["stone"])?, &[("river", 0.25)])?];
    for _ in 0..3 {
        put(&bed.store, &ada, &entries).await?;
        let query = query(&["river", "stone"])?;
        TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)?;
    }
    Ok(())
}

async fn an_empty_put_changes_nothing(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[]).await?;
    put(&bed.store, &ada, &[entry(record(1), &["river"])?, entry(message(1), &["river"])?]).await?;
    put(&bed.store, &ada, &[]).await?;
    bed.store.put(&ada, &[], Visibility::AfterFlush).await?;
    equal(find(&bed.store, &ada, &["river"]).await?, [message(1)])
}

async fn a_thousand_entries_of_one_put_are_all_found(bed: Bed<Texts>) -> Scene {
    let ada = bed.scope("ada")?;
    let entries: Vec<TextEntry> =
        (0..1_000).map(|number| entry(message(number), &["river", "stone"])).collect::<Result<_, _>>()?;
    put(&bed.store, &ada, &entries).await?;
    let mut query = query(&["river"])?;
    query.limit = 2_000;
    TextModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)
}

/// Passes if ada's one item, asked for by all the words used here, is as `only` says.
async fn shows(bed: &Bed<Texts>, only: &TextEntry) -> Scene {
    let query = query(&["river", "stone", "glass", "lamp", "winter"])?;
    let found = bed.store.search(&bed.scope("ada")?, &query).await?;
    TextModel::of(std::slice::from_ref(only)).check(&query, &found)
}
