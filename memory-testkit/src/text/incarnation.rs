//! The incarnation of an index: every caller gets the same one, and another index has another one.

use super::build::{entry, message, put};
use crate::crowd::together;
use crate::{Bed, Needs, Scene, Texts, equal};

scenarios!(TABLE: Texts = [
    asked_again_it_tells_the_same_incarnation,
    another_index_has_another_incarnation,
    what_is_put_and_erased_changes_no_incarnation,
]);

scenarios!(DURABLE: Texts, Needs::Durability = [
    all_who_open_an_index_at_once_are_told_the_same_incarnation,
    a_restart_keeps_the_incarnation,
]);

async fn asked_again_it_tells_the_same_incarnation(bed: Bed<Texts>) -> Scene {
    let incarnation = bed.store.incarnation().await?;
    equal(bed.store.incarnation().await?, incarnation)
}

async fn another_index_has_another_incarnation(bed: Bed<Texts>) -> Scene {
    let other = bed.another(|setting| setting.analysis = "test-2".to_owned()).await?;
    let (one, other) = (bed.store.incarnation().await?, other.store.incarnation().await?);
    check!(one != other, "two indexes are told apart by nothing: {one:?}");
    Ok(())
}

async fn what_is_put_and_erased_changes_no_incarnation(bed: Bed<Texts>) -> Scene {
    let (ada, incarnation) = (bed.scope("ada")?, bed.store.incarnation().await?);
    put(&bed.store, &ada, &[entry(message(1), &["river"])?]).await?;
    bed.store.erase(&ada, memory_core::Epoch(1)).await?;
    bed.store.flush().await?;
    equal(bed.store.incarnation().await?, incarnation)?;
    equal(bed.store.erase(&ada, memory_core::Epoch(2)).await?.removed, 0)
}

async fn all_who_open_an_index_at_once_are_told_the_same_incarnation(bed: Bed<Texts>) -> Scene {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    together((0..8).map(|_| {
        let (open, told) = (bed.open.clone(), told.clone());
        async move {
            let incarnation = open().await?.incarnation().await?;
            told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(incarnation);
            Ok(())
        }
    }))
    .await?;
    let told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    equal(told, vec![bed.store.incarnation().await?; 8])
}

async fn a_restart_keeps_the_incarnation(bed: Bed<Texts>) -> Scene {
    let incarnation = bed.store.incarnation().await?;
    let bed = bed.restart().await?;
    equal(bed.store.incarnation().await?, incarnation)
}
