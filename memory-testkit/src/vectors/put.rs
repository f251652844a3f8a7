//! Putting entries: findable when promised, replaced as a whole and only by newer ones.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::VectorEntry;

use super::build::{Change, entry, find, put, query, toward};
use super::model::VectorModel;
use crate::text::build::message;
use crate::{Bed, Scene, Vectors, equal};

scenarios!(TABLE: Vectors = [
    a_put_is_findable_on_return,
    a_bulk_put_is_findable_when_flush_returns,
    s0_7_a_put_replaces_all_pieces_of_its_item,
    an_older_version_changes_nothing,
    the_same_version_is_put_in_the_place_of_the_first,
    the_epoch_counts_before_the_revision,
    the_newest_version_of_one_put_wins_wherever_it_stands,
    a_repeated_put_changes_nothing,
    an_empty_put_changes_nothing,
    a_thousand_entries_of_one_put_are_all_found,
]);

async fn a_put_is_findable_on_return(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    for number in 1..=20 {
        put(&bed.store, &ada, &[entry(message(number), vec![toward(0, 0.5)])]).await?;
        equal(find(&bed.store, &ada, toward(0, 0.0)).await?.len() as u64, number)?;
    }
    Ok(())
}

async fn a_bulk_put_is_findable_when_flush_returns(bed: Bed<Vectors>) -> Scene {
    let (ada, bob) = (bed.scope("ada")?, bed.scope("bob")?);
    for (owner, number) in [(&ada, 1), (&bob, 2)] {
        let entries = [entry(message(number), vec![toward(0, 0.5)])];
        equal(bed.store.put(owner, &entries, Visibility::AfterFlush).await?.len(), 0)?;
    }
    bed.store.flush().await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])?;
    equal(find(&bed.store, &bob, toward(0, 0.0)).await?, [message(2)])?;
    bed.store.flush().await?;
    Ok(())
}

async fn s0_7_a_put_replaces_all_pieces_of_its_item(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let long = entry(message(1), vec![toward(0, 0.1), toward(2, 0.1), toward(4, 0.1)]).tagged("old");
    put(&bed.store, &ada, &[long]).await?;
    let short = entry(message(1), vec![toward(6, 0.2)]).at_revision(2).said_at(7);
    put(&bed.store, &ada, std::slice::from_ref(&short)).await?;
    for axis in 0..8 {
        shows(&bed, axis, &short).await?;
    }
    let longer = entry(message(1), vec![toward(1, 0.2), toward(3, 0.2), toward(5, 0.1), toward(7, 0.1)]).at_revision(3);
    put(&bed.store, &ada, std::slice::from_ref(&longer)).await?;
    for axis in 0..8 {
        shows(&bed, axis, &longer).await?;
    }
    Ok(())
}

async fn an_older_version_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let newer = entry(message(1), vec![toward(0, 0.1)]).at_revision(8);
    put(&bed.store, &ada, std::slice::from_ref(&newer)).await?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(2, 0.1), toward(4, 0.1)]).at_revision(7)]).await?;
    for axis in [0, 2, 4] {
        shows(&bed, axis, &newer).await?;
    }
    Ok(())
}

async fn the_same_version_is_put_in_the_place_of_the_first(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.1), toward(4, 0.1)])]).await?;
    let second = entry(message(1), vec![toward(2, 0.1)]);
    put(&bed.store, &ada, std::slice::from_ref(&second)).await?;
    for axis in [0, 2, 4] {
        shows(&bed, axis, &second).await?;
    }
    Ok(())
}

async fn the_epoch_counts_before_the_revision(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let later = entry(message(1), vec![toward(0, 0.1)]).in_epoch(2).at_revision(0);
    put(&bed.store, &ada, std::slice::from_ref(&later)).await?;
    let revised = entry(message(1), vec![toward(2, 0.1)]).in_epoch(1).at_revision(u64::from(u32::MAX));
    put(&bed.store, &ada, &[revised]).await?;
    shows(&bed, 2, &later).await
}

async fn the_newest_version_of_one_put_wins_wherever_it_stands(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let [first, second, third] = [1, 2, 3].map(|number| {
        let axis = usize::try_from(number).unwrap_or(0);
        entry(message(1), vec![toward(axis, 0.1), toward(axis + 3, 0.1)]).at_revision(number)
    });
    put(&bed.store, &ada, &[second, third.clone(), first]).await?;
    for axis in 0..8 {
        shows(&bed, axis, &third).await?;
    }
    Ok(())
}

async fn a_repeated_put_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let only = entry(message(1), vec![toward(0, 0.1), toward(3, 0.1)]);
    for _ in 0..3 {
        put(&bed.store, &ada, std::slice::from_ref(&only)).await?;
        shows(&bed, 0, &only).await?;
        shows(&bed, 3, &only).await?;
    }
    Ok(())
}

async fn an_empty_put_changes_nothing(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    put(&bed.store, &ada, &[]).await?;
    put(&bed.store, &ada, &[entry(message(1), vec![toward(0, 0.1)])]).await?;
    put(&bed.store, &ada, &[]).await?;
    equal(find(&bed.store, &ada, toward(0, 0.0)).await?, [message(1)])
}

async fn a_thousand_entries_of_one_put_are_all_found(bed: Bed<Vectors>) -> Scene {
    let ada = bed.scope("ada")?;
    let slant = |number: u64| number as f32 / 100.0;
    let entries: Vec<_> =
        (0..1_000).map(|number| entry(message(number), vec![toward(0, slant(number)), toward(4, 0.5)])).collect();
    put(&bed.store, &ada, &entries).await?;
    let mut query = query(&bed.store, toward(0, 0.0));
    query.limit = 2_000;
    VectorModel::of(&entries).check(&query, &bed.store.search(&ada, &query).await?)
}

/// Passes if ada's one item is as `only` says, sought along an axis.
async fn shows(bed: &Bed<Vectors>, axis: usize, only: &VectorEntry) -> Scene {
    let mut query = query(&bed.store, toward(axis, 0.0));
    query.with_vectors = true;
    let found = bed.store.search(&bed.scope("ada")?, &query).await?;
    VectorModel::of(std::slice::from_ref(only)).check(&query, &found)
}
